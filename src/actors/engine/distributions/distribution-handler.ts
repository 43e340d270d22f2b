// The shard's side of histograms and summaries: points become the series `<metric>.p50 .p95 .p99 .count .sum`, per interval; an interval without values
// gives none. Of each series with cumulative points the newest few are kept, and written into checkpoints, so that a start goes on where it was; a
// point that comes again changes nothing. Of a histogram of OTLP with explicit buckets there are series for queries as well; of one of delta temporality the total is kept
// for them, among the points of the checkpoint.
import { QUERY_ONLY_SHARE } from "../../../core/config/promql-limits.ts";
import type { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import { PARTITIONS, STREAM_SLOTS_MAX } from "../../../core/layout/memory-map.ts";
import { SECTION_DISTRIBUTION } from "../../../core/layout/row-frame.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { totalWith } from "../../../domain/distribution/classic-buckets.ts";
import {
  COUNT_SUFFIX,
  deriveQuantiles,
  deriveValues,
  QUANTILES,
  SUM_SUFFIX,
  suffixOf,
} from "../../../domain/distribution/derived-values.ts";
import type { Distribution } from "../../../domain/distribution/distribution.ts";
import { distributionText, readDistribution, readDistributionText } from "../../../domain/distribution/distribution-coding.ts";
import type { Interval } from "../../../domain/distribution/interval.ts";
import { PointHistory } from "../../../domain/distribution/point-history.ts";
import { readPointMessage } from "../../../domain/distribution/point-message.ts";
import { readSeriesState, StatePieces, writeSeriesState } from "../../../domain/distribution/series-state.ts";
import { identityName } from "../../../domain/series/stream-identity.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { DerivedSeries } from "../shard/derived-series.ts";
import type { MessageArrival, MessageHandler } from "../shard/message-handler.ts";
import { DerivedQuantiles } from "./derived-quantiles.ts";
import { QueriedHistogram, type QueriedHistogramDependencies } from "./queried-histogram.ts";

export interface DistributionHandlerOptions {
  readonly seriesLimit: number;
  /** STREAM_IDLE_HOURS in ms. */
  readonly idleMs: number;
  /** False: cumulative points are taken as they stand (OTEL_TEMPORALITY_NORMALIZE). */
  readonly normalize: boolean;
}

export interface DistributionHandlerDependencies {
  readonly series: DerivedSeries;
  readonly counters: EngineCounters;
  /** How many streams the engine has in memory. */
  readonly streams: () => number;
  /** Who holds how many series, and bytes of them. */
  readonly shares: { readonly series: ShareLedger; readonly bytes: ShareLedger };
}

interface PointSeries {
  readonly tenant: string;
  readonly derived: DerivedQuantiles;
  readonly queried: QueriedHistogram;
  readonly history: PointHistory;
  /** Sum of the points of delta temporality so far, for queries. */
  total: Distribution | undefined;
  /** Time of the newest point, of whatever temporality. */
  newestMs: number;
  /** Wall clock of the tick before its last point. */
  touchedMs: number;
}

const STANDARD_SUFFIXES = [...QUANTILES.map(({ suffix }) => suffix), COUNT_SUFFIX, SUM_SUFFIX];

/** Points of the partitions of one engine. */
export class DistributionHandler implements MessageHandler {
  readonly kind = SECTION_DISTRIBUTION;
  readonly #options: DistributionHandlerOptions;
  readonly #dependencies: DistributionHandlerDependencies;
  /** By partition and identity. */
  readonly #series: ReadonlyArray<Map<string, PointSeries>> = Array.from({ length: PARTITIONS }, () => new Map());
  readonly #ofQueried: QueriedHistogramDependencies;
  #sweeping = 0;
  #wallMs = 0;

  constructor(options: DistributionHandlerOptions, dependencies: DistributionHandlerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#ofQueried = {
      series: dependencies.series,
      streamsMax: () => this.#queryOnlyStreamsMax(),
      countRefused: () => dependencies.counters.add("histogramsNotQueried", 1),
    };
  }

  take(partition: number, payload: Uint8Array, { arrivalMs }: MessageArrival): void {
    const { identity, bytes } = readPointMessage(payload);
    const point = readDistribution({ bytes, at: 0, end: bytes.length });
    if (point === undefined) throw new Error("a logged point of a histogram cannot be read");
    const series = this.#seriesOf(partition, identity, point.isStale);
    if (series === undefined) return;
    if (point.isStale) this.#end(series, point, arrivalMs);
    else if (point.temporality === "cumulative" && this.#options.normalize) this.#takeCumulative(series, point, bytes, arrivalMs);
    else this.#emit(series, { added: point, restart: "none" }, arrivalMs);
    if (point.kind === "explicit" && point.isNative !== true && !point.isStale) this.#writeQueried(series, point, arrivalMs);
    series.newestMs = Math.max(series.newestMs, point.timeMs);
    series.touchedMs = this.#wallMs;
    this.#dependencies.series.flush();
  }

  /** The series of an identity, which is made at first sight; undefined when there is no room, or for the end of one that is not known. */
  #seriesOf(partition: number, identity: string, isEnd: boolean): PointSeries | undefined {
    const all = this.#series[partition] as Map<string, PointSeries>;
    const known = all.get(identity);
    if (known !== undefined || isEnd) return known;
    const { shares, counters } = this.#dependencies;
    const name = streamName(identity);
    const hasBytes = shares.bytes.available(name.tenant) > 0;
    if (hasBytes && shares.series.available(name.tenant) > 0) return this.#add(all, identity, name);
    (hasBytes ? shares.series : shares.bytes).refuse(name.tenant);
    counters.add("distributionsRefused", 1);
    return undefined;
  }

  #add(all: Map<string, PointSeries>, identity: string, name: StreamName): PointSeries {
    const { series, counters } = this.#dependencies;
    const { tenant } = name;
    const derived = new DerivedQuantiles(name, {
      series,
      seriesLimit: this.#options.seriesLimit,
      countRefused: () => counters.add("derivedRefused", 1),
    });
    const queried = new QueriedHistogram(name, this.#ofQueried);
    const added = { tenant, derived, queried, history: new PointHistory(), total: undefined, newestMs: 0, touchedMs: this.#wallMs };
    all.set(identity, added);
    this.#account(tenant, 1, identity.length);
    return added;
  }

  #account(tenant: string, series: number, bytes: number): void {
    const { shares, counters } = this.#dependencies;
    shares.series.add(tenant, series);
    shares.bytes.add(tenant, bytes);
    counters.set("distributions", shares.series.taken);
    counters.set("distributionBytes", shares.bytes.taken);
  }

  /** What is for queries alone leaves room for what is judged, in the tenant's share and in the engine. */
  #queryOnlyStreamsMax(): number {
    const isEngineFull = this.#dependencies.streams() >= QUERY_ONLY_SHARE * STREAM_SLOTS_MAX;
    return isEngineFull ? 0 : QUERY_ONLY_SHARE * this.#options.seriesLimit;
  }

  /** Writes what queries read: a cumulative point as it is, one of delta temporality added to those before. */
  #writeQueried(series: PointSeries, point: Distribution, arrivalMs: number): void {
    if (point.temporality === "cumulative") return series.queried.write(point, arrivalMs);
    const total = totalWith(series.total, point);
    if (total === undefined) return;
    this.#account(series.tenant, 0, totalBytes(total) - totalBytes(series.total));
    series.total = total;
    series.queried.write(total, arrivalMs);
  }

  #takeCumulative(series: PointSeries, point: Distribution, bytes: Uint8Array, arrivalMs: number): void {
    const before = series.history.bytes;
    const isFirst = series.newestMs === 0;
    const emit = (interval: Interval) => this.#emit(series, interval, arrivalMs);
    const placed = series.history.take(point, bytes, emit);
    if (placed === "late") this.#dependencies.counters.add("distributionsLate", 1);
    // What a summary says of itself needs no point before.
    if (isFirst && point.kind === "summary")
      deriveQuantiles(point, (suffix, value, width) => series.derived.write(suffix, { timeMs: point.timeMs, value, width, arrivalMs }));
    this.#account(series.tenant, 0, series.history.bytes - before);
  }

  #emit({ derived }: PointSeries, { added, restart }: Interval, arrivalMs: number): void {
    const isRestart = restart !== "none";
    deriveValues(added, (suffix, value, width) => derived.write(suffix, { timeMs: added.timeMs, value, width, arrivalMs, isRestart }));
  }

  #end({ derived, queried, history }: PointSeries, { timeMs }: Distribution, arrivalMs: number): void {
    const last = history.newest;
    const isSummary = last?.kind === "summary";
    const suffixes = isSummary
      ? [...last.quantiles.map(({ quantile }) => suffixOf(quantile)), COUNT_SUFFIX, SUM_SUFFIX]
      : STANDARD_SUFFIXES;
    derived.end(suffixes, timeMs, arrivalMs);
    queried.end(timeMs, arrivalMs);
  }

  *save(partition: number): Generator<Uint8Array> {
    const pieces = new StatePieces();
    for (const [identity, { history, total, newestMs }] of this.#series[partition] as Map<string, PointSeries>) {
      const { isTrimmed, texts } = history;
      const points = total === undefined ? texts : [...texts, distributionText(total)];
      writeSeriesState(pieces.writer, { identity, newestMs, isTrimmed, points });
      yield* pieces.full();
    }
    yield* pieces.rest();
  }

  restore(partition: number, piece: Uint8Array): void {
    const all = this.#series[partition] as Map<string, PointSeries>;
    for (const { identity, newestMs, isTrimmed, points } of readSeriesState(piece)) {
      const series = this.#add(all, identity, streamName(identity));
      series.newestMs = newestMs;
      const last = points.length === 0 ? undefined : readDistributionText(points.at(-1) as string);
      series.total = last?.temporality === "delta" ? last : undefined; // the points before are cumulative ones
      series.history.restore(series.total === undefined ? points : points.slice(0, -1), isTrimmed);
      this.#account(series.tenant, 0, series.history.bytes + totalBytes(series.total));
    }
  }

  /** Forgets series without a point for as long as streams may be idle: the next partition's, at 20 ns each. */
  onInterval(wallMs: number): void {
    const all = this.#series[this.#sweeping] as Map<string, PointSeries>;
    this.#sweeping = (this.#sweeping + 1) % PARTITIONS;
    this.#wallMs = wallMs;
    for (const [identity, { tenant, history, total, newestMs, touchedMs }] of all) {
      if (Math.max(newestMs, touchedMs) >= wallMs - this.#options.idleMs) continue;
      all.delete(identity);
      this.#account(tenant, -1, -identity.length - history.bytes - totalBytes(total));
    }
  }
}

/** Bytes that a total takes, about: its bounds and counts, and 100 for what else it has. */
function totalBytes(total: Distribution | undefined): number {
  return total === undefined ? 0 : 100 + 16 * total.bounds.length;
}

function streamName(identity: string): StreamName {
  return identityName(Buffer.from(identity, "latin1").toString("utf8"));
}
