// The sentence of a finding, made of its facts when somebody asks: neither frames nor rows have it. Also the bytes of what it takes besides the verdict: {form u8 (FORMS),
// of words: packed text; of a long baseline's: varint of 4 * values + 2 where it is below + 1 where streams were taken together, {streams varint}}.

import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { Explanation, PairFacts } from "../../core/protocol/explanation-facts.ts";
import type { ByteReader } from "../codec/byte-reader.ts";
import type { ByteSink } from "../codec/byte-sink.ts";
import { readPhrased, writePhrased } from "../codec/phrase-text.ts";
import { aggregateLabel } from "../detection/pair/pair-aggregate.ts";
import { type PairNumbers, pairSentence } from "../detection/pair/pair-verdict.ts";
import { DETECTOR_Z_SCORE, explain, type Verdict } from "../detection/verdict.ts";
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

/** Returns the words; none where a verdict has no numbers that they could name. */
export function explanationOf(of: Explained): string {
  const { explanation, verdict, metricName } = of;
  if (typeof explanation === "string") return explanation;
  if (!hasNumbers(verdict)) return "";
  if (explanation === null) return verdict.detector === DETECTOR_Z_SCORE ? explain(verdict, { metricName }) : "";
  const { streams } = explanation;
  return pairSentence(verdict as PairNumbers, explanation, streams === undefined ? metricName : aggregateLabel(of, streams));
}

/** Whether two things that are found say another thing of themselves. */
export function saysAnother(before: Explained, after: Explained): boolean {
  const isSame = before.explanation === after.explanation && before.verdict === after.verdict && before.attributes === after.attributes;
  return !isSame && explanationOf(before) !== explanationOf(after);
}

/** Writes an explanation; `names` are up to three that words may contain. */
export function writeExplanation(writer: ByteSink, explanation: Explanation, names: readonly string[]): void {
  if (explanation === null || typeof explanation === "string") {
    writer.u8(explanation === null ? 1 : 0);
    if (explanation !== null) writePhrased(writer, explanation, names);
    return;
  }
  const { against, values, isBelow, streams } = explanation;
  writer.u8(FORMS.indexOf(against));
  writer.varint(VALUES_UNIT * values + (isBelow ? BELOW : 0) + (streams === undefined ? 0 : OF_STREAMS));
  if (streams !== undefined) writer.varint(streams);
}

export function readExplanation(reader: ByteReader, names: readonly string[]): Explanation {
  const form = FORMS[reader.u8()] ?? reader.fail();
  if (form === "text") return readPhrased(reader, TEXT_BYTES_MAX, names);
  return form === "verdict" ? null : readFacts(reader, form);
}

function readFacts(reader: ByteReader, against: PairFacts["against"]): PairFacts {
  const head = reader.varint();
  const isOfStreams = head % BELOW === OF_STREAMS;
  const facts = { isBelow: head % VALUES_UNIT >= BELOW, against, values: Math.floor(head / VALUES_UNIT) };
  return isOfStreams ? { ...facts, streams: reader.varint() } : facts;
}

function hasNumbers(verdict: unknown): verdict is Verdict {
  if (typeof verdict !== "object" || verdict === null || !("baseline" in verdict)) return false;
  const { observed, expected, lower, upper, z, baseline } = verdict as Partial<Verdict>;
  const areNumbers = [observed, expected, lower, upper, z, baseline?.n].every((value) => typeof value === "number");
  return areNumbers && "gates" in verdict && Array.isArray(verdict.gates);
}
