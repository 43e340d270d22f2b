// The series that queries read a histogram of OTLP by: `_bucket`, `_count` and `_sum`. They are for queries alone (domain/series/query-only-series.ts).
// Sketch: a histogram of 15 buckets has 18 streams of 1.9 KB; 18 rows a point, 0.1 us each, and 5 us a stream once.
import { IDENTITY_BYTES_MAX } from "../../../core/config/limits.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import {
  BOUND_LABEL,
  BUCKET_SUFFIX,
  boundTexts,
  CLASSIC_BYTES_MAX,
  CLASSIC_COUNT_SUFFIX,
  CLASSIC_SUM_SUFFIX,
  haveSameBounds,
  valuesUpTo,
} from "../../../domain/distribution/classic-buckets.ts";
import type { Distribution } from "../../../domain/distribution/distribution.ts";
import { QUERY_ONLY_COUNTER, queryOnlyName } from "../../../domain/series/query-only-series.ts";
import { identityText } from "../../../domain/series/stream-identity.ts";
import type { DerivedSeries, DerivedStream } from "../shard/derived-series.ts";

export interface QueriedHistogramDependencies {
  readonly series: Pick<DerivedSeries, "openWithin" | "open" | "write" | "end">;
  /** How many streams a tenant may have with those that are made here. */
  readonly streamsMax: () => number;
  /** Told of each point that finds no room for its series. */
  readonly countRefused: () => void;
}

/** What is open of one histogram: the streams of its newest bounds. */
interface Streams {
  readonly bounds: readonly number[];
  /** By text of their bounds, and in their order. */
  readonly buckets: ReadonlyMap<string, DerivedStream>;
  readonly count: DerivedStream;
  readonly sum: DerivedStream;
}

/** The series of one histogram, all of them or none. */
export class QueriedHistogram {
  readonly #name: StreamName;
  readonly #dependencies: QueriedHistogramDependencies;
  #streams: Streams | undefined;

  constructor(name: StreamName, dependencies: QueriedHistogramDependencies) {
    this.#name = name;
    this.#dependencies = dependencies;
  }

  /** Writes a cumulative point as it was sent. */
  write(point: Distribution, arrivalMs: number): void {
    const streams = this.#streamsOf(point, arrivalMs);
    if (streams === undefined) return this.#dependencies.countRefused();
    const { series } = this.#dependencies;
    const { timeMs, count, sum } = point;
    const values = valuesUpTo(point);
    let index = 0;
    for (const stream of streams.buckets.values()) series.write(stream, timeMs, values[index++] as number, arrivalMs);
    series.write(streams.count, timeMs, count, arrivalMs);
    if (sum !== null) series.write(streams.sum, timeMs, sum, arrivalMs);
  }

  /** Ends them, as far as they have been written to. */
  end(timeMs: number, arrivalMs: number): void {
    if (this.#streams === undefined) return;
    const { buckets, count, sum } = this.#streams;
    for (const stream of [...buckets.values(), count, sum]) this.#dependencies.series.end(stream, timeMs, arrivalMs);
  }

  #streamsOf({ bounds, timeMs }: Distribution, arrivalMs: number): Streams | undefined {
    const known = this.#streams;
    if (known !== undefined && haveSameBounds(known.bounds, bounds)) return known;
    const fits = Buffer.byteLength(identityText(this.#name)) + CLASSIC_BYTES_MAX <= IDENTITY_BYTES_MAX;
    const opened = fits ? this.#open(bounds, known) : undefined;
    if (opened === undefined) return undefined;
    // A bound that the sender has no more is no part of its histogram.
    for (const [text, stream] of known?.buckets ?? [])
      if (!opened.buckets.has(text)) this.#dependencies.series.end(stream, timeMs, arrivalMs);
    this.#streams = opened;
    return opened;
  }

  #open(bounds: readonly number[], known: Streams | undefined): Streams | undefined {
    const { series, streamsMax } = this.#dependencies;
    const texts = boundTexts(bounds);
    const bucketName = (text: string) => queryOnlyName(this.#name, BUCKET_SUFFIX, { [BOUND_LABEL]: text });
    const missing = texts.filter((text) => known?.buckets.has(text) !== true);
    const needed = missing.length + (known === undefined ? 2 : 0);
    const [first = ""] = missing;
    // Where there is room for the first and all that come with it, there is for each of them.
    const stream = needed > 0 ? series.openWithin(bucketName(first), streamsMax() - needed + 1, QUERY_ONLY_COUNTER) : undefined;
    if (needed > 0 && stream === undefined) return undefined;
    const open = (name: StreamName) => series.open(name, QUERY_ONLY_COUNTER);
    const bucketOf = (text: string) =>
      known?.buckets.get(text) ?? (text === first && stream !== undefined ? stream : open(bucketName(text)));
    return {
      bounds,
      buckets: new Map(texts.map((text) => [text, bucketOf(text)])),
      count: known?.count ?? open(queryOnlyName(this.#name, CLASSIC_COUNT_SUFFIX)),
      sum: known?.sum ?? open(queryOnlyName(this.#name, CLASSIC_SUM_SUFFIX)),
    };
  }
}
