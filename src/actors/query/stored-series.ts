// The storage of one query: series of the streams that its selectors mean, read from stored blocks partition by partition and decoded one series at a time.
import type { StoreReader } from "../../adapters/storage/key-value-store.ts";
import { ChunkBlock } from "../../domain/codec/chunk-block.ts";
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { Labels } from "../../domain/promql/labels/labels.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import type { SeriesStorage, StoredSeries } from "../../domain/promql/series-storage.ts";
import { newestSpans } from "../../modules/series/block-rows.ts";
import { blockKey } from "../../modules/state/tables.ts";
import { StreamSamples } from "./stream-samples.ts";
import { idText, type SelectedStream } from "./stream-selector.ts";

export interface StoredSeriesDependencies {
  readonly reader: StoreReader;
  readonly budget: QueryBudget;
  /** Streams by the text of their selector's matchers. */
  readonly streams: ReadonlyMap<string, readonly SelectedStream[]>;
  /** Told of each series whose values are not as they were sent. */
  summed(metricName: string): void;
}

/** Chunks of stored blocks, oldest block first, by the text of their stream's id. */
type StoredChunks = ReadonlyMap<string, readonly Uint8Array[]>;

/** The text by which a selector's streams are found. */
export function selectorKey(matchers: readonly LabelMatcher[]): string {
  return matchers.join(",");
}

/** Reads the series of one query, lazily. */
export class StoredSeriesStorage implements SeriesStorage {
  readonly #dependencies: StoredSeriesDependencies;
  readonly #samples = new StreamSamples();

  constructor(dependencies: StoredSeriesDependencies) {
    this.#dependencies = dependencies;
  }

  *select(matchers: readonly LabelMatcher[], fromMs: number, toMs: number): Iterable<StoredSeries> {
    const streams = this.#dependencies.streams.get(selectorKey(matchers)) ?? [];
    const wanted = streams.filter(({ firstTimeMs, lastTimeMs }) => (firstTimeMs ?? fromMs) <= toMs && (lastTimeMs ?? toMs) >= fromMs);
    const chunks = this.#chunksOf(wanted, fromMs, toMs);
    for (let first = 0; first < wanted.length; ) {
      const { labels } = wanted[first] as SelectedStream;
      let end = first + 1;
      while (end < wanted.length && Labels.compare((wanted[end] as SelectedStream).labels, labels) === 0) end++;
      const series = this.#seriesOf(wanted.slice(first, end), chunks, fromMs, toMs);
      if (series.timesMs.length > 0) yield series;
      first = end;
    }
  }

  /** The series of streams that have the same labels: one, but where attributes differ in what labels do not say. */
  #seriesOf(streams: readonly SelectedStream[], chunks: StoredChunks, fromMs: number, toMs: number): StoredSeries {
    const [{ labels }] = streams as [SelectedStream];
    this.#samples.clear();
    for (const { streamId, waiting, ring } of streams) {
      for (const chunk of chunks.get(idText(streamId)) ?? []) this.#samples.addChunk(chunk);
      for (const chunk of waiting) this.#samples.addChunk(chunk);
      this.#samples.add(ring, ring.timesMs.length);
    }
    const series = { labels, ...this.#samples.between(fromMs, toMs) };
    if (streams.some(({ isCounter }) => isCounter)) {
      this.#dependencies.summed(labels.metricName);
      runningSums(series.values);
    }
    return series;
  }

  #chunksOf(streams: readonly SelectedStream[], fromMs: number, toMs: number): StoredChunks {
    const byPartition = new Map<number, SelectedStream[]>();
    for (const stream of streams) {
      const of = byPartition.get(stream.partition);
      if (of === undefined) byPartition.set(stream.partition, [stream]);
      else of.push(stream);
    }
    const chunks = new Map<string, Uint8Array[]>();
    for (const [partition, wanted] of byPartition) this.#addChunks(partition, wanted, { fromMs, toMs }, chunks);
    return chunks;
  }

  #addChunks(
    partition: number,
    wanted: readonly SelectedStream[],
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
    chunks: Map<string, Uint8Array[]>,
  ): void {
    const { reader, budget } = this.#dependencies;
    const spans = [...newestSpans(reader, partition, 0)].filter(({ minMs, maxMs }) => maxMs >= fromMs && minMs <= toMs).reverse();
    for (const { block } of spans) {
      budget.check();
      const bytes = reader.get("blocks", blockKey(partition, block));
      if (bytes === undefined) continue; // it went since its span was read: past its time
      const opened = ChunkBlock.openUnchecked(bytes);
      if (opened === undefined) throw new Error("a stored block does not open");
      for (const { streamId } of wanted) {
        for (const { chunk } of opened.chunksOf(streamId)) {
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

/** Counters are stored as what they rose by: the sum from the first value that was read rises as the counter did. */
function runningSums(values: Float64Array): void {
  let sum = 0;
  for (let index = 0; index < values.length; index++) {
    sum += values[index] as number;
    values[index] = sum;
  }
}
