// The sentence of a finding as alerts and decisions have it: they outlive the verdict that it was made of, so the numbers that it names stand there themselves. As bytes
// {0, packed text} or {1, flags u8 (FLAG_*), {metric packed text}, observed, expected and n number, lower f64, upper: 2 bytes or f64, {z f64}, {of a long baseline: u8 (AGAINST),
// 4 * values + 2 where it is below + 1 of streams that were taken together varint, {streams varint, how word}, of a day its name word, of chance the departure f64}, {behind it packed text}}.

import type { PairFacts } from "../../core/protocol/explanation-facts.ts";
import type { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import { isNear, readNear, readNumber, writeNear, writeNumber } from "../codec/packed-number.ts";
import { readPhrased, writePhrased } from "../codec/phrase-text.ts";
import { AGGREGATE_ATTRIBUTE, aggregateLabel } from "../detection/pair/pair-aggregate.ts";
import { departureOf, pairSentence } from "../detection/pair/pair-verdict.ts";
import { explain } from "../detection/verdict.ts";
import { type Explained, hasNumbers, isOfDeviation, readFacts, writeFacts } from "./explanation.ts";
import { readOptionalWord, TEXT_BYTES_MAX, writeOptionalWord } from "./verdict-codec.ts";

const FORM_TEXT = 0;
const FORM_FACTS = 1;
/** Another metric than that of the row, and another z. */
const FLAG_OTHER_METRIC = 1;
const FLAG_OTHER_Z = 2;
const FLAG_UPPER_NEAR = 4;
const FLAG_STILL = 8;
const FLAG_PAIR = 16;
const FLAG_BEHIND = 32;

const writer = new ByteWriter(256);

/** Numbers of a sentence, and the words behind it. */
export interface SentenceFacts {
  readonly metricName: string;
  readonly observed: number;
  readonly expected: number;
  readonly lower: number;
  readonly upper: number;
  readonly z: number;
  readonly n: number;
  /** All values before were the same. */
  readonly isStill: boolean;
  readonly pair: PairSentence | null;
  /** What holds it back; mostly empty. */
  readonly behind: string;
}

/** What the sentence about a long baseline has besides. */
interface PairSentence {
  readonly facts: PairFacts;
  /** How streams were taken together. */
  readonly by: string | null;
  readonly bucket: string | null;
  readonly departure: number;
}

/** Words that were chosen, or facts. */
export type Sentence = string | SentenceFacts;

/** Names that a sentence may contain, and the z that the row beside it has. */
export interface KnownBeside {
  readonly z: number;
  readonly names: readonly [metricName: string, ...others: string[]];
}

export function sentenceOf({ explanation, verdict, metricName, attributes }: Explained): Sentence {
  if (typeof explanation === "string") return explanation;
  if (!hasNumbers(verdict) || (explanation === null && !isOfDeviation(verdict))) return "";
  const { observed, expected, lower, upper, z, baseline } = verdict;
  const by = attributes[AGGREGATE_ATTRIBUTE];
  const pair = explanation && {
    facts: explanation,
    by: typeof by === "string" ? by : null,
    bucket: baseline.bucket,
    departure: explanation.against === "chance" ? departureOf(verdict) : 0,
  };
  return { metricName, observed, expected, lower, upper, z, n: baseline.n, isStill: baseline.sd === 0, pair, behind: "" };
}

/** Returns the words, made of the facts where there are any. */
export function sentenceText(sentence: Sentence): string {
  if (typeof sentence === "string") return sentence;
  const { metricName, n, isStill, pair, behind } = sentence;
  if (pair === null) return explain({ ...sentence, baseline: { n, sd: isStill ? 0 : 1 } }, { metricName }) + behind;
  const { facts, by, bucket, departure } = pair;
  const attributes = by === null ? {} : { [AGGREGATE_ATTRIBUTE]: by };
  const label = facts.streams === undefined ? metricName : aggregateLabel({ metricName, attributes }, facts.streams);
  return pairSentence({ ...sentence, baseline: { n, bucket }, departure }, facts, label) + behind;
}

/** Returns the words of a frame or an anomaly. */
export function explanationOf(of: Explained): string {
  return sentenceText(sentenceOf(of));
}

/** Whether two things that are found say another thing of themselves. */
export function saysAnother(before: Explained, after: Explained): boolean {
  const isSame = before.explanation === after.explanation && before.verdict === after.verdict && before.attributes === after.attributes;
  return !isSame && explanationOf(before) !== explanationOf(after);
}

/** The sentence with more words behind it. */
export function withMore(sentence: Sentence, behind: string): Sentence {
  return typeof sentence === "string" ? sentence + behind : { ...sentence, behind: sentence.behind + behind };
}

export function writeSentence(writer: ByteWriter, sentence: Sentence, { z: knownZ, names }: KnownBeside): void {
  writer.u8(typeof sentence === "string" ? FORM_TEXT : FORM_FACTS);
  if (typeof sentence === "string") {
    writePhrased(writer, sentence, names);
    return;
  }
  const { metricName, observed, expected, lower, upper, z, n, isStill, pair, behind } = sentence;
  const isUpperNear = isNear(upper, 2 * expected - lower);
  writer.u8(
    (metricName === names[0] ? 0 : FLAG_OTHER_METRIC) |
      (Object.is(z, knownZ) ? 0 : FLAG_OTHER_Z) |
      (isUpperNear ? FLAG_UPPER_NEAR : 0) |
      (isStill ? FLAG_STILL : 0) |
      (pair === null ? 0 : FLAG_PAIR) |
      (behind === "" ? 0 : FLAG_BEHIND),
  );
  if (metricName !== names[0]) writePhrased(writer, metricName);
  for (const number of [observed, expected, n]) writeNumber(writer, number);
  writer.double(lower);
  if (isUpperNear) writeNear(writer, upper);
  else writer.double(upper);
  if (!Object.is(z, knownZ)) writer.double(z);
  if (pair !== null) writePair(writer, pair);
  if (behind !== "") writePhrased(writer, behind, names);
}

/** Returns what `writeSentence` writes. */
export function sentenceBytes(sentence: Sentence, beside: KnownBeside): Uint8Array {
  writer.at = 0;
  writeSentence(writer, sentence, beside);
  return writer.shortCopy();
}

export function readSentence(reader: ByteReader, { z: knownZ, names }: KnownBeside): Sentence {
  const form = reader.u8();
  if (form === FORM_TEXT) return readPhrased(reader, TEXT_BYTES_MAX, names);
  if (form !== FORM_FACTS) return reader.fail();
  const flags = reader.u8();
  const has = (flag: number) => (flags & flag) !== 0;
  const metricName = has(FLAG_OTHER_METRIC) ? readPhrased(reader, TEXT_BYTES_MAX) : names[0];
  const observed = readNumber(reader);
  const expected = readNumber(reader);
  const n = readNumber(reader);
  const lower = reader.double();
  const upper = has(FLAG_UPPER_NEAR) ? readNear(reader, 2 * expected - lower) : reader.double();
  const z = has(FLAG_OTHER_Z) ? reader.double() : knownZ;
  const pair = has(FLAG_PAIR) ? readPair(reader) : null;
  const behind = has(FLAG_BEHIND) ? readPhrased(reader, TEXT_BYTES_MAX, names) : "";
  return { metricName, observed, expected, lower, upper, z, n, isStill: has(FLAG_STILL), pair, behind };
}

function writePair(writer: ByteWriter, { facts, by, bucket, departure }: PairSentence): void {
  writeFacts(writer, facts);
  writeOptionalWord(writer, by);
  writeOptionalWord(writer, bucket);
  if (facts.against === "chance") writer.double(departure);
}

function readPair(reader: ByteReader): PairSentence {
  const facts = readFacts(reader) ?? reader.fail();
  const by = readOptionalWord(reader);
  const bucket = readOptionalWord(reader);
  return { facts, by, bucket, departure: facts.against === "chance" ? reader.double() : 0 };
}
