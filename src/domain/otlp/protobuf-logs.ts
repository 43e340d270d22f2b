// Log records of ExportLogsServiceRequest in protobuf. Fields: opentelemetry/proto/logs/v1/logs.proto.
import type { AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import { WireReader } from "../codec/wire-reader.ts";
import { addLoss, retainedAttributes } from "../series/retained-attributes.ts";
import { bodyText } from "./json-logs.ts";
import type { LogItem, OtlpLog, OtlpSource } from "./otlp-items.ts";
import { spanIdOf, traceIdOf } from "./otlp-limits.ts";
import { type AttributeMap, readAnyValue, readAttribute } from "./protobuf-attributes.ts";
import { itemsOf, readPlaced } from "./protobuf-request.ts";

/** The log records of a body that the kernel takes, with undefined as itemsOf() has it. */
export function* logsOfProtobuf(bytes: Buffer, prefixes = false): Generator<LogItem | undefined> {
  const reader = new WireReader(bytes);
  for (const placed of itemsOf(bytes, prefixes)) {
    if (placed === undefined) {
      yield undefined;
      continue;
    }
    const log = readPlaced(reader, placed, "a log record", readLog);
    yield typeof log === "string" ? { type: "damaged", item: { message: log } } : { type: "log", log };
  }
}

function readLog(reader: WireReader, to: number, source: OtlpSource): OtlpLog {
  const own: AttributeMap = {};
  let [severityText, traceId, spanId, eventName] = ["", "", "", ""];
  let dropped = 0;
  let [ownMs, ownNanoseconds, observedMs, observedNanoseconds, severityNumber] = [0, 0, 0, 0, 0];
  let body: AttributeValue = null;
  while (reader.next(to)) {
    switch (reader.field) {
      case 1:
        ownMs = reader.milliseconds();
        ownNanoseconds = reader.nanosecondsBehind();
        break;
      case 2:
        severityNumber = reader.unsigned();
        break;
      case 3:
        severityText = reader.text();
        break;
      case 5:
        body = readAnyValue(reader);
        break;
      case 6:
        readAttribute(reader, own);
        break;
      case 7:
        dropped = reader.unsigned();
        break;
      case 9:
        traceId = reader.hex();
        break;
      case 10:
        spanId = reader.hex();
        break;
      case 12:
        eventName = reader.text();
        break;
      case 11:
        observedMs = reader.milliseconds();
        observedNanoseconds = reader.nanosecondsBehind();
        break;
    }
  }
  const { serviceId, environment, resourceAttributes, resourceRefusal } = source;
  const { attributes, loss } = retainedAttributes(own, dropped);
  return {
    serviceId,
    environment,
    timeMs: ownMs === 0 ? observedMs : ownMs,
    nanoseconds: ownMs === 0 ? observedNanoseconds : ownNanoseconds,
    severityNumber,
    severityText,
    body: bodyText(body),
    attributes,
    resourceAttributes,
    resourceRefusal,
    loss: addLoss(source.loss, loss),
    traceId: traceIdOf(traceId),
    spanId: spanIdOf(spanId),
    eventName,
  };
}
