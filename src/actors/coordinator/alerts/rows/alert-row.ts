// An alert as a stored value:
//
//   version u8 = 3, id, tenant, environment, service and family text, created, last fire f64, fires varint, tier u8, {resolved}, reopenings and {paged} f64,
//   labels as pairs of texts, peak (anomaly id, service and metric text, detector word, z f64, explanation text), members (anomaly id, metric text, {service
//   text where it is not the alert's}), anomalies, open and pages varint, services as texts, {held by word}, {acknowledged: by text, {note}, at f64},
//   {assignee}, updated f64, history (at f64, kind and tier u8, {by}, {note}), {merged into}
//
// A row of version 2 ends before the last.
//
// Lists begin with their length. An alert is stored again with each of its anomalies: packed it costs a fifth.

import { ownMember } from "../../../../core/base/own-member.ts";
import type { Labels } from "../../../../domain/alerting/label-matcher.ts";
import type { Acknowledgement, Alert, AlertChange, AlertMember, AlertPeak } from "../../../../domain/alerting/paging/alert.ts";
import { readOptionalWord, readWord, writeOptionalWord, writeWord } from "../../../../domain/anomaly/verdict-codec.ts";
import { ByteReader } from "../../../../domain/codec/byte-reader.ts";
import { ByteSink } from "../../../../domain/codec/byte-sink.ts";
import {
  readId,
  readList,
  readOptionalNumber,
  readOptionalText,
  readTier,
  TEXT_BYTES_MAX,
  writeId,
  writeOptionalNumber,
  writeOptionalText,
  writeTier,
} from "../../state/row-fields.ts";
import { checkRowVersion } from "../../state/stored-json.ts";

const VERSION = 3;
const VERSION_UNMERGED = 2;
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
const DAMAGE = "a stored alert is damaged";

const sink = new ByteSink(8192);

/** Members of an alert as they stand in its row. */
interface WrittenMembers {
  readonly members: readonly AlertMember[];
  readonly bytes: Uint8Array;
}

const NOTHING_WRITTEN: WrittenMembers = { members: [], bytes: new Uint8Array(0) };
/** Alerts that take in anomalies at a time; 3 KB each. */
const ALERT_MEMBERS_WRITTEN_MAX = 500;
/** By the id of their alert, the one that grew longest ago first. */
const written = new Map<string, WrittenMembers>();

/** Encodes an alert; `decodeAlert` gives it back equal. */
export function encodeAlert(alert: Alert): Uint8Array {
  sink.at = 0;
  sink.u8(VERSION);
  writeState(alert.state);
  writeLabels(alert.labels);
  writePeak(alert.peak);
  writeMembers(alert);
  sink.varint(alert.anomalies);
  sink.varint(alert.open);
  sink.varint(alert.pages);
  sink.varint(alert.services.length);
  for (const service of alert.services) sink.text(service);
  writeOptionalWord(sink, alert.heldBy);
  writeAcknowledgement(alert.acknowledged);
  writeOptionalText(sink, alert.assignee);
  sink.double(alert.updatedAtMs);
  writeHistory(alert.history);
  writeOptionalText(sink, alert.mergedInto);
  return sink.shortCopy();
}

/** Throws on another version. */
export function decodeAlert(bytes: Uint8Array): Alert {
  const isUnmerged = bytes[0] === VERSION_UNMERGED;
  checkRowVersion("alerts", bytes, isUnmerged ? VERSION_UNMERGED : VERSION);
  const reader = new ByteReader(bytes, DAMAGE, 1);
  const state = readState(reader);
  const labels: Labels = Object.fromEntries(readList(reader, () => [reader.text(TEXT_BYTES_MAX), reader.text(TEXT_BYTES_MAX)]));
  const peak = readPeak(reader);
  const members = readList(reader, () => readMember(reader, state.key.serviceId));
  const [anomalies, open, pages] = [reader.varint(), reader.varint(), reader.varint()];
  return {
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
    updatedAtMs: reader.double(),
    history: readList(reader, () => readChange(reader)),
    mergedInto: isUnmerged ? null : readOptionalText(reader),
  };
}

function writeState({ id, key, createdAtMs, lastFireMs, fires, tier, resolvedAtMs, flap }: Alert["state"]): void {
  writeId(sink, id);
  sink.text(key.tenant);
  sink.text(key.environment);
  sink.text(key.serviceId);
  sink.text(key.family);
  sink.double(createdAtMs);
  sink.double(lastFireMs);
  sink.varint(fires);
  writeTier(sink, tier);
  writeOptionalNumber(sink, resolvedAtMs);
  sink.varint(flap.reopenedMs.length);
  for (const atMs of flap.reopenedMs) sink.double(atMs);
  writeOptionalNumber(sink, flap.pagedMs);
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

function writeLabels(labels: Labels): void {
  const names = Object.keys(labels);
  sink.varint(names.length);
  for (const name of names) {
    sink.text(name);
    sink.text(ownMember(labels, name) as string);
  }
}

function writePeak({ anomalyId, serviceId, metricName, detector, z, explanation }: AlertPeak): void {
  writeId(sink, anomalyId);
  sink.text(serviceId);
  sink.text(metricName);
  writeWord(sink, detector);
  sink.double(z);
  sink.text(explanation);
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

/** Members only grow: those that were written before are copied. */
function writeMembers({ state, members }: Alert): void {
  const { id, key } = state;
  sink.varint(members.length);
  const from = sink.at;
  const known = written.get(id);
  const copied = known !== undefined && beginsWith(members, known.members) ? known : NOTHING_WRITTEN;
  sink.copy(copied.bytes);
  if (copied.members === members) return;
  for (let i = copied.members.length; i < members.length; i++) writeMember(members[i] as AlertMember, key.serviceId);
  written.delete(id);
  written.set(id, { members, bytes: sink.bytes.slice(from, sink.at) });
  if (written.size <= ALERT_MEMBERS_WRITTEN_MAX) return;
  for (const longestAgo of written.keys()) {
    written.delete(longestAgo);
    return;
  }
}

/** The same objects at both ends: a list of members is only ever made longer. */
function beginsWith(members: readonly AlertMember[], first: readonly AlertMember[]): boolean {
  const last = first.length - 1;
  return last < members.length && members[0] === first[0] && members[last] === first[last];
}

function writeMember({ anomalyId, serviceId, metricName }: AlertMember, ownService: string): void {
  writeId(sink, anomalyId);
  sink.text(metricName);
  writeOptionalText(sink, serviceId === ownService ? null : serviceId);
}

function readMember(reader: ByteReader, ownService: string): AlertMember {
  const anomalyId = readId(reader);
  const metricName = reader.text(TEXT_BYTES_MAX);
  return { anomalyId, serviceId: readOptionalText(reader) ?? ownService, metricName };
}

function writeAcknowledgement(acknowledged: Acknowledgement | null): void {
  sink.u8(acknowledged === null ? 0 : 1);
  if (acknowledged === null) return;
  sink.text(acknowledged.by);
  writeOptionalText(sink, acknowledged.note);
  sink.double(acknowledged.atMs);
}

function readAcknowledgement(reader: ByteReader): Acknowledgement | null {
  if (reader.u8() === 0) return null;
  return { by: reader.text(TEXT_BYTES_MAX), note: readOptionalText(reader), atMs: reader.double() };
}

function writeHistory(history: readonly AlertChange[]): void {
  sink.varint(history.length);
  for (const { atMs, kind, tier, by, note } of history) {
    sink.double(atMs);
    sink.u8(KINDS.indexOf(kind));
    writeTier(sink, tier);
    writeOptionalText(sink, by);
    writeOptionalText(sink, note);
  }
}

function readChange(reader: ByteReader): AlertChange {
  const atMs = reader.double();
  const kind = KINDS[reader.u8()] ?? reader.fail();
  return { atMs, kind, tier: readTier(reader), by: readOptionalText(reader), note: readOptionalText(reader) };
}
