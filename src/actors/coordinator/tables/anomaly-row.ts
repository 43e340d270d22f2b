// An anomaly as a stored value:
//
//   version u8 = 2, flags u8 (FLAG_*), id 16 bytes, {episode id 16 bytes: the founder's}, started, detected, observed, {resolved} and z f64, streams and open
//   streams varint, tenant, environment, service and metric text, detector word, {resolved by word}, explanation text, attributes as JSON text, verdict
//   (domain/incident/verdict-codec.ts), {JSON text of [paging, feedback]}
//
// 0.5 KB for a series with a few labels. The explanation mostly follows from the verdict, but saying it again costs more than reading it. Version 1, its fields as
// JSON in a fixed order without such explanations, is read; it was compressed with the table's dictionary.
import { ByteReader } from "../../../domain/codec/byte-reader.ts";
import { ByteSink } from "../../../domain/codec/byte-sink.ts";
import type { Anomaly } from "../../../domain/incident/anomaly.ts";
import { readVerdict, readWord, sentenceOf, writeVerdict, writeWord } from "../../../domain/incident/verdict-codec.ts";
import { decodeStored } from "./stored-json.ts";
import { ID_BYTES } from "./tables.ts";

const VERSION = 2;
const FLAG_HIGH = 1;
const FLAG_RESOLVED = 2;
const FLAG_RESOLVED_BY = 4;
const FLAG_FOUNDER = 8;
const FLAG_FOUNDER_OPEN = 16;
const FLAG_NOTES = 32;
const TEXT_BYTES_MAX = 2 ** 24;
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
  const { founder, resolvedAtMs, resolvedBy } = anomaly;
  const hasNotes = anomaly.paging !== null || anomaly.feedback !== null;
  sink.at = 0;
  sink.u8(VERSION);
  sink.u8(
    (anomaly.direction === "high" ? FLAG_HIGH : 0) |
      (resolvedAtMs === null ? 0 : FLAG_RESOLVED) |
      (resolvedBy === null ? 0 : FLAG_RESOLVED_BY) |
      (founder === null ? 0 : FLAG_FOUNDER) |
      (founder?.open === true ? FLAG_FOUNDER_OPEN : 0) |
      (hasNotes ? FLAG_NOTES : 0),
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
  if (hasNotes) sink.text(JSON.stringify([anomaly.paging, anomaly.feedback]));
  return sink.bytes.slice(0, sink.at);
}

/** Throws on another version. */
export function decodeAnomaly(bytes: Uint8Array): Anomaly {
  if (bytes[0] !== VERSION) return decodeFirstVersion(bytes);
  const reader = new ByteReader(bytes, DAMAGE, 1);
  const flags = reader.u8();
  const has = (flag: number) => (flags & flag) !== 0;
  const id = reader.hex(ID_BYTES);
  const founder = has(FLAG_FOUNDER) ? { episodeId: reader.hex(ID_BYTES), open: has(FLAG_FOUNDER_OPEN) } : null;
  const [startedAtMs, detectedAtMs, observedAtMs] = [reader.double(), reader.double(), reader.double()];
  const resolvedAtMs = has(FLAG_RESOLVED) ? reader.double() : null;
  const z = reader.double();
  const [streams, openStreams] = [reader.varint(), reader.varint()];
  const tenant = reader.text(TEXT_BYTES_MAX);
  const environment = reader.text(TEXT_BYTES_MAX);
  const serviceId = reader.text(TEXT_BYTES_MAX);
  const metricName = reader.text(TEXT_BYTES_MAX);
  const detector = readWord(reader);
  const resolvedBy = has(FLAG_RESOLVED_BY) ? readWord(reader) : null;
  const explanation = reader.text(TEXT_BYTES_MAX);
  const attributes = JSON.parse(reader.text(TEXT_BYTES_MAX)) as Anomaly["attributes"];
  const verdict = readVerdict(reader);
  const [paging, feedback] = (has(FLAG_NOTES) ? JSON.parse(reader.text(TEXT_BYTES_MAX)) : NO_NOTES) as [
    Anomaly["paging"],
    Anomaly["feedback"],
  ];
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

function decodeFirstVersion(bytes: Uint8Array): Anomaly {
  const values = decodeStored<unknown[]>(bytes);
  const fields = Object.fromEntries(FIELDS.map((field, i) => [field, values[i] ?? null]));
  const anomaly = { ...fields, founder: null } as unknown as Anomaly;
  return anomaly.explanation === null ? { ...anomaly, explanation: sentenceOf(anomaly) as string } : anomaly;
}
