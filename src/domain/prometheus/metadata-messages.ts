// Metadata messages of a remote-write 1.0 body (schemas/prometheus/metric-metadata.proto): found by a walk over the body, read by protobufjs.
import { WIRE_BYTES, WireReader } from "../codec/wire-reader.ts";
import { METRIC_TYPES, type MetricType } from "../series/metric-metadata.ts";
import { prometheus } from "./generated/metric-messages.ts";

/** WriteRequest.metadata. */
const FIELD_METADATA = 3;
const METRIC_METADATA: { decode(bytes: Uint8Array): { type: number; metricFamilyName: string; help: string; unit: string } } =
  prometheus.MetricMetadata;

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
    const message = readMessage(reader.content());
    if (message !== undefined) yield message;
  }
}

function readMessage(content: Uint8Array): MetadataMessage | undefined {
  try {
    const { type, metricFamilyName: metricName, help, unit } = METRIC_METADATA.decode(content);
    return metricName === "" ? undefined : { metricName, type: metricTypeOf(type), unit, help };
  } catch {
    return undefined; // malformed, or a text that is not UTF-8
  }
}
