// Rows of alerts as earlier versions have packed them; none is written any more:
//
//   version u8 = 3, id, tenant, environment, service and family text, created, last fire f64, fires varint, tier u8, {resolved}, reopenings and {paged} f64,
//   labels as pairs of texts, peak (anomaly id, service and metric text, detector word, z f64, explanation text), members (anomaly id, metric text, {service
//   text where it is not the alert's}), anomalies, open and pages varint, services as texts, {held by word}, {acknowledged: by text, {note}, at f64},
//   {assignee}, updated f64, history (at f64, kind and tier u8, {by}, {note}), {merged into}
//
// A row of version 2 ends before the last. Lists begin with their length.
import type { Labels } from "../../../domain/alerting/label-matcher.ts";
import type { Acknowledgement, Alert, AlertChange, AlertMember, AlertPeak } from "../../../domain/alerting/paging/alert.ts";
import type { Ending } from "../../../domain/anomaly/ending.ts";
import { readOptionalWord, readWord, TEXT_BYTES_MAX } from "../../../domain/anomaly/verdict-codec.ts";
import { ByteReader } from "../../../domain/codec/byte-reader.ts";
import { readId, readList, readOptionalNumber, readOptionalText, readTier } from "../../state/row-fields.ts";

export const VERSION_PACKED = 3;
export const VERSION_UNMERGED = 2;
/** Part of the format. */
const KINDS: ReadonlyArray<AlertChange["kind"]> = [
  "opened",
  "raised",
  "reopened",
  "paged",
  "acknowledged",
  "assigned",
  "resolved",
  "updated",
];

/** Reads a row of version 2 or 3. Throws Error with `damage`. */
export function decodePackedAlert(bytes: Uint8Array, damage: string): Alert {
  const reader = new ByteReader(bytes, damage, 1);
  const state = readState(reader);
  const labels: Labels = Object.fromEntries(readList(reader, () => [reader.text(TEXT_BYTES_MAX), reader.text(TEXT_BYTES_MAX)]));
  const peak = readPeak(reader);
  const members = readList(reader, () => readMember(reader, state.key.serviceId));
  const [anomalies, open, pages] = [reader.varint(), reader.varint(), reader.varint()];
  const packed = {
    state,
    labels,
    peak,
    members,
    anomalies,
    open,
    pages,
    services: readList(reader, () => reader.text(TEXT_BYTES_MAX)),
    heldBy: readOptionalWord(reader),
    acknowledged: readAcknowledgement(reader),
    assignee: readOptionalText(reader),
    snooze: null,
    updatedAtMs: reader.double(),
    history: readList(reader, () => readChange(reader)),
    mergedInto: bytes[0] === VERSION_UNMERGED ? null : readOptionalText(reader),
  };
  return { ...packed, ending: endingOfHistory(packed) };
}

/** How it ended is told by its history alone. */
function endingOfHistory({ state, mergedInto, history }: Pick<Alert, "state" | "mergedInto" | "history">): Ending | null {
  if (state.resolvedAtMs === null) return null;
  if (mergedInto !== null) return { reason: "cascade", person: null };
  const person = history.findLast(({ kind }) => kind === "resolved")?.by ?? null;
  return { reason: person === null ? "recovered" : "person", person };
}

function readState(reader: ByteReader): Alert["state"] {
  const id = readId(reader);
  const [tenant, environment] = [reader.text(TEXT_BYTES_MAX), reader.text(TEXT_BYTES_MAX)];
  const [serviceId, family] = [reader.text(TEXT_BYTES_MAX), reader.text(TEXT_BYTES_MAX)];
  return {
    id,
    key: { tenant, environment, serviceId, family },
    createdAtMs: reader.double(),
    lastFireMs: reader.double(),
    fires: reader.varint(),
    tier: readTier(reader),
    resolvedAtMs: readOptionalNumber(reader),
    flap: { reopenedMs: readList(reader, () => reader.double()), pagedMs: readOptionalNumber(reader) },
  };
}

function readPeak(reader: ByteReader): AlertPeak {
  return {
    anomalyId: readId(reader),
    serviceId: reader.text(TEXT_BYTES_MAX),
    metricName: reader.text(TEXT_BYTES_MAX),
    detector: readWord(reader),
    z: reader.double(),
    explanation: reader.text(TEXT_BYTES_MAX),
  };
}

function readMember(reader: ByteReader, ownService: string): AlertMember {
  const anomalyId = readId(reader);
  const metricName = reader.text(TEXT_BYTES_MAX);
  return { anomalyId, serviceId: readOptionalText(reader) ?? ownService, metricName };
}

function readAcknowledgement(reader: ByteReader): Acknowledgement | null {
  if (reader.u8() === 0) return null;
  return { by: reader.text(TEXT_BYTES_MAX), note: readOptionalText(reader), atMs: reader.double() };
}

function readChange(reader: ByteReader): AlertChange {
  const atMs = reader.double();
  const kind = KINDS[reader.u8()] ?? reader.fail();
  return { atMs, kind, tier: readTier(reader), by: readOptionalText(reader), note: readOptionalText(reader) };
}
