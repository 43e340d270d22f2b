// Metadata messages of a remote-write 1.0 body (schemas/prometheus/metric-metadata.proto): found by a walk over the body.
import { WIRE_BYTES, WireReader } from "../codec/wire-reader.ts";
import { METRIC_TYPES, type MetricType } from "../series/metric-metadata.ts";

/** WriteRequest.metadata. */
const FIELD_METADATA = 3;
/** MetricMetadata. */
const FIELD_TYPE = 1;
const FIELD_NAME = 2;
const FIELD_HELP = 4;
const FIELD_UNIT = 5;

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

/** The messages of a body that the kernel has checked; those without a name or malformed are passed over. A name that is not UTF-8 shows as none that may be taken, other texts with U+FFFD. `body` must not be shared memory. */
export function* metadataMessages(body: Uint8Array): Generator<MetadataMessage> {
  const reader = new WireReader(body);
  while (reader.next(body.length)) {
    if (reader.field !== FIELD_METADATA || reader.wire !== WIRE_BYTES) continue;
    const message = readMessage(reader.content());
    if (message !== undefined) yield message;
  }
}

function readMessage(content: Uint8Array): MetadataMessage | undefined {
  const reader = new WireReader(content);
  let [type, metricName, help, unit] = [0, "", "", ""];
  while (reader.next(content.length)) {
    if (reader.field === FIELD_TYPE) type = reader.unsigned();
    else if (reader.field === FIELD_NAME) metricName = reader.name();
    else if (reader.field === FIELD_HELP) help = reader.text();
    else if (reader.field === FIELD_UNIT) unit = reader.text();
  }
  return reader.failed || metricName === "" ? undefined : { metricName, type: metricTypeOf(type), unit, help };
}
