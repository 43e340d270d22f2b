// Series in memory: what a file of series says, and what tests load.
// A storage with newer samples laid over it: what rules have recorded a moment ago and the store does not have yet.
import { lowerBound } from "../../core/collections/sorted-search.ts";
import type { LabelMatcher } from "./labels/label-matcher.ts";
import type { Labels } from "./labels/labels.ts";
import type { SeriesStorage, StoredSeries } from "./series-storage.ts";

/** Series that were added, in their order. */
export class MemoryStorage implements SeriesStorage {
  readonly #series = new Map<string, StoredSeries>();

  /** Adds samples of a series, ascending in time; of two at one time the later added counts. */
  add(labels: Labels, timesMs: Float64Array, values: Float64Array): void {
    const known = this.#series.get(labels.key);
    this.#series.set(labels.key, known === undefined ? { labels, timesMs, values } : merged(known, { labels, timesMs, values }));
  }

  /** The last moment at which there is a sample; 0 where there is none. */
  get lastMs(): number {
    let last = 0;
    for (const { timesMs } of this.#series.values()) last = Math.max(last, timesMs.at(-1) ?? 0);
    return last;
  }

  *select(matchers: readonly LabelMatcher[], fromMs: number, toMs: number): Iterable<StoredSeries> {
    for (const { labels, timesMs, values } of this.#series.values()) {
      if (!matchers.every((matcher) => matcher.matches(labels.get(matcher.name)))) continue;
      const from = lowerBound(timesMs, fromMs);
      const to = lowerBound(timesMs, toMs + 0.5);
      if (from < to) yield { labels, timesMs: timesMs.subarray(from, to), values: values.subarray(from, to) };
    }
  }
}

/** Both in one, by the bits of their values. */
function merged(known: StoredSeries, added: StoredSeries): StoredSeries {
  const length = known.timesMs.length + added.timesMs.length;
  const timesMs = new Float64Array(length);
  const values = new Float64Array(length);
  let count = 0;
  const take = ({ timesMs: times, values: from }: StoredSeries, index: number) => {
    timesMs[count] = times[index] as number;
    values.set(from.subarray(index, index + 1), count++);
  };
  let a = 0;
  for (let b = 0; b < added.timesMs.length; b++) {
    const time = added.timesMs[b] as number;
    for (; a < known.timesMs.length && (known.timesMs[a] as number) < time; a++) take(known, a);
    if (known.timesMs[a] === time) a++;
    take(added, b);
  }
  for (; a < known.timesMs.length; a++) take(known, a);
  return { labels: added.labels, timesMs: timesMs.subarray(0, count), values: values.subarray(0, count) };
}

/** Series of both, those of one set of labels as one. */
export class OverlaidStorage implements SeriesStorage {
  readonly #below: SeriesStorage;
  readonly #above: MemoryStorage;

  constructor(below: SeriesStorage, above: MemoryStorage) {
    this.#below = below;
    this.#above = above;
  }

  *select(matchers: readonly LabelMatcher[], fromMs: number, toMs: number): Iterable<StoredSeries | undefined> {
    const above = new Map([...this.#above.select(matchers, fromMs, toMs)].map((series) => [series.labels.key, series]));
    for (const series of this.#below.select(matchers, fromMs, toMs)) {
      if (series === undefined) {
        yield undefined;
        continue;
      }
      const newer = above.get(series.labels.key);
      above.delete(series.labels.key);
      yield newer === undefined ? series : together(series, newer);
    }
    yield* above.values();
  }
}

function together(older: StoredSeries, newer: StoredSeries): StoredSeries {
  const both = new MemoryStorage();
  both.add(older.labels, older.timesMs, older.values);
  both.add(newer.labels, newer.timesMs, newer.values);
  const [series] = both.select([], Number.NEGATIVE_INFINITY, Number.MAX_SAFE_INTEGER);
  return series as StoredSeries;
}
