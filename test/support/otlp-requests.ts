/** Requests of OTLP in either encoding, and what of an ingest's intake tests look at. */
import { FRAME_DEAD_LETTER, FRAME_RECORD } from "../../src/core/protocol/coordinator-frame.ts";
import type { OtlpEncoding, OtlpSignal } from "../../src/core/protocol/otlp-kind.ts";
import { OTLP_NOW_MS, type OtlpIntake } from "./otlp-rig.ts";
import { encodeRequest } from "./otlp-schema.ts";

export const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
export const ns = (ms: number) => `${ms}000000`;
export const NOW = ns(OTLP_NOW_MS);

/** A request in either encoding; ids are given in hex. */
export function bodyOf(signal: OtlpSignal, encoding: OtlpEncoding, request: object): Uint8Array {
  if (encoding === "json") return Buffer.from(JSON.stringify(request));
  const binary = JSON.parse(JSON.stringify(request), (name, value) => (/Id$/.test(name) ? Buffer.from(value, "hex") : value));
  return encodeRequest(signal, binary);
}

export const metricsOf = (metrics: readonly unknown[], attributes = [text("service.name", "shop")]) => ({
  resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ metrics }] }],
});
export const counter = (points: readonly object[]) => ({
  name: "orders",
  sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: points },
});
export const gauge = (points: readonly object[], name = "depth") => ({ name, gauge: { dataPoints: points } });
export const point = (fields: object = {}) => ({ attributes: [], timeUnixNano: NOW, asDouble: 1, ...fields });
export const spansOf = (spans: readonly object[]) => ({
  resourceSpans: [{ resource: { attributes: [text("service.name", "shop"), text("env", "prod")] }, scopeSpans: [{ spans }] }],
});
export const logsOf = (logRecords: readonly object[]) => ({
  resourceLogs: [{ resource: { attributes: [text("service.name", "shop")] }, scopeLogs: [{ logRecords }] }],
});
export const span = (fields: object = {}) => ({
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "GET /",
  kind: 2,
  startTimeUnixNano: ns(OTLP_NOW_MS - 20),
  endTimeUnixNano: NOW,
  ...fields,
});

export const records = (intake: OtlpIntake) => intake.frames.filter(({ frame }) => frame === FRAME_RECORD).map(({ envelope }) => envelope);
export const deadLetters = (intake: OtlpIntake) =>
  intake.frames.filter(({ frame }) => frame === FRAME_DEAD_LETTER).map(({ envelope }) => envelope);
export const rejected = (intake: OtlpIntake) => (intake.answer.body === null ? 0 : JSON.parse(intake.answer.body).rejected);
