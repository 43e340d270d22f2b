// An anomaly as a stored value, beside the key that says its tenant, its time of detection and its id:
//
//   version u8 = 5, flags u8 (FLAG_*), end 6 bytes, {episode id 16 bytes: the founder's}, observed as a difference to detected, started to observed, z f64,
//   streams and open streams varint, detector word, {resolved f64}, {resolved by word}, environment, service, metric, attributes as JSON packed text
//   (domain/codec/phrase-text.ts), explanation (domain/anomaly/explanation.ts; in version 4 its words, packed text), verdict (domain/anomaly/packed-verdict.ts),
//   {paging: u8 (PAGED_*, tier and outcome), {alert id}, {suppressed by word}, decided as a difference to detected, serial varint}, {feedback JSON text},
//   {of one that was accepted: from and to f64 of its level}, {delay 5 bytes: milliseconds from the value that showed the end to the end, and DELAY_ZERO; 0 while it is open}
//
// The end is 0 while the anomaly is open, then the number of who resolved it and the milliseconds that it took: a row that grew when its anomaly ends would not
// fit into its page, and LMDB would leave both halves of it half empty. So the delay has its bytes from the beginning; rows of before end without it. 150 bytes for a series with a few labels.

import type { Anomaly, AnomalyFeedback, AnomalyPaging } from "../../domain/anomaly/anomaly.ts";
import { readExplanation, writeExplanation } from "../../domain/anomaly/explanation.ts";
import { readPackedVerdict, writePackedVerdict } from "../../domain/anomaly/packed-verdict.ts";
import { readWord, readWordOf, TEXT_BYTES_MAX, wordNumber, writeWord } from "../../domain/anomaly/verdict-codec.ts";
import { ByteReader } from "../../domain/codec/byte-reader.ts";
import { ByteWriter } from "../../domain/codec/byte-writer.ts";
import { readDifference, writeDifference } from "../../domain/codec/packed-number.ts";
import { readPhrased, writePhrased } from "../../domain/codec/phrase-text.ts";
import { outcomeOf, tierAndOutcome, tierOf } from "../state/row-fields.ts";
import { checkRowVersion } from "../state/stored-json.ts";
import { ID_BYTES, type RowKey } from "../state/tables.ts";

const VERSION = 5;
/** Has the words of every explanation; read for one release. */
const VERSION_OF_TEXT = 4;
const FLAG_HIGH = 1;
/** Neither stands in the end, these two. */
const FLAG_RESOLVED = 2;
const FLAG_RESOLVED_BY = 4;
const FLAG_FOUNDER = 8;
const FLAG_FOUNDER_OPEN = 16;
const FLAG_FEEDBACK = 32;
const FLAG_PAGING = 64;
/** Flag of the decision to analyse the root cause; never set before there was root-cause analysis. */
const FLAG_RCA = 128;
/** Above the tier and the outcome. */
const PAGED_ALERT = 32;
const PAGED_ALERT_TEXT = 64;
const PAGED_SUPPRESSED = 128;
const END_BYTES = 6;
/** Milliseconds that five bytes hold: 34 years. */
const LASTED_MAX = 2 ** 40;
const DELAY_BYTES = 5;
/** A delay of none: a value may bear a time that is still to come. Longer ones, of 17 years, stand as the longest. */
const DELAY_ZERO = LASTED_MAX / 2;
const LEVEL_BYTES = 16;
const DAMAGE = "a stored anomaly is damaged";

const sink = new ByteWriter(4096);

/** Encodes an anomaly; `decodeAnomaly` gives it back equal. */
export function encodeAnomaly(anomaly: Anomaly): Uint8Array {
  const { founder, detectedAtMs, observedAtMs, resolvedAtMs, resolvedBy, paging, feedback, environment, serviceId, metricName } = anomaly;
  const isEnded = writesEnd(anomaly);
  sink.at = 0;
  sink.u8(VERSION);
  sink.u8(
    (anomaly.direction === "high" ? FLAG_HIGH : 0) |
      (isEnded || resolvedAtMs === null ? 0 : FLAG_RESOLVED) |
      (isEnded || resolvedBy === null ? 0 : FLAG_RESOLVED_BY) |
      (founder === null ? 0 : FLAG_FOUNDER) |
      (founder?.open === true ? FLAG_FOUNDER_OPEN : 0) |
      (feedback === null ? 0 : FLAG_FEEDBACK) |
      (paging === null ? 0 : FLAG_PAGING) |
      (paging?.rcaTriggered === true ? FLAG_RCA : 0),
  );
  if (isEnded) writeEnd(wordNumber(resolvedBy as string), (resolvedAtMs as number) - detectedAtMs);
  else writeEnd(0, 0);
  if (founder !== null) sink.hex(founder.episodeId);
  writeDifference(sink, observedAtMs, detectedAtMs);
  writeDifference(sink, anomaly.startedAtMs, observedAtMs);
  sink.double(anomaly.z);
  sink.varint(anomaly.streams);
  sink.varint(anomaly.openStreams);
  writeWord(sink, anomaly.detector);
  if (!isEnded && resolvedAtMs !== null) sink.double(resolvedAtMs);
  if (!isEnded && resolvedBy !== null) writeWord(sink, resolvedBy);
  const names = [metricName, serviceId, environment];
  writePhrased(sink, environment);
  writePhrased(sink, serviceId);
  writePhrased(sink, metricName);
  writePhrased(sink, labelsText(JSON.stringify(anomaly.attributes)), names);
  writeExplanation(sink, anomaly.explanation, names);
  writePackedVerdict(sink, anomaly.verdict, anomaly);
  if (paging !== null) writePaging(paging, detectedAtMs);
  if (feedback !== null) sink.text(JSON.stringify(feedback));
  if (anomaly.level !== undefined) for (const value of [anomaly.level.from, anomaly.level.to]) sink.double(value);
  writeDelay(anomaly);
  return sink.shortCopy();
}

/** Whether a row is one of an anomaly that has ended. */
export function isEndedRow(bytes: Uint8Array): boolean {
  return (
    (bytes[0] === VERSION || bytes[0] === VERSION_OF_TEXT) && (((bytes[1] as number) & FLAG_RESOLVED) !== 0 || (bytes[2] as number) > 0)
  );
}

/** The anomaly of a row and its key. Throws on another version. */
export function decodeAnomaly(bytes: Uint8Array, { tenant, timeMs: detectedAtMs, id }: RowKey): Anomaly {
  const hasText = bytes[0] === VERSION_OF_TEXT;
  if (!hasText) checkRowVersion("anomalies", bytes, VERSION);
  const reader = new ByteReader(bytes, DAMAGE, 1);
  const flags = reader.u8();
  const has = (flag: number) => (flags & flag) !== 0;
  const ender = reader.u8();
  const lastedMs = readLasted(reader);
  const founder = has(FLAG_FOUNDER) ? { episodeId: reader.hex(ID_BYTES), open: has(FLAG_FOUNDER_OPEN) } : null;
  const observedAtMs = readDifference(reader, detectedAtMs);
  const startedAtMs = readDifference(reader, observedAtMs);
  const z = reader.double();
  const streams = reader.varint();
  const openStreams = reader.varint();
  const detector = readWord(reader);
  const resolvedAtMs = ender > 0 ? detectedAtMs + lastedMs : has(FLAG_RESOLVED) ? reader.double() : null;
  const resolvedBy = ender > 0 ? readWordOf(reader, ender) : has(FLAG_RESOLVED_BY) ? readWord(reader) : null;
  const environment = readPhrased(reader, TEXT_BYTES_MAX);
  const serviceId = readPhrased(reader, TEXT_BYTES_MAX);
  const metricName = readPhrased(reader, TEXT_BYTES_MAX);
  const names = [metricName, serviceId, environment];
  const attributes = JSON.parse(labelsJson(readPhrased(reader, TEXT_BYTES_MAX, names))) as Anomaly["attributes"];
  const explanation = hasText ? readPhrased(reader, TEXT_BYTES_MAX, names) : readExplanation(reader, names);
  const verdict = readPackedVerdict(reader, { detector, z });
  const decided = has(FLAG_PAGING) ? readPaging(reader, detectedAtMs) : null;
  const paging: AnomalyPaging | null = decided !== null && has(FLAG_RCA) ? { ...decided, rcaTriggered: true } : decided;
  const feedback = has(FLAG_FEEDBACK) ? (JSON.parse(reader.text(TEXT_BYTES_MAX)) as AnomalyFeedback) : null;
  const hasLevel = resolvedBy === "accepted" && reader.end - reader.at >= LEVEL_BYTES;
  const level = hasLevel ? { from: reader.double(), to: reader.double() } : undefined;
  const delayMs = reader.isAtEnd ? 0 : readDelay(reader);
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
    ...(level !== undefined && { level }),
    ...(resolvedAtMs !== null && delayMs !== 0 && { endedAtMs: resolvedAtMs - delayMs }),
  };
}

/** Whether the six bytes can say how the anomaly ended. */
function writesEnd({ detectedAtMs, resolvedAtMs, resolvedBy }: Anomaly): boolean {
  if (resolvedAtMs === null || resolvedBy === null || wordNumber(resolvedBy) === 0) return false;
  const lastedMs = resolvedAtMs - detectedAtMs;
  return Number.isInteger(lastedMs) && lastedMs >= 0 && lastedMs < LASTED_MAX && detectedAtMs + lastedMs === resolvedAtMs;
}

function writeEnd(ender: number, lastedMs: number): void {
  sink.reserve(END_BYTES);
  sink.u8(ender);
  sink.u8(Math.floor(lastedMs / 2 ** 32));
  sink.u32(lastedMs % 2 ** 32);
}

function writeDelay({ resolvedAtMs, endedAtMs }: Anomaly): void {
  const delayMs = resolvedAtMs === null || endedAtMs === undefined ? 0 : Math.round(resolvedAtMs - endedAtMs);
  const isOpen = resolvedAtMs === null;
  const stored = isOpen ? 0 : Math.min(LASTED_MAX - 1, Math.max(1, DELAY_ZERO + delayMs));
  sink.reserve(DELAY_BYTES);
  sink.u8(Math.floor(stored / 2 ** 32));
  sink.u32(stored % 2 ** 32);
}

function readDelay(reader: ByteReader): number {
  const stored = readLasted(reader);
  return stored === 0 ? 0 : stored - DELAY_ZERO;
}

function readLasted(reader: ByteReader): number {
  const high = reader.u8();
  return high * 2 ** 32 + reader.u32();
}

/** Labels begin as the next ones do: the phrases of labels fit the first too. */
function labelsText(json: string): string {
  return json.startsWith('{"') ? `","${json.slice(2)}` : json;
}

function labelsJson(text: string): string {
  return text.startsWith('","') ? `{"${text.slice(3)}` : text;
}

function writePaging({ tier, alertId, outcome, suppressedBy, decidedAtMs, serial }: AnomalyPaging, detectedAtMs: number): void {
  const at = sink.at;
  sink.u8(0);
  const isHex = alertId?.length === 2 * ID_BYTES && sink.tryHex(alertId);
  if (alertId !== null && !isHex) sink.text(alertId);
  if (suppressedBy !== null) writeWord(sink, suppressedBy);
  sink.bytes[at] =
    tierAndOutcome(tier, outcome) |
    (isHex ? PAGED_ALERT : alertId === null ? 0 : PAGED_ALERT_TEXT) |
    (suppressedBy === null ? 0 : PAGED_SUPPRESSED);
  writeDifference(sink, decidedAtMs, detectedAtMs);
  sink.varint(serial);
}

function readPaging(reader: ByteReader, detectedAtMs: number): AnomalyPaging {
  const head = reader.u8();
  const has = (flag: number) => (head & flag) !== 0;
  return {
    tier: tierOf(reader, head),
    alertId: has(PAGED_ALERT) ? reader.hex(ID_BYTES) : has(PAGED_ALERT_TEXT) ? reader.text(TEXT_BYTES_MAX) : null,
    outcome: outcomeOf(reader, head),
    suppressedBy: has(PAGED_SUPPRESSED) ? readWord(reader) : null,
    decidedAtMs: readDifference(reader, detectedAtMs),
    serial: reader.varint(),
  };
}
