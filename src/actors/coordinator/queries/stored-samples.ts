// The samples of one stream from everywhere they lie: the engine's ring, its chunks that wait for a block, and stored blocks.
// Where two places hold a sample of the same time, the newer place wins: ring, then pending chunks from the last, then blocks from the newest.
import { SERIES_DATA_BLOCKS_MAX, SERIES_DATA_SAMPLES_MAX } from "../../../core/config/limits.ts";
import type { SeriesDataAnswer } from "../../../core/protocol/engine-control.ts";
import { ChunkBlock } from "../../../domain/codec/chunk-block.ts";
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../../../domain/codec/sample-chunk.ts";
import { newestSpans } from "../tables/block-rows.ts";
import { blockKey } from "../tables/tables.ts";
import type { QueryContext } from "./query-context.ts";

/** Blocks read before others of the thread get a turn: 16 x 64 KiB are about 0.6 ms. */
const BLOCKS_PER_BREATH = 16;

/** Which samples are wanted: those of [fromMs, toMs), the newest `samplesMax`, and `contextMax` before `fromMs` for the bounds of the first. */
export interface SampleRequest {
  readonly fromMs: number;
  readonly toMs: number;
  readonly samplesMax: number;
  readonly contextMax: number;
  /** Nothing older than this is of any use. */
  readonly oldestMs: number;
  /** Blocks below this number are left out; 0 where it is not given. */
  readonly firstBlock?: number;
}

const EVERYTHING: SampleRequest = {
  fromMs: Number.NEGATIVE_INFINITY,
  toMs: Number.POSITIVE_INFINITY,
  samplesMax: SERIES_DATA_SAMPLES_MAX,
  contextMax: 0,
  oldestMs: Number.NEGATIVE_INFINITY,
};

/** Samples in ascending order. `complete` is false when the bounds of a query were reached first: older samples may then be missing. */
export interface Samples {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly complete: boolean;
}

/** Reads what is wanted; somewhat more may come back. */
export async function readSamples(context: QueryContext, answer: SeriesDataAnswer, request: SampleRequest): Promise<Samples> {
  const gathered = fromEngine(answer, request);
  const complete = await addBlocks(context, answer, request.firstBlock ?? 0, gathered);
  return { ...gathered.sorted(), complete };
}

/** The samples that the engine itself holds, ascending. */
export function recentSamples(answer: SeriesDataAnswer): { readonly times: Float64Array; readonly values: Float64Array } {
  return fromEngine(answer, EVERYTHING).sorted();
}

function fromEngine(answer: SeriesDataAnswer, request: SampleRequest): SampleSet {
  const gathered = new SampleSet(request);
  gathered.addAll(answer.times, answer.values, answer.times.length);
  for (const chunk of [...answer.pendingChunks].reverse()) gathered.addChunk(chunk);
  return gathered;
}

/** Adds stored blocks from the newest on until enough is there; false when a bound ended it. */
async function addBlocks(
  context: QueryContext,
  { partition, streamId }: SeriesDataAnswer,
  firstBlock: number,
  gathered: SampleSet,
): Promise<boolean> {
  const { series } = context.state;
  if (streamId === null) return true;
  let blocks = 0;
  for (const span of newestSpans(series, partition, firstBlock)) {
    if (gathered.isEnough) return true;
    if (!gathered.wants(span.minMs, span.maxMs)) continue;
    if (++blocks > SERIES_DATA_BLOCKS_MAX || gathered.isFull) return false;
    if (blocks % BLOCKS_PER_BREATH === 0) await context.breathe();
    const bytes = series.get("blocks", blockKey(partition, span.block));
    if (bytes !== undefined) addBlock(bytes, streamId, gathered);
  }
  return !gathered.isFull;
}

function addBlock(bytes: Uint8Array, streamId: Uint8Array, gathered: SampleSet): void {
  const block = ChunkBlock.open(bytes);
  if (block === undefined) throw new Error("a stored block does not open");
  for (const { chunk } of [...block.chunksOf(streamId)].reverse()) gathered.addChunk(chunk);
}

/** Samples by time, the first that came for a time kept. */
class SampleSet {
  readonly toMs: number;
  readonly oldestMs: number;
  readonly #request: SampleRequest;
  readonly #values = new Map<number, number>();
  readonly #chunkTimes = new Float64Array(CHUNK_SAMPLES_MAX);
  readonly #chunkValues = new Float64Array(CHUNK_SAMPLES_MAX);
  #before = 0;

  constructor(request: SampleRequest) {
    this.#request = request;
    this.toMs = request.toMs;
    this.oldestMs = request.oldestMs;
  }

  /** Whether older places can add nothing that is wanted. */
  get isEnough(): boolean {
    const { samplesMax, contextMax } = this.#request;
    return (contextMax > 0 && this.#before >= contextMax) || this.#values.size >= samplesMax + contextMax;
  }

  get isFull(): boolean {
    return this.#values.size >= SERIES_DATA_SAMPLES_MAX;
  }

  /** Whether times of [minMs, maxMs] may be wanted. */
  wants(minMs: number, maxMs: number): boolean {
    return maxMs >= this.oldestMs && minMs < this.toMs;
  }

  addChunk(chunk: Uint8Array): void {
    const count = decodeSampleChunk(chunk, this.#chunkTimes, this.#chunkValues);
    if (count === undefined) throw new Error("a stored chunk does not decode");
    this.addAll(this.#chunkTimes, this.#chunkValues, count);
  }

  addAll(times: Float64Array, values: Float64Array, count: number): void {
    for (let at = 0; at < count; at++) {
      const time = times[at] as number;
      if (time < this.oldestMs || time >= this.toMs || this.#values.has(time)) continue;
      this.#values.set(time, values[at] as number);
      if (time < this.#request.fromMs) this.#before++;
    }
  }

  sorted(): { times: Float64Array; values: Float64Array } {
    const times = Float64Array.from(this.#values.keys()).sort();
    return { times, values: times.map((time) => this.#values.get(time) as number) };
  }
}
