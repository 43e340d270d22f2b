// A verdict as a row keeps it: what verdict-codec.ts says in 150 bytes, in 55. What another number says is left out, an upper bound is known by its last two
// bytes (packed-number.ts), and a number of few digits takes a few bytes:
//
//   form u8 = PACKED, flags u8 (FLAG_*), {detector word}, observed, threshold, n, median and age number, mean: number, or of the sum and 2 bytes, {expected
//   number}, lower f64, upper: 2 bytes or f64, {z f64}, p and sd f64, {optional words: bucket, suppressed by}, gates, {layers: count u8, words}
//
// A verdict that is no such record is written as verdict-codec.ts does.
import type { ByteReader } from "../codec/byte-reader.ts";
import type { ByteWriter } from "../codec/byte-writer.ts";
import { isNear, readNear, readNumber, writeNear, writeNumber } from "../codec/packed-number.ts";
import type { Gate, Verdict, VerdictBaseline } from "../detection/verdict.ts";
import { readGates, writeGates } from "./packed-gates.ts";
import {
  isVerdictRecord,
  readOptionalWord,
  readVerdict,
  readWord,
  readWords,
  writeOptionalWord,
  writeVerdict,
  writeWord,
  writeWords,
} from "./verdict-codec.ts";

/** Not among the forms of verdict-codec.ts. */
const FORM_PACKED = 2;
/** The detector is the one that is known. */
const FLAG_DETECTOR = 1;
/** z is the one that is known. */
const FLAG_Z = 2;
const FLAG_EXPECTED_IS_MEAN = 4;
const FLAG_MEAN_OF_SUM = 8;
const FLAG_UPPER_NEAR = 16;
/** A bucket, or what suppressed it. */
const FLAG_LENGTH = 32;
/** The layers are the statistics alone. */
const FLAG_STATISTICAL = 64;

const STATISTICAL = "statistical";
/** The sum of values of three decimals and its two bytes are shorter than the mean up to here. */
const SUM_MAX = 2 ** 28;
const THOUSANDTHS = 1000;

/** Parts of a verdict that a reader knows beforehand. */
export interface KnownOfVerdict {
  readonly detector: string;
  readonly z: number;
}

export function writePackedVerdict(writer: ByteWriter, verdict: unknown, known: KnownOfVerdict): void {
  if (isVerdictRecord(verdict)) writeRecord(writer, verdict, known);
  else writeVerdict(writer, verdict);
}

/** Fails as the reader does. */
export function readPackedVerdict(reader: ByteReader, known: KnownOfVerdict): unknown {
  if (reader.bytes[reader.at] !== FORM_PACKED) return readVerdict(reader);
  reader.at++;
  return readRecord(reader, known);
}

function writeRecord(writer: ByteWriter, verdict: Verdict, known: KnownOfVerdict): void {
  const { baseline, detector, z, expected, lower, upper, layers } = verdict;
  const flags = flagsOf(verdict, known);
  const has = (flag: number) => (flags & flag) !== 0;
  writer.u8(FORM_PACKED);
  writer.u8(flags);
  if (!has(FLAG_DETECTOR)) writeWord(writer, detector);
  writeNumber(writer, verdict.observed);
  writeNumber(writer, verdict.threshold);
  writeNumber(writer, baseline.n);
  writeNumber(writer, baseline.median);
  writeNumber(writer, baseline.age_seconds);
  writeNumber(writer, has(FLAG_MEAN_OF_SUM) ? sumOf(baseline) : baseline.mean);
  if (has(FLAG_MEAN_OF_SUM)) writeNear(writer, baseline.mean);
  if (!has(FLAG_EXPECTED_IS_MEAN)) writeNumber(writer, expected);
  writer.double(lower);
  if (has(FLAG_UPPER_NEAR)) writeNear(writer, upper);
  else writer.double(upper);
  if (!has(FLAG_Z)) writer.double(z);
  writer.double(verdict.p);
  writer.double(baseline.sd);
  if (has(FLAG_LENGTH)) writeOptionalWord(writer, baseline.bucket);
  if (has(FLAG_LENGTH)) writeOptionalWord(writer, verdict.suppressed_by);
  writeGates(writer, verdict.gates, { z, n: baseline.n });
  if (!has(FLAG_STATISTICAL)) writeWords(writer, layers);
}

function readRecord(reader: ByteReader, known: KnownOfVerdict): Verdict {
  const flags = reader.u8();
  const has = (flag: number) => (flags & flag) !== 0;
  const detector = has(FLAG_DETECTOR) ? known.detector : readWord(reader);
  const observed = readNumber(reader);
  const threshold = readNumber(reader);
  const n = readNumber(reader);
  const median = readNumber(reader);
  const age_seconds = readNumber(reader);
  const written = readNumber(reader);
  const mean = has(FLAG_MEAN_OF_SUM) ? readNear(reader, written / n) : written;
  const expected = has(FLAG_EXPECTED_IS_MEAN) ? mean : readNumber(reader);
  const lower = reader.double();
  const upper = has(FLAG_UPPER_NEAR) ? readNear(reader, predictedUpper(expected, lower)) : reader.double();
  const z = has(FLAG_Z) ? known.z : reader.double();
  const p = reader.double();
  const sd = reader.double();
  const bucket = has(FLAG_LENGTH) ? readOptionalWord(reader) : null;
  const suppressed_by = has(FLAG_LENGTH) ? readOptionalWord(reader) : null;
  const gates = readGates<Gate>(reader, { z, n });
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
    layers: has(FLAG_STATISTICAL) ? [STATISTICAL] : readWords(reader),
  };
}

function flagsOf({ baseline, detector, expected, lower, upper, z, suppressed_by, layers }: Verdict, known: KnownOfVerdict): number {
  return (
    (detector === known.detector ? FLAG_DETECTOR : 0) |
    (Object.is(z, known.z) ? FLAG_Z : 0) |
    (Object.is(expected, baseline.mean) ? FLAG_EXPECTED_IS_MEAN : 0) |
    (isMeanOfSum(baseline) ? FLAG_MEAN_OF_SUM : 0) |
    (isNear(upper, predictedUpper(expected, lower)) ? FLAG_UPPER_NEAR : 0) |
    (baseline.bucket === null && suppressed_by === null ? 0 : FLAG_LENGTH) |
    (layers.length === 1 && layers[0] === STATISTICAL ? FLAG_STATISTICAL : 0)
  );
}

/** A mean of three decimals is shorter than its sum. */
function isMeanOfSum(baseline: VerdictBaseline): boolean {
  const { mean, n } = baseline;
  if (Number.isInteger(mean * THOUSANDTHS)) return false;
  const sum = sumOf(baseline);
  return Math.abs(sum) < SUM_MAX && isNear(mean, sum / n);
}

function sumOf({ mean, n }: VerdictBaseline): number {
  return Math.round(mean * n * THOUSANDTHS) / THOUSANDTHS;
}

/** Bounds lie at the same distance of what was expected. */
function predictedUpper(expected: number, lower: number): number {
  return 2 * expected - lower;
}
