// An anomaly as a stored value:
//
//   version u8 = 3, flags u8 (FLAG_*), id 16 bytes, {episode id 16 bytes: the founder's}, started, detected, observed, {resolved} and z f64, streams and open
//   streams varint, tenant, environment, service and metric text, detector word, {resolved by word}, explanation text, attributes as JSON text, verdict
//   (domain/incident/verdict-codec.ts), {JSON text of [paging, feedback]}, {paging: tier u8, {alert id}, outcome u8, {suppressed by word}, decided f64,
//   serial varint}
//
// 0.5 KB for a series with a few labels. The explanation mostly follows from the verdict, but saying it again costs more than reading it. In version 2 paging stood with the feedback; it is read. So is version 1, its fields as
// JSON in a fixed order without such explanations; it was compressed with the table's dictionary.
import { ByteReader } from "../../../domain/codec/byte-reader.ts";
import { ByteSink } from "../../../domain/codec/byte-sink.ts";
import type { Anomaly, AnomalyPaging } from "../../../domain/incident/anomaly.ts";
import {
  readOptionalWord,
  readVerdict,
  readWord,
  sentenceOf,
  writeOptionalWord,
  writeVerdict,
  writeWord,
} from "../../../domain/incident/verdict-codec.ts";
import { readOptionalId, readOutcome, readTier, TEXT_BYTES_MAX, writeOptionalId, writeOutcome, writeTier } from "./row-fields.ts";
import { decodeStored } from "./stored-json.ts";
import { ID_BYTES } from "./tables.ts";

const VERSION = 3;
const VERSION_BEFORE = 2;
const FLAG_HIGH = 1;
const FLAG_RESOLVED = 2;
const FLAG_RESOLVED_BY = 4;
const FLAG_FOUNDER = 8;
const FLAG_FOUNDER_OPEN = 16;
/** Feedback; and in the version before, paging. */
const FLAG_NOTES = 32;
const FLAG_PAGING = 64;
const DAMAGE = "a stored anomaly is damaged";

/** Part of the format of version 1. */
const FIELDS = [
  "id",
  "tenant",
  "environment",
  "serviceId",
  "metricName",
  "direction",
  "detector",
  "startedAtMs",
  "detectedAtMs",
  "observedAtMs",
  "resolvedAtMs",
  "resolvedBy",
  "z",
  "streams",
  "openStreams",
  "explanation",
  "attributes",
  "verdict",
  "paging",
  "feedback",
] as const satisfies ReadonlyArray<keyof Anomaly>;

const NO_NOTES = [null, null];

const sink = new ByteSink(4096);

/** Encodes an anomaly; `decodeAnomaly` gives it back equal. */
export function encodeAnomaly(anomaly: Anomaly): Uint8Array {
  const { founder, resolvedAtMs, resolvedBy, paging, feedback } = anomaly;
  sink.at = 0;
  sink.u8(VERSION);
  sink.u8(
    (anomaly.direction === "high" ? FLAG_HIGH : 0) |
      (resolvedAtMs === null ? 0 : FLAG_RESOLVED) |
      (resolvedBy === null ? 0 : FLAG_RESOLVED_BY) |
      (founder === null ? 0 : FLAG_FOUNDER) |
      (founder?.open === true ? FLAG_FOUNDER_OPEN : 0) |
      (feedback === null ? 0 : FLAG_NOTES) |
      (paging === null ? 0 : FLAG_PAGING),
  );
  sink.hex(anomaly.id);
  if (founder !== null) sink.hex(founder.episodeId);
  sink.double(anomaly.startedAtMs);
  sink.double(anomaly.detectedAtMs);
  sink.double(anomaly.observedAtMs);
  if (resolvedAtMs !== null) sink.double(resolvedAtMs);
  sink.double(anomaly.z);
  sink.varint(anomaly.streams);
  sink.varint(anomaly.openStreams);
  sink.text(anomaly.tenant);
  sink.text(anomaly.environment);
  sink.text(anomaly.serviceId);
  sink.text(anomaly.metricName);
  writeWord(sink, anomaly.detector);
  if (resolvedBy !== null) writeWord(sink, resolvedBy);
  sink.text(anomaly.explanation);
  sink.text(JSON.stringify(anomaly.attributes));
  writeVerdict(sink, anomaly.verdict);
  if (feedback !== null) sink.text(JSON.stringify([null, feedback]));
  if (paging !== null) writePaging(paging);
  return sink.bytes.slice(0, sink.at);
}

/** Throws on another version. */
export function decodeAnomaly(bytes: Uint8Array): Anomaly {
  if (bytes[0] !== VERSION && bytes[0] !== VERSION_BEFORE) return decodeFirstVersion(bytes);
  const reader = new ByteReader(bytes, DAMAGE, 1);
  const flags = reader.u8();
  const has = (flag: number) => (flags & flag) !== 0;
  const id = reader.hex(ID_BYTES);
  const founder = has(FLAG_FOUNDER) ? { episodeId: reader.hex(ID_BYTES), open: has(FLAG_FOUNDER_OPEN) } : null;
  const startedAtMs = reader.double();
  const detectedAtMs = reader.double();
  const observedAtMs = reader.double();
  const resolvedAtMs = has(FLAG_RESOLVED) ? reader.double() : null;
  const z = reader.double();
  const streams = reader.varint();
  const openStreams = reader.varint();
  const tenant = reader.text(TEXT_BYTES_MAX);
  const environment = reader.text(TEXT_BYTES_MAX);
  const serviceId = reader.text(TEXT_BYTES_MAX);
  const metricName = reader.text(TEXT_BYTES_MAX);
  const detector = readWord(reader);
  const resolvedBy = has(FLAG_RESOLVED_BY) ? readWord(reader) : null;
  const explanation = reader.text(TEXT_BYTES_MAX);
  const attributes = JSON.parse(reader.text(TEXT_BYTES_MAX)) as Anomaly["attributes"];
  const verdict = readVerdict(reader);
  const [pagingBefore, feedback] = (has(FLAG_NOTES) ? JSON.parse(reader.text(TEXT_BYTES_MAX)) : NO_NOTES) as [
    Anomaly["paging"],
    Anomaly["feedback"],
  ];
  const paging = has(FLAG_PAGING) ? readPaging(reader) : pagingBefore;
  return {
    id,
    tenant,
    environment,
    serviceId,
    metricName,
    attributes,
    direction: has(FLAG_HIGH) ? "high" : "low",
    detector,
    startedAtMs,
    detectedAtMs,
    observedAtMs,
    resolvedAtMs,
    resolvedBy,
    z,
    verdict,
    explanation,
    streams,
    openStreams,
    founder,
    paging,
    feedback,
  };
}

function writePaging({ tier, alertId, outcome, suppressedBy, decidedAtMs, serial }: AnomalyPaging): void {
  writeTier(sink, tier);
  writeOptionalId(sink, alertId);
  writeOutcome(sink, outcome);
  writeOptionalWord(sink, suppressedBy);
  sink.double(decidedAtMs);
  sink.varint(serial);
}

function readPaging(reader: ByteReader): AnomalyPaging {
  return {
    tier: readTier(reader),
    alertId: readOptionalId(reader),
    outcome: readOutcome(reader),
    suppressedBy: readOptionalWord(reader),
    decidedAtMs: reader.double(),
    serial: reader.varint(),
  };
}

function decodeFirstVersion(bytes: Uint8Array): Anomaly {
  const values = decodeStored<unknown[]>(bytes);
  const fields = Object.fromEntries(FIELDS.map((field, i) => [field, values[i] ?? null]));
  const anomaly = { ...fields, founder: null } as unknown as Anomaly;
  return anomaly.explanation === null ? { ...anomaly, explanation: sentenceOf(anomaly) as string } : anomaly;
}
