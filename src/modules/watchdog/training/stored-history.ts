// The samples behind a service's vectors, from everywhere they lie: what its engine holds, and the stored blocks of its partition, each read once for all
// streams. Chunks are written as they are into the input of the training; whoever trains decodes them. Where two places hold a sample of the same time, the newer place wins, as for queries
// (series/stored-samples.ts).
import { SERIES_DATA_BLOCKS_MAX, SERVICE_TRAINING_SAMPLES_MAX } from "../../../core/config/limits.ts";
import type { ServiceHistoryAnswer } from "../../../core/protocol/engine-control.ts";
import { type ChunkBlock, STREAM_ID_BYTES } from "../../../domain/codec/chunk-block.ts";
import { judgedSamplesOf } from "../../../domain/codec/sample-chunk.ts";
import { type TrainingInput, TrainingInputWriter, type TrainingRequest } from "../../../domain/detection/multivariate/training-input.ts";
import { newestBlocks, type StoredBlocksDependencies } from "../../series/stored-blocks.ts";

/** Parts of an input besides what the engine says of the service. */
export type HistoryRequest = Omit<TrainingRequest, "starts" | "aggregations"> & { readonly fromMs: number };

/**
 * The input of a training: the history of each stream from `fromMs` on. It ends where SERVICE_TRAINING_SAMPLES_MAX samples, or SERIES_DATA_BLOCKS_MAX blocks, are gathered; newer blocks come first, so
 * that the oldest samples are those that may be missing. Undefined once a stop has begun: the store may be closed.
 */
export async function serviceHistory(
  answer: ServiceHistoryAnswer,
  partition: number,
  request: HistoryRequest,
  dependencies: StoredBlocksDependencies,
): Promise<TrainingInput | undefined> {
  const { paced, isStopping } = dependencies;
  const gathered = paced.do(() => new GatheredHistory(answer));
  let blocks = 0;
  for await (const block of newestBlocks(partition, request.fromMs, dependencies)) {
    if (gathered.isFull) break;
    paced.do(() => gathered.addBlock(block));
    if (++blocks === SERIES_DATA_BLOCKS_MAX) break;
  }
  return isStopping() ? undefined : paced.do(() => gathered.input(request));
}

/** History that was found of each stream. */
class GatheredHistory {
  readonly #answer: ServiceHistoryAnswer;
  readonly #ids: readonly Uint8Array[];
  readonly #writer: TrainingInputWriter;
  #samples = 0;
  #hasCapacity = true;

  constructor(answer: ServiceHistoryAnswer) {
    const { streamIds, counts, times, pendingChunks, aggregations } = answer;
    this.#answer = answer;
    this.#ids = Array.from(counts, (_, stream) => streamIds.subarray(STREAM_ID_BYTES * stream, STREAM_ID_BYTES * (stream + 1)));
    this.#writer = new TrainingInputWriter({ streams: counts.length, samples: times.length, metrics: aggregations.length });
    this.#samples = times.length;
    for (const [stream, chunk] of [...pendingChunks].reverse()) this.#add(stream, chunk);
  }

  get isFull(): boolean {
    return !this.#hasCapacity || this.#samples >= SERVICE_TRAINING_SAMPLES_MAX;
  }

  addBlock(block: ChunkBlock): void {
    for (const [stream, id] of this.#ids.entries()) {
      for (const { chunk } of [...block.chunksOf(id)].reverse()) this.#add(stream, chunk);
    }
  }

  #add(stream: number, chunk: Uint8Array): void {
    this.#hasCapacity &&= this.#writer.addChunk(stream, chunk);
    if (this.#hasCapacity) this.#samples += judgedSamplesOf(chunk);
  }

  input(request: HistoryRequest): TrainingInput {
    const { counts, times, values, starts, aggregations } = this.#answer;
    let end = 0;
    const stored = Array.from(counts, (count) => {
      const begin = end;
      end += count;
      return { times: times.subarray(begin, end), values: values.subarray(begin, end) };
    });
    return this.#writer.finish(stored, { ...request, starts, aggregations });
  }
}
