// What a test of rules queries: its input as far as its clock has come, and what its rules have recorded. Samples are appended in time, as a server takes them.
import { lowerBound } from "../../../core/collections/sorted-search.ts";
import type { LabelMatcher } from "../../promql/labels/label-matcher.ts";
import type { Labels } from "../../promql/labels/labels.ts";
import { QueryError } from "../../promql/query-error.ts";
import type { SeriesStorage, StoredSeries } from "../../promql/series-storage.ts";
import { isStale, markStale } from "../../promql/stale-marker.ts";
import type { RuleSample } from "../evaluation/alerting-evaluation.ts";
import { histogramText, isIncrease, type NativeHistogram } from "./described-histogram.ts";
import type { InputSeries } from "./input-series.ts";

const CAPACITY = 64;

/** A series that grows at its end. */
class GrowingSeries {
  readonly labels: Labels;
  #timesMs = new Float64Array(CAPACITY);
  #values = new Float64Array(CAPACITY);
  #count = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  /** Appends a sample; what is not later than the last is refused, as it is out of order. */
  append(timeMs: number, values: Float64Array, index: number): void {
    if (this.#count > 0 && timeMs <= (this.#timesMs[this.#count - 1] as number)) return;
    if (this.#count === this.#timesMs.length) {
      this.#timesMs = grown(this.#timesMs);
      this.#values = grown(this.#values);
    }
    this.#timesMs[this.#count] = timeMs;
    // By its bits: a stale marker is a NaN of its own.
    this.#values.set(values.subarray(index, index + 1), this.#count++);
  }

  between(fromMs: number, toMs: number): StoredSeries | undefined {
    const times = this.#timesMs.subarray(0, this.#count);
    const from = lowerBound(times, fromMs);
    const to = lowerBound(times, toMs + 0.5);
    return from < to ? { labels: this.labels, timesMs: times.subarray(from, to), values: this.#values.subarray(from, to) } : undefined;
  }
}

function grown(array: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** A native histogram that was selected. */
export interface SelectedHistogram {
  readonly labels: Labels;
  readonly text: string;
}

/** Series of one test, from its input and its rules. */
export class TestStorage implements SeriesStorage {
  readonly #series = new Map<string, GrowingSeries>();
  readonly #input: ReadonlyArray<{ readonly series: InputSeries; next: number }>;
  readonly #one = new Float64Array(1);
  #untilMs = -Infinity;

  constructor(input: readonly InputSeries[]) {
    this.#input = input.map((series) => ({ series, next: 0 }));
  }

  /** Lets the input go on up to a moment, that included. */
  advance(untilMs: number): void {
    this.#untilMs = untilMs;
    for (const entry of this.#input) {
      const { labels, timesMs, values } = entry.series;
      for (; entry.next < timesMs.length && (timesMs[entry.next] as number) <= untilMs; entry.next++) {
        this.#of(labels).append(timesMs[entry.next] as number, values, entry.next);
      }
    }
  }

  /** Takes what rules have recorded. */
  record(samples: readonly RuleSample[]): void {
    for (const { labels, timeMs, value, isStale: ends } of samples) {
      this.#one[0] = value;
      if (ends) markStale(this.#one, 0);
      this.#of(labels).append(timeMs, this.#one, 0);
    }
  }

  #of(labels: Labels): GrowingSeries {
    const known = this.#series.get(labels.key) ?? new GrowingSeries(labels);
    this.#series.set(labels.key, known);
    return known;
  }

  *select(matchers: readonly LabelMatcher[], fromMs: number, toMs: number): Iterable<StoredSeries> {
    if (this.#histograms(matchers).length > 0) throw new QueryError("a native histogram can only be selected by itself here");
    for (const series of this.#series.values()) {
      if (!matches(matchers, series.labels)) continue;
      const found = series.between(fromMs, toMs);
      if (found !== undefined) yield found;
    }
  }

  #histograms(matchers: readonly LabelMatcher[]): InputSeries[] {
    return this.#input.map(({ series }) => series).filter(({ histograms, labels }) => histograms.size > 0 && matches(matchers, labels));
  }

  /** Native histograms that a selector finds at a moment; undefined where it matches no series of them. */
  selectHistograms(matchers: readonly LabelMatcher[], timeMs: number, lookbackMs: number): readonly SelectedHistogram[] | undefined {
    const series = this.#histograms(matchers);
    if (series.length === 0) return undefined;
    const untilMs = Math.min(timeMs, this.#untilMs);
    return series.flatMap((one) => {
      const text = latest(one, untilMs, timeMs - lookbackMs);
      return text === undefined ? [] : [{ labels: one.labels, text }];
    });
  }
}

function matches(matchers: readonly LabelMatcher[], labels: Labels): boolean {
  return matchers.every((matcher) => matcher.matches(labels.get(matcher.name)));
}

/** The last histogram up to a moment, after another, with what it is to the one before. */
function latest({ histograms, timesMs, values }: InputSeries, untilMs: number, afterMs: number): string | undefined {
  const moments = [...histograms.keys()].filter((ms) => ms <= untilMs).sort((a, b) => a - b);
  const lastMs = moments.at(-1);
  if (lastMs === undefined || lastMs <= afterMs) return undefined;
  const hasEnded = timesMs.some((ms, index) => ms > lastMs && ms <= untilMs && isStale(values, index));
  if (hasEnded) return undefined;
  const last = histograms.get(lastMs) as NativeHistogram;
  const before = histograms.get(moments.at(-2) ?? Number.NaN);
  if (before === undefined || last.has("counter_reset_hint")) return histogramText(last);
  return histogramText(new Map([...last, ["counter_reset_hint", isIncrease(before, last) ? "not_reset" : "reset"]]));
}
