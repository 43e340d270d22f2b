// Results of queries as Prometheus' HTTP API writes them: numbers as texts, times as seconds. A long answer is made piece by piece, each turned into bytes at once.
import type { Labels } from "../../domain/promql/labels/labels.ts";
import type { QueryValue } from "../../domain/promql/query-engine.ts";
import type { StoredSeries } from "../../domain/promql/series-storage.ts";
import { type Remarks, remarksText } from "./prometheus-envelope.ts";

/** Characters that are gathered before they become bytes. */
const PIECE_LENGTH = 64 * 1024;

/** Text that grows, kept as bytes. */
class AnswerBytes {
  readonly #pieces: Buffer[] = [];
  #text = "";

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE_LENGTH) this.#cut();
  }

  #cut(): void {
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = "";
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.#cut();
    const bytes = new Uint8Array(this.#pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }
}

/** The body of an answer that is a success. */
export function successBody(data: unknown, remarks: Remarks): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(`{"status":"success","data":${JSON.stringify(data)}${remarksText(remarks)}}`));
}

/** The body of a query's result at a moment, with statistics where they are given. */
export function resultBody(value: QueryValue, timeMs: number, remarks: Remarks, stats: unknown): Uint8Array<ArrayBuffer> {
  const answer = new AnswerBytes();
  answer.add(`{"status":"success","data":{"resultType":"${value.type}","result":`);
  if (value.type === "scalar") answer.add(pointText(timeMs, value.value));
  else if (value.type === "string") answer.add(`[${timeMs / 1_000},${JSON.stringify(value.value)}]`);
  else addList(answer, value, timeMs);
  answer.add(stats === undefined ? "}" : `,"stats":${JSON.stringify(stats)}}`);
  answer.add(`${remarksText(remarks)}}`);
  return answer.finish();
}

function addList(answer: AnswerBytes, value: Extract<QueryValue, { type: "vector" | "matrix" }>, timeMs: number): void {
  answer.add("[");
  if (value.type === "vector") {
    for (const [index, { labels, value: of }] of value.samples.entries()) {
      answer.add(`${index === 0 ? "" : ","}{"metric":${metricText(labels)},"value":${pointText(timeMs, of)}}`);
    }
  } else {
    const starts = new PointStarts();
    for (const [index, series] of value.series.entries()) addSeries(answer, series, starts, index === 0);
  }
  answer.add("]");
}

/** Texts before the values of a series' points. Most series of a range have the same times, and those are one array. */
class PointStarts {
  #timesMs: Float64Array | undefined;
  #texts: readonly string[] = [];

  of(timesMs: Float64Array): readonly string[] {
    if (timesMs !== this.#timesMs) {
      this.#timesMs = timesMs;
      this.#texts = Array.from(timesMs, (timeMs, index) => `${index === 0 ? "" : ","}[${timeMs / 1_000},"`);
    }
    return this.#texts;
  }
}

function addSeries(answer: AnswerBytes, { labels, timesMs, values }: StoredSeries, starts: PointStarts, isFirst: boolean): void {
  answer.add(`${isFirst ? "" : ","}{"metric":${metricText(labels)},"values":[`);
  const texts = starts.of(timesMs);
  let points = "";
  for (let index = 0; index < timesMs.length; index++) points += `${texts[index]}${valueText(values[index] as number)}"]`;
  answer.add(points);
  answer.add("]}");
}

function metricText(labels: Labels): string {
  return JSON.stringify(labels.toObject());
}

function pointText(timeMs: number, value: number): string {
  return `[${timeMs / 1_000},"${valueText(value)}"]`;
}

/** A value as Prometheus' answers have it: as JavaScript prints it, but for what is not finite, -0, and exponents of one digit. */
function valueText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const text = String(value);
  return text.includes("e") ? text.replace(/e([+-])(\d)$/, "e$10$2") : text;
}
