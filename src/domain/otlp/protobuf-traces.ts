// Spans of ExportTraceServiceRequest in protobuf. Fields: opentelemetry/proto/trace/v1/trace.proto.
import { WireReader } from "../codec/wire-reader.ts";
import { addLoss, retainedAttributes } from "../series/retained-attributes.ts";
import type { OtlpSource, OtlpSpan, SpanItem } from "./otlp-items.ts";
import { type AttributeMap, readAttribute } from "./protobuf-attributes.ts";
import { itemsOf, readPlaced } from "./protobuf-request.ts";

/** The spans of a body that the kernel takes, with undefined as itemsOf() has it. */
export function* spansOfProtobuf(bytes: Buffer, prefixes = false): Generator<SpanItem | undefined> {
  const reader = new WireReader(bytes);
  for (const placed of itemsOf(bytes, prefixes)) yield placed && spanItem(reader, placed.from, placed.to, placed.source);
}

/** One span, which lies between two places of the reader's bytes; `source` is undefined where its resource cannot be read. */
export function spanItem(reader: WireReader, from: number, to: number, source: OtlpSource | undefined): SpanItem {
  const span = readPlaced(reader, { source, from, to }, "a span", readSpan);
  return typeof span === "string" ? { type: "damaged", item: { message: span } } : { type: "span", span };
}

function readSpan(reader: WireReader, to: number, source: OtlpSource): OtlpSpan {
  const own: AttributeMap = {};
  let dropped = 0;
  let [traceId, spanId, parentSpanId, name] = ["", "", "", ""];
  let [kind, startMs, endMs, statusCode] = [0, 0, 0, 0];
  while (reader.next(to)) {
    switch (reader.field) {
      case 1:
        traceId = reader.hex();
        break;
      case 2:
        spanId = reader.hex();
        break;
      case 4:
        parentSpanId = reader.hex();
        break;
      case 5:
        name = reader.name();
        break;
      case 6:
        kind = reader.unsigned();
        break;
      case 7:
        startMs = reader.fractionalMilliseconds();
        break;
      case 8:
        endMs = reader.fractionalMilliseconds();
        break;
      case 9:
        readAttribute(reader, own);
        break;
      case 10:
        dropped = reader.unsigned();
        break;
      case 15:
        statusCode = readStatusCode(reader);
        break;
    }
  }
  const { serviceId, environment, resourceAttributes, resourceRefusal } = source;
  const { attributes, loss } = retainedAttributes(own, dropped);
  return {
    serviceId,
    environment,
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    startMs,
    endMs,
    statusCode,
    attributes,
    resourceAttributes,
    resourceRefusal,
    loss: addLoss(source.loss, loss),
  };
}

/** Status {2: message, 3: code}. */
function readStatusCode(reader: WireReader): number {
  const end = reader.to;
  let code = 0;
  if (!reader.enter()) return code;
  while (reader.next(end)) if (reader.field === 3) code = reader.unsigned();
  return code;
}
