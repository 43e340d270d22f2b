// The storage of one query: series of the streams that its selectors mean, read from stored blocks partition by partition and decoded one series at a time.
import type { StoreReader } from "../../adapters/storage/key-value-store.ts";
import { groupBy } from "../../core/collections/grouping.ts";
import { lowerBound } from "../../core/collections/sorted-search.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { ChunkBlock, idText } from "../../domain/codec/chunk-block.ts";
import { CHUNK_SAMPLES_MAX, isSentChunk, readSampleChunk } from "../../domain/codec/sample-chunk.ts";
import { SentSamples } from "../../domain/codec/sent-samples.ts";
import type { Evaluating } from "../../domain/promql/evaluation/sliced-evaluation.ts";
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { Labels } from "../../domain/promql/labels/labels.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import type { SeriesStorage, StoredSeries } from "../../domain/promql/series-storage.ts";
import { type BlockSpan, newestSpans } from "../../modules/series/block-rows.ts";
import { blockKey } from "../../modules/state/tables.ts";
import { type HourSums, readHourSums, withHourlyMeans } from "./hourly-means.ts";
import type { SelectedStream } from "./stream-selector.ts";

export interface StoredSeriesDependencies {
  readonly reader: StoreReader;
  readonly budget: QueryBudget;
  /** Streams by the text of their selector's matchers. */
  readonly streams: ReadonlyMap<string, readonly SelectedStream[]>;
  /** Called with each series that has sums where its values were not kept. */
  summed(metricName: string): void;
  /** Called with each series that has means of hours where its samples are past their retention. */
  averaged(metricName: string): void;
}

interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What of some streams lies in the store, by the texts of their ids. */
interface StoredParts {
  readonly chunks: StoredChunks;
  /** Of streams whose partitions have no samples as old as are asked for. */
  readonly hours: ReadonlyMap<string, HourSums>;
}

/** Chunks of stored blocks, oldest block first, by the text of their stream's id. */
type StoredChunks = ReadonlyMap<string, readonly Uint8Array[]>;
type ChunkLists = Map<string, Uint8Array[]>;

/** A block whose chunks end so long before a range is read where a counter's chunk began before it: what the chunk counts anew by may be there. */
const EARLIER_MS = HOUR_MS;

/** The text by which a selector's streams are found. */
export function selectorKey(matchers: readonly LabelMatcher[]): string {
  return matchers.join(",");
}

/** Reads the series of one query, lazily. */
export class StoredSeriesStorage implements SeriesStorage {
  readonly #dependencies: StoredSeriesDependencies;

  constructor(dependencies: StoredSeriesDependencies) {
    this.#dependencies = dependencies;
  }

  *select(matchers: readonly LabelMatcher[], fromMs: number, toMs: number): Iterable<StoredSeries | undefined> {
    const streams = this.#dependencies.streams.get(selectorKey(matchers)) ?? [];
    // What is kept for reading alone may be from before the first value.
    const wanted = streams.filter(({ lastTimeMs }) => (lastTimeMs ?? toMs) >= fromMs);
    const parts = yield* this.#partsOf(wanted, { fromMs, toMs });
    for (let first = 0; first < wanted.length; ) {
      const { labels } = wanted[first] as SelectedStream;
      let end = first + 1;
      while (end < wanted.length && Labels.compare((wanted[end] as SelectedStream).labels, labels) === 0) end++;
      const series = this.#seriesOf(wanted.slice(first, end), parts, { fromMs, toMs });
      if (series.timesMs.length > 0) yield series;
      first = end;
    }
  }

  /** The series of streams that have the same labels: one, but where attributes differ in what labels do not say. */
  #seriesOf(streams: readonly SelectedStream[], { chunks, hours }: StoredParts, span: TimeSpan): StoredSeries {
    const [{ labels, isCounter }] = streams as [SelectedStream];
    const all = streams.flatMap(({ streamId, waiting }) => [...(chunks.get(idText(streamId)) ?? []), ...waiting]);
    const sent = new SentSamples(isCounter, all.length);
    for (const chunk of all) if (!sent.add(chunk)) throw new Error("a stored chunk does not decode");
    const raw = sent.finish();
    if (raw.hasSums) this.#dependencies.summed(labels.metricName);
    const older = streams.map(({ streamId }) => hours.get(idText(streamId))).find((one) => one !== undefined && one.size > 0);
    const { timesMs, values } = older === undefined ? raw : withHourlyMeans(raw, older, isCounter, span);
    const [from, to] = [lowerBound(timesMs, span.fromMs), lowerBound(timesMs, span.toMs + 0.5)];
    if (timesMs !== raw.timesMs && (timesMs[from] as number) < (raw.timesMs[0] ?? Number.POSITIVE_INFINITY)) {
      this.#dependencies.averaged(labels.metricName);
    }
    return { labels, timesMs: timesMs.subarray(from, to), values: values.subarray(from, to) };
  }

  *#partsOf(streams: readonly SelectedStream[], span: TimeSpan): Evaluating<StoredParts> {
    const chunks = new Map<string, Uint8Array[]>();
    const hours = new Map<string, HourSums>();
    for (const [partition, wanted] of groupBy(streams, (stream) => stream.partition)) {
      const spans = [...newestSpans(this.#dependencies.reader, partition, 0)].reverse();
      yield* this.#addChunks(spans, wanted, span, chunks);
      const oldestMs = spans.reduce((oldest, { minMs }) => Math.min(oldest, minMs), Number.POSITIVE_INFINITY);
      if (span.fromMs < oldestMs) this.#addHours(partition, wanted, span, hours);
    }
    return { chunks, hours };
  }

  #addHours(partition: number, wanted: readonly SelectedStream[], span: TimeSpan, hours: Map<string, HourSums>): void {
    const { reader, budget } = this.#dependencies;
    const ids = wanted.map(({ streamId }) => streamId);
    for (const [index, sums] of readHourSums({ reader, budget, partition }, ids, span).entries())
      hours.set(idText(ids[index] as Uint8Array), sums);
  }

  /** Chunks that overlap the span; of counters whose chunks begin long before it also what was sent in place of their sums meanwhile, such as where they began anew. */
  *#addChunks(spans: readonly BlockSpan[], wanted: readonly SelectedStream[], span: TimeSpan, chunks: ChunkLists): Evaluating<void> {
    const earlyMs = span.fromMs - EARLIER_MS;
    const overlapping = spans.filter(({ minMs, maxMs }) => maxMs >= earlyMs && minMs <= span.toMs);
    yield* this.#readBlocks(overlapping, wanted, () => true, chunks);
    const long = new Map<SelectedStream, number>();
    for (const stream of wanted) {
      const startMs = stream.isCounter ? startOf([chunks.get(idText(stream.streamId))?.[0], stream.waiting[0]]) : earlyMs;
      if (startMs < earlyMs) long.set(stream, startMs);
    }
    if (long.size === 0) return;
    const longestMs = [...long.values()].reduce((least, ms) => Math.min(least, ms));
    const before = spans.filter(({ maxMs }) => maxMs < earlyMs && maxMs >= longestMs);
    const earlier: ChunkLists = new Map();
    yield* this.#readBlocks(before, [...long.keys()], isSentChunk, earlier);
    for (const [id, own] of earlier) chunks.set(id, [...own, ...(chunks.get(id) ?? [])]);
  }

  *#readBlocks(
    spans: readonly BlockSpan[],
    wanted: readonly SelectedStream[],
    isWanted: (chunk: Uint8Array) => boolean,
    chunks: ChunkLists,
  ): Evaluating<void> {
    const { reader, budget } = this.#dependencies;
    for (const { partition, block } of spans) {
      budget.check();
      if (budget.isSliceOver) yield;
      const bytes = reader.get("blocks", blockKey(partition, block));
      if (bytes === undefined) continue; // it went since its span was read: past its time
      const opened = ChunkBlock.openUnchecked(bytes);
      if (opened === undefined) throw new Error("a stored block does not open");
      for (const { streamId } of wanted) {
        for (const { chunk } of opened.chunksOf(streamId)) {
          if (!isWanted(chunk)) continue;
          const id = idText(streamId);
          const of = chunks.get(id) ?? [];
          chunks.set(id, of);
          of.push(chunk.slice());
          budget.reserve(chunk.length);
        }
      }
    }
  }
}

const times = new Float64Array(CHUNK_SAMPLES_MAX);
const values = new Float64Array(CHUNK_SAMPLES_MAX);

/** The first time of chunks; of none, or of what does not decode, Infinity. */
function startOf(chunks: ReadonlyArray<Uint8Array | undefined>): number {
  let startMs = Number.POSITIVE_INFINITY;
  for (const chunk of chunks) {
    if (chunk !== undefined && readSampleChunk(chunk, times, values) !== undefined) startMs = Math.min(startMs, times[0] as number);
  }
  return startMs;
}
