// The storage of one query: series of the streams that its selectors mean, read from stored blocks partition by partition and decoded one series at a time.
import type { StoreReader } from "../../adapters/storage/key-value-store.ts";
import { lowerBound } from "../../core/collections/sorted-search.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { ChunkBlock } from "../../domain/codec/chunk-block.ts";
import { SentSamples } from "../../domain/codec/sent-samples.ts";
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { Labels } from "../../domain/promql/labels/labels.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import type { SeriesStorage, StoredSeries } from "../../domain/promql/series-storage.ts";
import { newestSpans } from "../../modules/series/block-rows.ts";
import { blockKey } from "../../modules/state/tables.ts";
import { idText, type SelectedStream } from "./stream-selector.ts";

export interface StoredSeriesDependencies {
  readonly reader: StoreReader;
  readonly budget: QueryBudget;
  /** Streams by the text of their selector's matchers. */
  readonly streams: ReadonlyMap<string, readonly SelectedStream[]>;
  /** Called with each series that has sums where its values were not kept. */
  summed(metricName: string): void;
}

/** Chunks of stored blocks, oldest block first, by the text of their stream's id. */
type StoredChunks = ReadonlyMap<string, readonly Uint8Array[]>;

/** A counter's chunk may begin so long before a range, and count anew there by a value in an earlier block. */
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

  *select(matchers: readonly LabelMatcher[], fromMs: number, toMs: number): Iterable<StoredSeries> {
    const streams = this.#dependencies.streams.get(selectorKey(matchers)) ?? [];
    // What is kept for reading alone may be from before the first value.
    const wanted = streams.filter(({ lastTimeMs }) => (lastTimeMs ?? toMs) >= fromMs);
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
    const [{ labels, isCounter }] = streams as [SelectedStream];
    const all = streams.flatMap(({ streamId, waiting }) => [...(chunks.get(idText(streamId)) ?? []), ...waiting]);
    const sent = new SentSamples(isCounter, all.length);
    for (const chunk of all) if (!sent.add(chunk)) throw new Error("a stored chunk does not decode");
    const { timesMs, values, hasSums } = sent.finish();
    if (hasSums) this.#dependencies.summed(labels.metricName);
    const [from, to] = [lowerBound(timesMs, fromMs), lowerBound(timesMs, toMs + 0.5)];
    return { labels, timesMs: timesMs.subarray(from, to), values: values.subarray(from, to) };
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
    const spans = [...newestSpans(reader, partition, 0)]
      .filter(({ minMs, maxMs }) => maxMs >= fromMs - EARLIER_MS && minMs <= toMs)
      .reverse();
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
