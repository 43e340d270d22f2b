// An alert as a stored value: version 4, message Alert of schemas/stored.proto. Versions 2 and 3 are read (packed-alert.ts).
//
// An alert is stored again with each of its anomalies: members that were written before are copied, as a message may stand in pieces.
import { ownMember } from "../../../core/collections/own-member.ts";
import { ALERT_CHANGE_KINDS } from "../../../domain/alerting/alert-changes.ts";
import type {
  Acknowledgement,
  Alert,
  AlertChange,
  AlertMember,
  AlertPeak,
  NotifiedEffect,
  Snooze,
} from "../../../domain/alerting/paging/alert.ts";
import { END_REASONS, type Ending } from "../../../domain/anomaly/ending.ts";
import { readSentence, sentenceBytes } from "../../../domain/anomaly/sentence.ts";
import { ByteReader } from "../../../domain/codec/byte-reader.ts";
import type { Tier } from "../../../domain/detection/anomaly-score.ts";
import { stored } from "../../state/generated/stored-rows.ts";
import { checkRowVersion } from "../../state/stored-json.ts";
import { idOfStored, type MessageCodec, readStoredMessage, storedId, storedMessage, storedText } from "../../state/stored-message.ts";
import { decodePackedAlert, VERSION_PACKED, VERSION_UNMERGED } from "./packed-alert.ts";

const VERSION = 4;
/** Part of the format. */
const TIERS: readonly Tier[] = ["low", "medium", "high"];
const DAMAGE = "a stored alert is damaged";

const ALERT: MessageCodec = stored.Alert;
const MEMBERS: MessageCodec = stored.AlertMembers;
type Message = ReturnType<MessageCodec["decode"]>;

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
  return storedMessage(VERSION, ALERT.encode(messageOf(alert)).finish(), membersOf(alert));
}

/** Throws on another version. */
export function decodeAlert(bytes: Uint8Array): Alert {
  const isPacked = bytes[0] === VERSION_PACKED || bytes[0] === VERSION_UNMERGED;
  if (isPacked) return decodePackedAlert(bytes, DAMAGE);
  checkRowVersion("alerts", bytes, VERSION);
  return readStoredMessage(ALERT, bytes, DAMAGE, alertOf);
}

function messageOf({ state, peak, ...alert }: Alert) {
  const { key, flap } = state;
  return {
    id: storedId(state.id),
    tenant: storedText(key.tenant),
    environment: storedText(key.environment),
    serviceId: storedText(key.serviceId),
    family: key.family,
    createdMs: state.createdAtMs,
    lastFireMs: state.lastFireMs,
    fires: state.fires,
    tier: TIERS.indexOf(state.tier),
    resolvedMs: state.resolvedAtMs,
    reopenedMs: flap.reopenedMs,
    pagedMs: flap.pagedMs,
    labels: Object.keys(alert.labels).map((name) => ({
      name: storedText(name),
      value: storedText(ownMember(alert.labels, name) as string),
    })),
    peak: peakMessage(peak),
    anomalies: alert.anomalies,
    open: alert.open,
    pages: alert.pages,
    services: alert.services.map(storedText),
    heldBy: alert.heldBy,
    acknowledged: alert.acknowledged && handMessage(alert.acknowledged),
    assignee: optionalText(alert.assignee),
    updatedMs: alert.updatedAtMs,
    history: alert.history.map(changeMessage),
    mergedInto: alert.mergedInto,
    ending: alert.ending && { reason: alert.ending.reason, person: optionalText(alert.ending.person), level: alert.ending.level },
    snooze: alert.snooze && { hand: handMessage(alert.snooze), untilMs: alert.snooze.untilMs },
    beganMs: alert.beganAtMs,
    endedMs: alert.endedAtMs,
    notifiedEffects: (alert.notifiedEffects ?? []).map(({ metricName, doublings }) => ({ metricName: storedText(metricName), doublings })),
  };
}

function peakMessage({ anomalyId, serviceId, metricName, detector, z, explanation }: AlertPeak) {
  const isText = typeof explanation === "string";
  return {
    anomalyId: storedId(anomalyId),
    serviceId: storedText(serviceId),
    metricName: storedText(metricName),
    detector,
    z,
    explanation: isText ? storedText(explanation) : null,
    sentence: isText ? null : sentenceBytes(explanation, { z, names: [metricName] }),
  };
}

function handMessage({ by, note, atMs }: Acknowledgement) {
  return { by: storedText(by), note: optionalText(note), atMs };
}

function changeMessage({ atMs, kind, tier, by, note, metricName }: AlertChange) {
  const of = { atMs, kind, tier: TIERS.indexOf(tier), by: optionalText(by), note: optionalText(note) };
  return metricName === undefined ? of : { ...of, metricName: storedText(metricName) };
}

function optionalText(text: string | null): string | null {
  return text === null ? null : storedText(text);
}

function alertOf(message: Message): Alert {
  const { serviceId } = message;
  return {
    state: {
      id: idOfStored(message.id),
      key: { tenant: message.tenant, environment: message.environment, serviceId, family: message.family },
      createdAtMs: message.createdMs,
      lastFireMs: message.lastFireMs,
      fires: message.fires,
      tier: oneOf(TIERS, message.tier),
      resolvedAtMs: message.resolvedMs,
      flap: { reopenedMs: [...message.reopenedMs], pagedMs: message.pagedMs },
    },
    labels: Object.fromEntries(message.labels.map(({ name, value }: Message) => [name, value])),
    peak: peakOf(message.peak),
    members: message.members.map((member: Message) => memberOf(member, serviceId)),
    anomalies: message.anomalies,
    open: message.open,
    pages: message.pages,
    services: [...message.services],
    heldBy: message.heldBy,
    acknowledged: message.acknowledged && handOf(message.acknowledged),
    assignee: message.assignee,
    snooze: message.snooze && snoozeOf(message.snooze),
    ending: message.ending && endingOf(message.ending),
    updatedAtMs: message.updatedMs,
    history: message.history.map(changeOf),
    mergedInto: message.mergedInto,
    ...(message.beganMs !== null && { beganAtMs: message.beganMs }),
    ...(message.endedMs !== null && { endedAtMs: message.endedMs }),
    ...(message.notifiedEffects.length > 0 && { notifiedEffects: message.notifiedEffects.map(effectOf) }),
  };
}

function peakOf({ anomalyId, serviceId, metricName, detector, z, explanation, sentence }: Message): AlertPeak {
  const said = sentence === null ? explanation : readSentence(new ByteReader(sentence, DAMAGE), { z, names: [metricName] });
  return { anomalyId: idOfStored(anomalyId), serviceId, metricName, detector, z, explanation: said };
}

function memberOf({ anomalyId, metricName, serviceId }: Message, ownService: string): AlertMember {
  return { anomalyId: idOfStored(anomalyId), serviceId: serviceId ?? ownService, metricName };
}

function effectOf({ metricName, doublings }: Message): NotifiedEffect {
  return { metricName, doublings };
}

function handOf({ by, note, atMs }: Message): Acknowledgement {
  return { by, note, atMs };
}

function snoozeOf({ hand, untilMs }: Message): Snooze {
  return { ...handOf(hand), untilMs };
}

function endingOf({ reason, person, level }: Message): Ending {
  return { reason: known(END_REASONS, reason), person, ...(level && { level: { from: level.from, to: level.to } }) };
}

function changeOf({ atMs, kind, tier, by, note, metricName }: Message): AlertChange {
  const of = { atMs, kind: known(ALERT_CHANGE_KINDS, kind), tier: oneOf(TIERS, tier), by, note };
  return metricName === null ? of : { ...of, metricName };
}

function oneOf<T>(all: readonly T[], index: number): T {
  const one = all[index];
  if (one === undefined) throw new RangeError(`a number of another list: ${index}`);
  return one;
}

function known<T extends string>(all: readonly T[], word: string): T {
  const one = all.find((each) => each === word);
  if (one === undefined) throw new RangeError(`a word of another list: ${word}`);
  return one;
}

/** Members only grow: those that were written before are copied. */
function membersOf({ state, members }: Alert): Uint8Array {
  const { id, key } = state;
  const before = written.get(id);
  const copied = before !== undefined && beginsWith(members, before.members) ? before : NOTHING_WRITTEN;
  if (copied.members === members) return copied.bytes;
  const added = members.slice(copied.members.length).map((member) => memberMessage(member, key.serviceId));
  const bytes = Buffer.concat([copied.bytes, MEMBERS.encode({ members: added }).finish()]);
  written.delete(id);
  written.set(id, { members, bytes });
  if (written.size > ALERT_MEMBERS_WRITTEN_MAX) {
    for (const longestAgo of written.keys()) {
      written.delete(longestAgo);
      break;
    }
  }
  return bytes;
}

/** The same objects at both ends: a list of members is only ever made longer. */
function beginsWith(members: readonly AlertMember[], first: readonly AlertMember[]): boolean {
  const last = first.length - 1;
  return last < members.length && members[0] === first[0] && members[last] === first[last];
}

function memberMessage({ anomalyId, serviceId, metricName }: AlertMember, ownService: string) {
  const other = serviceId === ownService ? {} : { serviceId: storedText(serviceId) };
  return { anomalyId: storedId(anomalyId), metricName: storedText(metricName), ...other };
}
