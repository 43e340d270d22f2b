// A test's input: series with their values one interval apart from the test's start.
import type { Labels } from "../../promql/labels/labels.ts";
import { type DescribedValue, parseSeriesDescription, parseValues, SeriesDescriptionError } from "../../promql/series-description.ts";
import { markStale } from "../../promql/stale-marker.ts";
import { addHistograms, type NativeHistogram, parseHistogram } from "./described-histogram.ts";
import type { WrittenSeries } from "./rule-test-file.ts";

/** A series: floats and stale markers in time, native histograms by their moments. */
export interface InputSeries {
  readonly labels: Labels;
  readonly timesMs: Float64Array;
  readonly values: Float64Array;
  readonly histograms: ReadonlyMap<number, NativeHistogram>;
}

const ITEM = /\s*(?:(\{\{[^}]*\}\})(?:([+-])(\{\{[^}]*\}\}))?(?:x(\d+))?|(\S+))/y;
/** Histograms that a line may repeat: a day of 15 s. */
const HISTOGRAMS_MAX = 5_760;

/** Reads a series. Throws SeriesDescriptionError. */
export function readInputSeries({ series, values: text }: WrittenSeries, startMs: number, intervalMs: number): InputSeries {
  const { labels } = parseSeriesDescription(`${series} _`);
  const described = text.includes("{{") ? readItems(text) : parseValues(text);
  const timesMs: number[] = [];
  const histograms = new Map<number, NativeHistogram>();
  const numbers = new Float64Array(described.length);
  for (const [index, value] of described.entries()) {
    const timeMs = startMs + index * intervalMs;
    if (value === "none" || value === "histogram") continue;
    if (typeof value === "object") histograms.set(timeMs, value);
    else {
      if (value === "stale") markStale(numbers, timesMs.length);
      else numbers[timesMs.length] = value;
      timesMs.push(timeMs);
    }
  }
  return { labels, timesMs: Float64Array.from(timesMs), values: numbers.subarray(0, timesMs.length), histograms };
}

/** Values of which some are native histograms. */
function readItems(text: string): Array<DescribedValue | NativeHistogram> {
  const values: Array<DescribedValue | NativeHistogram> = [];
  for (let at = 0; text.slice(at).trim() !== ""; at = ITEM.lastIndex) {
    ITEM.lastIndex = at;
    const [, first, sign, step, times, plain] = ITEM.exec(text) as RegExpExecArray;
    if (first === undefined) values.push(...parseValues(plain as string));
    else values.push(...repeated(first, sign, step, Number(times ?? 0)));
  }
  return values;
}

function repeated(first: string, sign: string | undefined, step: string | undefined, times: number): NativeHistogram[] {
  if (times > HISTOGRAMS_MAX) throw new SeriesDescriptionError(`a line has at most ${HISTOGRAMS_MAX} native histograms`);
  const histograms = [parseHistogram(first)];
  for (let i = 0; i < times; i++) {
    const before = histograms[i] as NativeHistogram;
    histograms.push(step === undefined ? before : addHistograms(before, parseHistogram(step), sign === "-" ? -1 : 1));
  }
  return histograms;
}
