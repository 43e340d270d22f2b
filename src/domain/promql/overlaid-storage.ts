// A storage with newer samples laid over it: what rules have recorded a moment ago and the store does not have yet.
import type { LabelMatcher } from "./labels/label-matcher.ts";
import { MemoryStorage } from "./memory-storage.ts";
import type { SeriesStorage, StoredSeries } from "./series-storage.ts";

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
