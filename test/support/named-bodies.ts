// Bodies of every way in that hold a text where a name stands, and a good neighbour beside it.
import { compressSync } from "snappy";
import { BODY_IMPORT_JSON, BODY_JSON_BATCH, BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2 } from "../../src/core/protocol/body-kind.ts";
import { OTLP_SIGNALS, type OtlpSignal, otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { encodeRequest } from "./otlp-schema.ts";
import { encodeBody2 } from "./remote-write-2-body.ts";
import { bytesField, encodeBody, varintField } from "./remote-write-body.ts";

/** Where a text may stand; `value` is no name. */
export const NAME_PLACES = ["service", "metric", "environment", "attribute", "operation", "trace", "unit", "value"] as const;
export type NamePlace = (typeof NAME_PLACES)[number];

/** A body for an engine. */
export interface NamedBody {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

type Names = Readonly<Record<NamePlace, string>>;

const USUAL: Names = {
  service: "shop",
  metric: "depth",
  environment: "prod",
  attribute: "zone",
  operation: "GET /",
  trace: "0af7651916cd43dd8448eb211c80319c",
  unit: "By",
  value: "a",
};
/** The service of the neighbour. */
export const NEIGHBOUR = "neighbour";

function record(type: string, names: Names, nowMs: number): object {
  const { service, metric, trace, attribute, value, environment } = names;
  const content = type === "log" || type === "event" ? { body: value } : { metric_name: metric, value: 1 };
  const timestamp = new Date(nowMs).toISOString();
  return { service_id: service, type, ...content, timestamp, trace_id: trace, attributes: { [attribute]: value, environment } };
}

function json(type: string): (names: Names, neighbour: Names, nowMs: number) => NamedBody {
  return (names, neighbour, nowMs) => {
    const bytes = Buffer.from(JSON.stringify([record(type, names, nowMs), record(type, neighbour, nowMs)]));
    return { kind: BODY_JSON_BATCH, bytes };
  };
}

function resourceOf({ service, environment, attribute, value }: Names, isPoint: boolean): object {
  const entries: Array<[string, string]> = [
    ["service.name", service],
    ["deployment.environment.name", environment],
  ];
  if (!isPoint) entries.push([attribute, value]);
  return { attributes: entries.map(([key, stringValue]) => ({ key, value: { stringValue } })) };
}

function otlpItem(signal: OtlpSignal, isHistogram: boolean, isJson: boolean, names: Names, nowMs: number): object {
  const time = `${nowMs}000000`;
  const attributes = [{ key: names.attribute, value: { stringValue: names.value } }];
  const id = (hex: string) => (isJson ? hex : Buffer.from(hex, "hex"));
  const ids = { traceId: id(USUAL.trace), spanId: id("b7ad6b7169203331") };
  if (signal === "logs") return { timeUnixNano: time, severityNumber: 17, body: { stringValue: names.value }, attributes };
  if (signal === "traces") return { ...ids, name: names.operation, kind: 2, startTimeUnixNano: time, endTimeUnixNano: time, attributes };
  const { metric: name, unit } = names;
  if (!isHistogram) return { name, unit, gauge: { dataPoints: [{ timeUnixNano: time, asDouble: 1, attributes }] } };
  const point = { timeUnixNano: time, count: "2", sum: 3, bucketCounts: ["1", "1"], explicitBounds: [1], attributes };
  return { name, unit, histogram: { aggregationTemporality: 1, dataPoints: [point] } };
}

function otlp(signal: OtlpSignal, encoding: "json" | "protobuf", isHistogram = false) {
  const levels = {
    metrics: ["resourceMetrics", "scopeMetrics", "metrics"],
    traces: ["resourceSpans", "scopeSpans", "spans"],
    logs: ["resourceLogs", "scopeLogs", "logRecords"],
  };
  const [resources, scopes, items] = levels[signal] as [string, string, string];
  return (names: Names, neighbour: Names, nowMs: number): NamedBody => {
    const part = (each: Names) => {
      const item = otlpItem(signal, isHistogram, encoding === "json", each, nowMs);
      return { resource: resourceOf(each, signal === "metrics"), [scopes]: [{ [items]: [item] }] };
    };
    const request = { [resources]: [part(names), part(neighbour)] };
    const bytes = encoding === "json" ? Buffer.from(JSON.stringify(request)) : encodeRequest(signal, request);
    return { kind: otlpBodyKind(signal, encoding), bytes };
  };
}

function labelsOf({ service, metric, environment, attribute, value }: Names): Array<[string, string]> {
  return [
    ["__name__", metric],
    ["env", environment],
    ["job", service],
    [attribute, value],
  ];
}

function remoteWrite(version: 1 | 2) {
  return (names: Names, neighbour: Names, nowMs: number): NamedBody => {
    const metadata = { type: 2, help: names.value, unit: names.unit };
    const series = [names, neighbour].map((each) => ({ labels: labelsOf(each), samples: [{ value: 1, time: nowMs }], metadata }));
    const content = version === 1 ? encodeBody(series) : encodeBody2(series);
    return { kind: version === 1 ? BODY_REMOTE_WRITE_1 : BODY_REMOTE_WRITE_2, bytes: compressSync(Buffer.from(content)) };
  };
}

/** Metadata of remote-write 1.0 alone, and a series beside them. */
function metadata(names: Names, neighbour: Names, nowMs: number): NamedBody {
  const text = (number: number, value: string) => bytesField(number, Buffer.from(value));
  const message = [...varintField(1, 2), ...text(2, names.metric), ...text(4, names.value), ...text(5, names.unit)];
  const series = encodeBody([{ labels: labelsOf(neighbour), samples: [{ value: 1, time: nowMs }] }]);
  return { kind: BODY_REMOTE_WRITE_1, bytes: compressSync(Buffer.from([...bytesField(3, message), ...series])) };
}

function history(names: Names, neighbour: Names, nowMs: number): NamedBody {
  const series = [names, neighbour].map(({ service: service_id, metric: metric_name, attribute, value, environment }) => ({
    service_id,
    metric_name,
    attributes: { [attribute]: value, environment },
    samples: [[nowMs - 60_000, 1]],
  }));
  return { kind: BODY_IMPORT_JSON, bytes: Buffer.from(JSON.stringify({ series })) };
}

const WAYS: Readonly<Record<string, (names: Names, neighbour: Names, nowMs: number) => NamedBody>> = {
  ...Object.fromEntries(["metric", "log", "trace", "event", "profile", "slo"].map((type) => [`json ${type}`, json(type)])),
  ...Object.fromEntries(
    OTLP_SIGNALS.flatMap((signal) =>
      (["json", "protobuf"] as const).map((encoding) => [`otlp ${signal} ${encoding}`, otlp(signal, encoding)]),
    ),
  ),
  "otlp histogram json": otlp("metrics", "json", true),
  "otlp histogram protobuf": otlp("metrics", "protobuf", true),
  "remote-write 1.0": remoteWrite(1),
  "remote-write 2.0": remoteWrite(2),
  "remote-write metadata": metadata,
  import: history,
};

export const WAYS_IN: readonly string[] = Object.keys(WAYS);

/** The body of a way in with `text` in one place. */
export function namedBody(way: string, place: NamePlace, text: string, nowMs: number): NamedBody {
  const make = WAYS[way] as (typeof WAYS)[string];
  return make({ ...USUAL, [place]: text }, { ...USUAL, service: NEIGHBOUR }, nowMs);
}
