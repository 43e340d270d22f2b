// Metadata messages of a remote-write 1.0 body: WriteRequest {3: MetricMetadata}, MetricMetadata {1: type, 2: family name, 4: help, 5: unit}.
import { WIRE_BYTES, WIRE_VARINT, WireReader } from "../codec/wire-reader.ts";
import { METRIC_TYPES, type MetricType } from "../series/metric-metadata.ts";

const FIELD_METADATA = 3;
type TextField = "metricName" | "help" | "unit";
const TEXTS: Readonly<Record<number, TextField>> = { 2: "metricName", 4: "help", 5: "unit" };

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
  const reader = new WireReader(body);
  while (reader.next(body.length)) {
    if (reader.field !== FIELD_METADATA || reader.wire !== WIRE_BYTES) continue;
    const end = reader.to;
    const message = readMessage(reader);
    reader.at = end;
    reader.failed = false;
    if (message !== undefined) yield message;
  }
}

function readMessage(reader: WireReader): MetadataMessage | undefined {
  const end = reader.to;
  let type = 0;
  const texts: Record<TextField, string> = { metricName: "", help: "", unit: "" };
  reader.enter();
  while (reader.next(end)) {
    if (reader.field === 1 && reader.wire === WIRE_VARINT) type = reader.signed();
    const name = TEXTS[reader.field];
    if (name === undefined || reader.wire !== WIRE_BYTES) continue;
    const text = reader.strictText();
    if (text === undefined) return undefined;
    texts[name] = text;
  }
  return reader.failed || texts.metricName === "" ? undefined : { ...texts, type: metricTypeOf(type) };
}
