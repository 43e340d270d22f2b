// Label references of a remote-write 2.0 series, as bytes of its body: for what is shown to people of samples that were refused.
import { readNumbers, strictText, WIRE_BYTES, WIRE_VARINT, WireReader } from "../codec/wire-reader.ts";

const FIELD_REFS = 1;

/**
 * Labels that the references in a span of fields name, in the order they were sent; other fields are passed over. Undefined when the references are odd in
 * number or a text is not UTF-8. `symbol` gives the bytes of a symbol that is there.
 */
export function resolveLabelRefs(
  span: Uint8Array,
  symbol: (number: number) => Uint8Array,
): Array<[name: string, value: string]> | undefined {
  const reader = new WireReader(span);
  const refs: number[] = [];
  while (reader.next(span.length)) {
    if (reader.field !== FIELD_REFS || (reader.wire !== WIRE_VARINT && reader.wire !== WIRE_BYTES)) continue;
    readNumbers(reader, WIRE_VARINT, span.length, refs, () => reader.low);
  }
  if (reader.failed || refs.length % 2 !== 0) return undefined;
  const labels: Array<[string, string]> = [];
  for (let i = 0; i < refs.length; i += 2) {
    const name = strictText(symbol(refs[i] as number));
    const value = strictText(symbol(refs[i + 1] as number));
    if (name === undefined || value === undefined) return undefined;
    labels.push([name, value]);
  }
  return labels;
}
