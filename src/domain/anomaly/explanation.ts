// What the sentence of a finding (sentence.ts) takes besides its verdict, as bytes: {form u8 (FORMS), of words: packed text; of a long baseline's: varint of 4 * values + 2 where it is below + 1 where streams were taken together, {streams varint}}.

import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { Explanation, PairFacts } from "../../core/protocol/explanation-facts.ts";
import type { ByteReader } from "../codec/byte-reader.ts";
import type { ByteWriter } from "../codec/byte-writer.ts";
import { readPhrased, writePhrased } from "../codec/phrase-text.ts";
import { DETECTOR_Z_SCORE, type Verdict } from "../detection/verdict.ts";
import { TEXT_BYTES_MAX } from "./verdict-codec.ts";

/** Numbers of them are part of the format: new ones come at the end. */
const FORMS = ["text", "verdict", "values", "day", "hour", "chance"] as const;
const BELOW = 2;
const OF_STREAMS = 1;
const VALUES_UNIT = 4;

/** A frame or an anomaly: what its sentence is made of. */
export interface Explained extends Pick<StreamName, "metricName" | "attributes"> {
  readonly verdict: unknown;
  readonly explanation: Explanation;
}

/** Writes an explanation; `names` are up to three that words may contain. */
export function writeExplanation(writer: ByteWriter, explanation: Explanation, names: readonly string[]): void {
  if (explanation !== null && typeof explanation !== "string") {
    writeFacts(writer, explanation);
    return;
  }
  writer.u8(explanation === null ? 1 : 0);
  if (explanation !== null) writePhrased(writer, explanation, names);
}

export function readExplanation(reader: ByteReader, names: readonly string[]): Explanation {
  if (reader.bytes[reader.at] !== 0) return readFacts(reader);
  reader.at++;
  return readPhrased(reader, TEXT_BYTES_MAX, names);
}

export function writeFacts(writer: ByteWriter, { against, values, isBelow, streams }: PairFacts): void {
  writer.u8(FORMS.indexOf(against));
  writer.varint(VALUES_UNIT * values + (isBelow ? BELOW : 0) + (streams === undefined ? 0 : OF_STREAMS));
  if (streams !== undefined) writer.varint(streams);
}

/** Null where the verdict alone is what was written. */
export function readFacts(reader: ByteReader): PairFacts | null {
  const against = FORMS[reader.u8()] ?? reader.fail();
  if (against === "text") return reader.fail();
  if (against === "verdict") return null;
  const head = reader.varint();
  const facts = { isBelow: head % VALUES_UNIT >= BELOW, against, values: Math.floor(head / VALUES_UNIT) };
  return head % BELOW === OF_STREAMS ? { ...facts, streams: reader.varint() } : facts;
}

/** Whether a verdict has the numbers that a sentence names. */
export function hasNumbers(verdict: unknown): verdict is Verdict {
  if (typeof verdict !== "object" || verdict === null || !("baseline" in verdict)) return false;
  const { observed, expected, lower, upper, z, baseline } = verdict as Partial<Verdict>;
  const areNumbers = [observed, expected, lower, upper, z, baseline?.n].every((value) => typeof value === "number");
  return areNumbers && "gates" in verdict && Array.isArray(verdict.gates);
}

/** Whether a verdict is of a deviation from the newest values, whose sentence takes nothing else. */
export function isOfDeviation({ detector }: Pick<Verdict, "detector">): boolean {
  return detector === DETECTOR_Z_SCORE;
}
