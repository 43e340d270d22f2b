// Label references of a remote-write 2.0 series, as bytes of its body: for what is shown to people of samples that were refused.
import { ProtobufReader, WIRE_BYTES, WIRE_VARINT } from "../codec/protobuf-reader.ts";

const FIELD_REFS = 1;
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Labels that the references in a span of fields name, in the order they were sent; other fields are passed over. Undefined when the references are odd in
 * number or a text is not UTF-8. `symbol` gives the bytes of a symbol that is there.
 */
export function resolveLabelRefs(
  span: Uint8Array,
  symbol: (number: number) => Uint8Array,
): Array<[name: string, value: string]> | undefined {
  const reader = new ProtobufReader(new Uint8Array(span));
  const refs: number[] = [];
  while (reader.next()) {
    if (reader.field !== FIELD_REFS) continue;
    if (reader.wireType === WIRE_VARINT) refs.push(reader.integer >>> 0);
    else if (reader.wireType === WIRE_BYTES) refs.push(...reader.packedIntegers().map((ref) => ref >>> 0));
  }
  if (reader.isMalformed || refs.length % 2 !== 0) return undefined;
  try {
    return Array.from({ length: refs.length / 2 }, (_, i) => [
      text.decode(symbol(refs[2 * i] as number)),
      text.decode(symbol(refs[2 * i + 1] as number)),
    ]);
  } catch {
    return undefined;
  }
}
