// Series as promqltest and unit tests of rules write them: `load 1m`, then lines such as `up{job="a"} 0+1x10 _ stale` (the README of promqltest in Prometheus).
import { PROMQL_LINE_SAMPLES_MAX } from "../../core/config/promql-limits.ts";
import { Labels, METRIC_NAME } from "./labels/labels.ts";
import type { MemoryStorage } from "./memory-storage.ts";
import { parseDurationMs } from "./parser/duration-text.ts";
import { parseNumber } from "./parser/number-text.ts";
import { unquote } from "./parser/quoted-text.ts";
import { stringEnd } from "./parser/string-scanner.ts";
import { markStale } from "./stale-marker.ts";

/** A line that says no series. */
export class SeriesDescriptionError extends Error {
  override readonly name = "SeriesDescriptionError";
}

/** A value of a line: a number, none, a stale marker or a native histogram. */
export type DescribedValue = number | "none" | "stale" | "histogram";

/** One line: labels and values one step apart. */
export interface DescribedSeries {
  readonly labels: Labels;
  readonly values: readonly DescribedValue[];
}

/** Reads a line. Throws SeriesDescriptionError. */
export function parseSeriesDescription(line: string): DescribedSeries {
  const { labels, end } = parseLabels(line);
  return { labels, values: parseValues(line.slice(end)) };
}

const NAME = /[A-Za-z_:][A-Za-z0-9_:.]*/y;

function parseLabels(line: string): { readonly labels: Labels; readonly end: number } {
  NAME.lastIndex = 0;
  const name = NAME.exec(line)?.[0] ?? "";
  const found: Array<readonly [string, string]> = name === "" ? [] : [[METRIC_NAME, name]];
  let at = name.length;
  const brace = /\s*\{(?!\{)/y;
  brace.lastIndex = at;
  if (!brace.test(line)) return { labels: Labels.of(found), end: at };
  at = brace.lastIndex;
  for (;;) {
    at = skip(line, at, /[\s,]*/y);
    if (line[at] === "}") break;
    const key = readName(line, at);
    at = skip(line, key.end, /\s*/y);
    if (line[at] !== "=") {
      found.push([METRIC_NAME, key.text]);
      continue;
    }
    const value = readString(line, skip(line, at + 1, /\s*/y));
    found.push([key.text, value.text]);
    at = value.end;
  }
  return { labels: Labels.of(found), end: at + 1 };
}

function skip(line: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex : at;
}

interface ReadText {
  readonly text: string;
  readonly end: number;
}

function readName(line: string, at: number): ReadText {
  if (/["'`]/.test(line[at] ?? "")) return readString(line, at);
  const end = skip(line, at, /[A-Za-z0-9_]+/y);
  if (end === at) throw new SeriesDescriptionError(`expected a label at column ${at + 1} of ${line}`);
  return { text: line.slice(at, end), end };
}

function readString(line: string, at: number): ReadText {
  const end = /["'`]/.test(line[at] ?? "") ? stringEnd(line, at) : "expected a string";
  const text = typeof end === "number" ? unquote(line.slice(at, end)) : undefined;
  if (typeof end === "string" || text === undefined) throw new SeriesDescriptionError(`${end} at column ${at + 1} of ${line}`);
  return { text, end };
}

// No hexadecimal: 1+0x10 is ten times more the same.
const NUMBER = String.raw`(?:[+-]?(?:(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:e[+-]?[0-9]+)?(?:(?:ms|[smhdwy])(?:[0-9]+(?:ms|[smhdw]))*)?|inf|nan))`;
const ITEM = new RegExp(
  String.raw`^\s*(?:(_)(?:x(\d+))?|(stale)(?:x(\d+))?|(\{\{[^}]*\}\})(?:[+-]\{\{[^}]*\}\})?(?:x(\d+))?|(${NUMBER})(?:([+-])(${NUMBER}))?(?:x(\d+))?)(?=\s|$)`,
  "i",
);

/** Reads values: 1, 1x3 (three times more), 1+2x3, _ and stale. Throws SeriesDescriptionError. */
export function parseValues(text: string): DescribedValue[] {
  const values: DescribedValue[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const item = ITEM.exec(rest);
    if (item === null) throw new SeriesDescriptionError(`no series values: ${rest.slice(0, 40)}`);
    addItem(values, item);
    rest = rest.slice(item[0].length).trimStart();
    if (values.length > PROMQL_LINE_SAMPLES_MAX) throw new SeriesDescriptionError(`a line has at most ${PROMQL_LINE_SAMPLES_MAX} values`);
  }
  return values;
}

function addItem(values: DescribedValue[], item: RegExpExecArray): void {
  const [, none, noneTimes, stale, staleTimes, histogram, histogramTimes, first, sign, step, times] = item;
  if (none !== undefined) repeat(values, Number(noneTimes ?? 1), () => "none");
  else if (stale !== undefined) repeat(values, Number(staleTimes ?? 0) + 1, () => "stale");
  else if (histogram !== undefined) repeat(values, Number(histogramTimes ?? 0) + 1, () => "histogram");
  else {
    let value = signedNumber(first as string);
    const change = step === undefined ? 0 : signedNumber(step) * (sign === "-" ? -1 : 1);
    repeat(values, Number(times ?? 0) + 1, () => {
      const now = value;
      value += change;
      return now;
    });
  }
}

function repeat(values: DescribedValue[], times: number, make: () => DescribedValue): void {
  if (times > PROMQL_LINE_SAMPLES_MAX) throw new SeriesDescriptionError(`a line has at most ${PROMQL_LINE_SAMPLES_MAX} values`);
  for (let i = 0; i < times; i++) values.push(make());
}

/** A number with its sign, or seconds of a duration. */
function signedNumber(text: string): number {
  const bare = text.replace(/^[+-]/, "");
  const ms = parseNumber(bare) === undefined ? parseDurationMs(bare) : undefined;
  if (typeof ms === "string") throw new SeriesDescriptionError(ms);
  const value = ms === undefined ? (parseNumber(bare) as number) : ms / 1_000;
  return text.startsWith("-") ? -value : value;
}

/** Puts a described series into a storage, its first value at 1970's beginning. Native histograms are left out, as they are not stored. */
export function storeDescribed({ labels, values }: DescribedSeries, stepMs: number, storage: MemoryStorage): void {
  const there = [...values.keys()].filter((index) => values[index] !== "none" && values[index] !== "histogram");
  const timesMs = Float64Array.from(there, (index) => index * stepMs);
  const numbers = new Float64Array(there.length);
  for (const [to, index] of there.entries()) {
    const value = values[index];
    if (value === "stale") markStale(numbers, to);
    else numbers[to] = value as number;
  }
  if (there.length > 0) storage.add(labels, timesMs, numbers);
}

/** Milliseconds of a step as `load` says it: a duration or seconds. Throws SeriesDescriptionError. */
export function parseStepMs(text: string): number {
  const seconds = parseNumber(text);
  const ms = seconds === undefined ? parseDurationMs(text) : seconds * 1_000;
  if (typeof ms === "string" || !(ms > 0)) throw new SeriesDescriptionError(`no step: ${text}`);
  return ms;
}

/** Reads a whole file of `load` commands into a storage. Throws SeriesDescriptionError with the line. */
export function loadSeries(text: string, storage: MemoryStorage): void {
  let stepMs: number | undefined;
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    try {
      const load = /^load\s+(\S+)$/.exec(line);
      if (load !== null) stepMs = parseStepMs(load[1] as string);
      else if (stepMs === undefined) throw new SeriesDescriptionError("the first line must say the step, such as load 1m");
      else storeSeries(line, stepMs, storage);
    } catch (error) {
      if (!(error instanceof SeriesDescriptionError)) throw error;
      throw new SeriesDescriptionError(`line ${index + 1}: ${error.message}`);
    }
  }
}

function storeSeries(line: string, stepMs: number, storage: MemoryStorage): void {
  const series = parseSeriesDescription(line);
  if (series.values.includes("histogram")) throw new SeriesDescriptionError("native histograms are not stored");
  storeDescribed(series, stepMs, storage);
}
