// Rows of anomalies as earlier versions wrote them, read only. Version 3:
//
//   version u8 = 3, flags u8 (FLAG_*), id 16 bytes, {episode id 16 bytes: the founder's}, started, detected, observed, {resolved} and z f64, streams and open
//   streams varint, tenant, environment, service and metric text, detector word, {resolved by word}, explanation text, attributes as JSON text, verdict
//   (domain/incident/verdict-codec.ts), {JSON text of [paging, feedback]}, {paging: tier u8, {alert id}, outcome u8, {suppressed by word}, decided f64,
//   serial varint}
//
// In version 2 paging stood with the feedback. Version 1 has its fields as JSON in a fixed order, mostly without their explanation, and was compressed with the
// table's dictionary.
import { ByteReader } from "../../../domain/codec/byte-reader.ts";
import type { Anomaly, AnomalyPaging } from "../../../domain/incident/anomaly.ts";
import { readOptionalWord, readVerdict, readWord, sentenceOf } from "../../../domain/incident/verdict-codec.ts";
import { readOptionalId, readOutcome, readTier, TEXT_BYTES_MAX } from "../state/row-fields.ts";
import { decodeStored } from "../state/stored-json.ts";
import { ID_BYTES } from "../state/tables.ts";

const VERSIONS: readonly unknown[] = [2, 3];
const FLAG_HIGH = 1;
const FLAG_RESOLVED = 2;
const FLAG_RESOLVED_BY = 4;
const FLAG_FOUNDER = 8;
const FLAG_FOUNDER_OPEN = 16;
/** Feedback; in version 2 also paging. */
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

/** Throws on another version. */
export function decodeAnomalyBefore(bytes: Uint8Array): Anomaly {
  if (!VERSIONS.includes(bytes[0])) return decodeFirstVersion(bytes);
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
