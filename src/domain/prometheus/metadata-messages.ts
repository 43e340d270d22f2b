// Metadata messages of a remote-write 1.0 body: WriteRequest {3: MetricMetadata}, MetricMetadata {1: type, 2: family name, 4: help, 5: unit}.
import { ProtobufReader, WIRE_BYTES, WIRE_VARINT } from "../codec/protobuf-reader.ts";
import { METRIC_TYPES, type MetricType } from "../series/metric-metadata.ts";

const FIELD_METADATA = 3;
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** One message. */
export interface MetadataMessage {
  readonly metricName: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly help: string;
}

/** The type that remote-write gives a number; unknown for numbers that it does not define. */
export function metricTypeOf(number: number): MetricType {
  return METRIC_TYPES[number] ?? "unknown";
}

/** The messages of a body that the kernel has checked; those without a name, malformed or not UTF-8 are passed over. `body` must not be shared memory. */
export function* metadataMessages(body: Uint8Array): Generator<MetadataMessage> {
  const reader = new ProtobufReader(body);
  while (reader.next()) {
    const message = reader.field === FIELD_METADATA && reader.wireType === WIRE_BYTES ? messageOf(reader.content) : undefined;
    if (message !== undefined) yield message;
  }
}

function messageOf(content: Uint8Array): MetadataMessage | undefined {
  const reader = new ProtobufReader(content);
  const fields = { type: 0, metricName: "", help: "", unit: "" };
  try {
    while (reader.next()) {
      if (reader.field === 1 && reader.wireType === WIRE_VARINT) fields.type = reader.integer;
      if (reader.wireType !== WIRE_BYTES) continue;
      if (reader.field === 2) fields.metricName = text.decode(reader.content);
      if (reader.field === 4) fields.help = text.decode(reader.content);
      if (reader.field === 5) fields.unit = text.decode(reader.content);
    }
  } catch {
    return undefined;
  }
  if (reader.isMalformed || fields.metricName === "") return undefined;
  return { ...fields, type: metricTypeOf(fields.type) };
}
