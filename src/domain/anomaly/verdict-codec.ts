// A verdict as bytes, in frames and rows: {form u8, ...}. The record of domain/detection/verdict.ts as its numbers, 150 bytes where JSON takes 700 and ten
// times as long; whatever else a detector says as JSON text. Numbers come back as they were, so the JSON that leaves the server is the same either way.

import type { ByteReader } from "../codec/byte-reader.ts";
import type { ByteWriter } from "../codec/byte-writer.ts";
import type { Gate, Verdict, VerdictBaseline } from "../detection/verdict.ts";

const FORM_JSON = 0;
const FORM_RECORD = 1;
/** Size of a stored text, at most: what is longer is none. */
export const TEXT_BYTES_MAX = 2 ** 24;

/** Words that take a byte: the number of each is part of the formats that use them, so new ones come at the end, up to 127 in all. */
const WORDS = [
  "z_score",
  "statistical",
  "minimum_samples",
  "operation_bar",
  "practical_significance",
  "after_gap",
  "counter_reset",
  "constant_departure",
  "persistence",
  "recovered",
  "isolation_forest",
  "adaptive",
  "direction",
  "bucket_width",
  "exclusion",
  "warmup",
  "threshold",
  "feedback",
  "minimum_traffic",
  "ensemble",
  "tier",
  "confirmation",
  "inhibited",
  "silenced",
  "dedup",
  "flapping",
  "acknowledged",
  "manual_override",
  "rca_cooldown",
  "own_tail",
  "long_baseline",
  "counts",
  "lasting",
  "extreme",
  "own_reach",
  "far_out",
] as const;
const NUMBERS: ReadonlyMap<string, number> = new Map(WORDS.map((word, i) => [word, i + 1]));

/** The number of a word; 0 for any other text. */
export function wordNumber(word: string): number {
  return NUMBERS.get(word) ?? 0;
}

/** Writes a word as its number, any other text behind a zero. */
export function writeWord(writer: ByteWriter, word: string): void {
  const number = wordNumber(word);
  writer.u8(number);
  if (number === 0) writer.text(word);
}

export function readWord(reader: ByteReader): string {
  return readWordOf(reader, reader.u8());
}

/** The word of a number that was read; of 0 the text that follows. */
export function readWordOf(reader: ByteReader, number: number): string {
  return number === 0 ? reader.text(TEXT_BYTES_MAX) : (WORDS[number - 1] ?? reader.fail());
}

/** {count u8, words}. */
export function writeWords(writer: ByteWriter, words: readonly string[]): void {
  writer.u8(words.length);
  for (const word of words) writeWord(writer, word);
}

export function readWords(reader: ByteReader): string[] {
  return listOf(reader, () => readWord(reader));
}

export function writeVerdict(writer: ByteWriter, verdict: unknown): void {
  if (isVerdictRecord(verdict)) writeRecord(writer, verdict);
  else {
    writer.u8(FORM_JSON);
    writer.text(JSON.stringify(verdict) ?? "null");
  }
}

/** Fails as the reader does. */
export function readVerdict(reader: ByteReader): unknown {
  const form = reader.u8();
  if (form === FORM_RECORD) return readRecord(reader);
  return form === FORM_JSON ? JSON.parse(reader.text(TEXT_BYTES_MAX)) : reader.fail();
}

/** Number of members of a verdict, and of its baseline. */
const MEMBERS = 13;
const BASELINE_MEMBERS = 6;
const GATE_MEMBERS = 4;

/** Whether the record has the members of a verdict and no others, each of its type: only such a one comes back equal. */
export function isVerdictRecord(value: unknown): value is Verdict {
  if (typeof value !== "object" || value === null) return false;
  const verdict = value as Verdict;
  return (
    memberCount(verdict) === MEMBERS &&
    typeof verdict.detector === "string" &&
    areNumbers(verdict.observed, verdict.expected, verdict.lower, verdict.upper) &&
    areNumbers(verdict.z, verdict.p, verdict.threshold, 0) &&
    isBaseline(verdict.baseline) &&
    Array.isArray(verdict.contributions) &&
    verdict.contributions.length === 0 &&
    Array.isArray(verdict.gates) &&
    verdict.gates.length < 256 &&
    verdict.gates.every(isGate) &&
    (verdict.suppressed_by === null || typeof verdict.suppressed_by === "string") &&
    Array.isArray(verdict.layers) &&
    verdict.layers.length < 256 &&
    verdict.layers.every(isText)
  );
}

function isBaseline(value: VerdictBaseline): boolean {
  if (typeof value !== "object" || value === null || memberCount(value) !== BASELINE_MEMBERS) return false;
  const { n, mean, sd, median, bucket, age_seconds } = value;
  return areNumbers(n, mean, sd, median) && typeof age_seconds === "number" && (bucket === null || typeof bucket === "string");
}

/** Without a list of them. */
function memberCount(value: object): number {
  let count = 0;
  for (const _ in value) count++;
  return count;
}

function areNumbers(a: unknown, b: unknown, c: unknown, d: unknown): boolean {
  return typeof a === "number" && typeof b === "number" && typeof c === "number" && typeof d === "number";
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isGate(gate: Gate): boolean {
  if (typeof gate !== "object" || gate === null || memberCount(gate) !== GATE_MEMBERS) return false;
  return (
    typeof gate.name === "string" && typeof gate.passed === "boolean" && typeof gate.value === "number" && typeof gate.limit === "number"
  );
}

function writeRecord(writer: ByteWriter, verdict: Verdict): void {
  const { baseline, gates, layers } = verdict;
  writer.u8(FORM_RECORD);
  writeWord(writer, verdict.detector);
  writer.double(verdict.observed);
  writer.double(verdict.expected);
  writer.double(verdict.lower);
  writer.double(verdict.upper);
  writer.double(verdict.z);
  writer.double(verdict.p);
  writer.double(verdict.threshold);
  writer.double(baseline.n);
  writer.double(baseline.mean);
  writer.double(baseline.sd);
  writer.double(baseline.median);
  writer.double(baseline.age_seconds);
  writeOptionalWord(writer, baseline.bucket);
  writeOptionalWord(writer, verdict.suppressed_by);
  writer.u8(gates.length);
  for (const { name, passed, value, limit } of gates) {
    writeWord(writer, name);
    writer.u8(passed ? 1 : 0);
    writer.double(value);
    writer.double(limit);
  }
  writeWords(writer, layers);
}

/** One literal, without spreading another: that costs three times all the reading. */
function readRecord(reader: ByteReader): Verdict {
  const detector = readWord(reader);
  const observed = reader.double();
  const expected = reader.double();
  const lower = reader.double();
  const upper = reader.double();
  const z = reader.double();
  const p = reader.double();
  const threshold = reader.double();
  const n = reader.double();
  const mean = reader.double();
  const sd = reader.double();
  const median = reader.double();
  const age_seconds = reader.double();
  const bucket = readOptionalWord(reader);
  const suppressed_by = readOptionalWord(reader);
  const gates = listOf(reader, () => readGate(reader));
  return {
    detector,
    observed,
    expected,
    lower,
    upper,
    z,
    p,
    threshold,
    baseline: { n, mean, sd, median, bucket, age_seconds },
    contributions: [],
    gates,
    suppressed_by,
    layers: readWords(reader),
  };
}

function readGate(reader: ByteReader): Gate {
  return { name: readWord(reader) as Gate["name"], passed: reader.u8() === 1, value: reader.double(), limit: reader.double() };
}

function listOf<T>(reader: ByteReader, read: () => T): T[] {
  const list: T[] = [];
  for (let count = reader.u8(); count > 0; count--) list.push(read());
  return list;
}

/** 0 for null, else 1 and the word. */
export function writeOptionalWord(writer: ByteWriter, word: string | null): void {
  writer.u8(word === null ? 0 : 1);
  if (word !== null) writeWord(writer, word);
}

export function readOptionalWord(reader: ByteReader): string | null {
  return reader.u8() === 0 ? null : readWord(reader);
}
