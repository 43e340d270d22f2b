// The samples behind a service's vectors, from everywhere they lie: what its engine holds, and the stored blocks of its partition, each read once for all
// streams. Chunks are gathered as they are; whoever trains decodes them. Where two places hold a sample of the same time, the newer place wins, as for queries
// (series/stored-samples.ts).
import { SERIES_DATA_BLOCKS_MAX, SERVICE_TRAINING_SAMPLES_MAX } from "../../../../core/config/limits.ts";
import type { ServiceHistoryAnswer } from "../../../../core/protocol/engine-control.ts";
import { type ChunkBlock, STREAM_ID_BYTES } from "../../../../domain/codec/chunk-block.ts";
import { ChunkPile, type StreamHistory } from "../../../../domain/detection/multivariate/stream-history.ts";
import { newestBlocks, type StoredBlocksDependencies } from "../../series/stored-blocks.ts";

/**
 * History of each stream from `fromMs` on. It ends where SERVICE_TRAINING_SAMPLES_MAX samples, or SERIES_DATA_BLOCKS_MAX blocks, are gathered; newer blocks come first, so
 * that the oldest samples are those that may be missing. Undefined once a stop has begun: the store may be closed.
 */
export async function serviceHistory(
  answer: ServiceHistoryAnswer,
  partition: number,
  fromMs: number,
  dependencies: StoredBlocksDependencies,
): Promise<StreamHistory[] | undefined> {
  const { paced, isStopping } = dependencies;
  const gathered = paced.do(() => new GatheredHistory(answer));
  let blocks = 0;
  for await (const block of newestBlocks(partition, fromMs, dependencies)) {
    if (gathered.isFull) break;
    paced.do(() => gathered.addBlock(block));
    if (++blocks === SERIES_DATA_BLOCKS_MAX) break;
  }
  return isStopping() ? undefined : paced.do(() => gathered.histories(fromMs));
}

/** What was found of each stream. */
class GatheredHistory {
  readonly #answer: ServiceHistoryAnswer;
  readonly #ids: readonly Uint8Array[];
  readonly #piles: readonly ChunkPile[];
  #samples = 0;

  constructor(answer: ServiceHistoryAnswer) {
    const { streamIds, counts, times, pendingChunks } = answer;
    this.#answer = answer;
    this.#ids = Array.from(counts, (_, stream) => streamIds.subarray(STREAM_ID_BYTES * stream, STREAM_ID_BYTES * (stream + 1)));
    this.#piles = this.#ids.map(() => new ChunkPile());
    this.#samples = times.length;
    for (const [stream, chunk] of [...pendingChunks].reverse()) this.#add(stream, chunk);
  }

  get isFull(): boolean {
    return this.#samples >= SERVICE_TRAINING_SAMPLES_MAX;
  }

  addBlock(block: ChunkBlock): void {
    for (const [stream, id] of this.#ids.entries()) {
      for (const { chunk } of [...block.chunksOf(id)].reverse()) this.#add(stream, chunk);
    }
  }

  #add(stream: number, chunk: Uint8Array): void {
    (this.#piles[stream] as ChunkPile).add(chunk);
    this.#samples += chunk[0] ?? 0;
  }

  histories(fromMs: number): StreamHistory[] {
    const { counts, times, values } = this.#answer;
    let end = 0;
    return this.#piles.map((pile, stream) => {
      const begin = end;
      end += counts[stream] as number;
      return { times: times.slice(begin, end), values: values.slice(begin, end), stored: pile.stored(fromMs) };
    });
  }
}
