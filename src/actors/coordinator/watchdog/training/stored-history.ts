// The samples behind a service's vectors, from everywhere they lie: what its engine holds, and the stored blocks of its partition, each read once for all
// streams. Where two places hold a sample of the same time, the newer place wins, as for queries (queries/stored-samples.ts).
import type { KeyValueStore } from "../../../../adapters/storage/key-value-store.ts";
import { SERIES_DATA_BLOCKS_MAX, SERVICE_TRAINING_SAMPLES_MAX } from "../../../../core/config/limits.ts";
import type { ServiceHistoryAnswer } from "../../../../core/protocol/engine-control.ts";
import { ChunkBlock } from "../../../../domain/codec/chunk-block.ts";
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../../../../domain/codec/sample-chunk.ts";
import type { StreamSamples } from "../../../../domain/detection/multivariate/service-rows.ts";
import { type BlockSpan, newestSpans } from "../../tables/block-rows.ts";
import { blockKey } from "../../tables/tables.ts";

const STREAM_ID_BYTES = 16;
/** Blocks read before others of the thread get a turn: 4 x 64 KiB with their chunks are about 1 ms. */
const BLOCKS_PER_BREATH = 4;
const SPANS_PER_BREATH = 1_000;

export interface StoredHistoryDependencies {
  readonly series: KeyValueStore;
  breathe(): Promise<void>;
}

/**
 * Samples of each stream from `fromMs` on, ascending. History ends where SERVICE_TRAINING_SAMPLES_MAX samples, or SERIES_DATA_BLOCKS_MAX blocks, are read;
 * newer blocks come first, so that the oldest samples are those that may be missing.
 */
export async function serviceSamples(
  answer: ServiceHistoryAnswer,
  partition: number,
  fromMs: number,
  { series, breathe }: StoredHistoryDependencies,
): Promise<StreamSamples[]> {
  const gathered = new HistorySet(answer, fromMs);
  const spans: BlockSpan[] = [];
  for (const span of newestSpans(series, partition, 0)) if (spans.push(span) % SPANS_PER_BREATH === 0) await breathe();
  let blocks = 0;
  for (const span of spans) {
    if (span.maxMs < fromMs) continue;
    if (gathered.isFull || ++blocks > SERIES_DATA_BLOCKS_MAX) break;
    if (blocks % BLOCKS_PER_BREATH === 0) await breathe();
    const bytes = series.get("blocks", blockKey(partition, span.block));
    if (bytes !== undefined) gathered.addBlock(bytes);
  }
  return gathered.sorted();
}

/** Samples by stream and time, the first that came for a time kept. */
class HistorySet {
  readonly #ids: readonly Uint8Array[];
  readonly #fromMs: number;
  readonly #values: ReadonlyArray<Map<number, number>>;
  readonly #times = new Float64Array(CHUNK_SAMPLES_MAX);
  readonly #chunk = new Float64Array(CHUNK_SAMPLES_MAX);
  #count = 0;

  constructor({ streamIds, counts, times, values, pendingChunks }: ServiceHistoryAnswer, fromMs: number) {
    this.#fromMs = fromMs;
    this.#ids = Array.from(counts, (_, stream) => streamIds.subarray(STREAM_ID_BYTES * stream, STREAM_ID_BYTES * (stream + 1)));
    this.#values = this.#ids.map(() => new Map());
    let at = 0;
    counts.forEach((count, stream) => {
      this.#add(stream, times.subarray(at), values.subarray(at), count);
      at += count;
    });
    for (const [stream, chunk] of [...pendingChunks].reverse()) this.#addChunk(stream, chunk);
  }

  get isFull(): boolean {
    return this.#count >= SERVICE_TRAINING_SAMPLES_MAX;
  }

  addBlock(bytes: Uint8Array): void {
    const block = ChunkBlock.open(bytes);
    if (block === undefined) throw new Error("a stored block does not open");
    for (const [stream, id] of this.#ids.entries()) {
      for (const { chunk } of [...block.chunksOf(id)].reverse()) this.#addChunk(stream, chunk);
    }
  }

  #addChunk(stream: number, chunk: Uint8Array): void {
    const count = decodeSampleChunk(chunk, this.#times, this.#chunk);
    if (count === undefined) throw new Error("a stored chunk does not decode");
    this.#add(stream, this.#times, this.#chunk, count);
  }

  #add(stream: number, times: Float64Array, values: Float64Array, count: number): void {
    const known = this.#values[stream] as Map<number, number>;
    const before = known.size;
    for (let i = 0; i < count; i++) {
      const time = times[i] as number;
      if (time >= this.#fromMs && !known.has(time)) known.set(time, values[i] as number);
    }
    this.#count += known.size - before;
  }

  sorted(): StreamSamples[] {
    return this.#values.map((known) => {
      const times = Float64Array.from(known.keys()).sort();
      return { times, values: times.map((time) => known.get(time) as number) };
    });
  }
}
