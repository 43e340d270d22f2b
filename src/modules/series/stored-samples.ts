// The samples of one stream from everywhere they lie: the engine's ring, its chunks that wait for a block, and stored blocks.
// Where two places hold a sample of the same time, the newer place wins: ring, then pending chunks from the last, then blocks from the newest.
import { SERIES_DATA_BLOCKS_MAX, SERIES_DATA_SAMPLES_MAX } from "../../core/config/limits.ts";
import type { SeriesDataAnswer } from "../../core/protocol/engine-control.ts";
import { ChunkBlock } from "../../domain/codec/chunk-block.ts";
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../../domain/codec/sample-chunk.ts";
import { blockKey } from "../state/tables.ts";
import { type BlockSpan, newestSpans } from "./block-rows.ts";
import type { SeriesContext } from "./series-context.ts";

/** Blocks read before others of the thread get a turn: 16 x 64 KiB are about 0.6 ms. */
const BLOCKS_PER_SLICE = 16;
/** A thousand spans, 64 MiB of samples, are read in 2 ms. */
const SPANS_PER_SLICE = 1_000;

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
export async function readSamples(context: SeriesContext, answer: SeriesDataAnswer, request: SampleRequest): Promise<Samples> {
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
  context: SeriesContext,
  { partition, streamId }: SeriesDataAnswer,
  firstBlock: number,
  gathered: SampleSet,
): Promise<boolean> {
  const { series } = context.state;
  if (streamId === null) return true;
  let blocks = 0;
  const spans: BlockSpan[] = [];
  for (const span of newestSpans(series, partition, firstBlock)) {
    if (spans.push(span) % SPANS_PER_SLICE === 0) await context.yieldToLoop();
  }
  const newestLeft = newestFrom(spans);
  for (const [index, span] of spans.entries()) {
    if (gathered.isEnough(newestLeft[index] as number)) return true;
    if (!gathered.wants(span.minMs, span.maxMs)) continue;
    if (++blocks > SERIES_DATA_BLOCKS_MAX || gathered.isFull) return false;
    if (blocks % BLOCKS_PER_SLICE === 0) await context.yieldToLoop();
    const bytes = series.get("blocks", blockKey(partition, span.block));
    if (bytes !== undefined) addBlock(bytes, streamId, gathered);
  }
  return !gathered.isFull;
}

/** The newest time of each block and those behind it: a block of history was filled later than blocks of newer samples. */
function newestFrom(spans: readonly BlockSpan[]): Float64Array {
  const newest = new Float64Array(spans.length);
  let last = Number.NEGATIVE_INFINITY;
  for (let i = spans.length - 1; i >= 0; i--) {
    last = Math.max(last, (spans[i] as BlockSpan).maxMs);
    newest[i] = last;
  }
  return newest;
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

  /** Whether places that hold nothing newer than `newestMs` can add nothing that is wanted. */
  isEnough(newestMs: number): boolean {
    const { samplesMax, contextMax, fromMs } = this.#request;
    if (contextMax > 0 && this.#before >= contextMax && newestMs < fromMs && this.#countAfter(newestMs, fromMs) >= contextMax) return true;
    const wanted = samplesMax + contextMax;
    return this.#values.size >= wanted && this.#countAfter(newestMs, Number.POSITIVE_INFINITY) >= wanted;
  }

  /** Samples that were gathered of times above `afterMs` and below `toMs`. */
  #countAfter(afterMs: number, toMs: number): number {
    let count = 0;
    for (const time of this.#values.keys()) if (time > afterMs && time < toMs) count++;
    return count;
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
