// A stream's history as it lies: samples that its engine holds, and chunks from the store. Decoding a service's chunks takes some 100 ms, so whoever gathers them
// leaves it to the thread that trains.
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../../codec/sample-chunk.ts";
import type { StreamSamples } from "./service-rows.ts";

/** Chunks of one stream. */
export interface StoredChunks {
  /** The newest first: where two hold a sample of the same time, the newer one wins. */
  readonly chunks: readonly Uint8Array[];
  /** Earlier samples are passed over. */
  readonly fromMs: number;
}

/** Samples of one stream; with `stored`, in any order, and they win over samples of the same time in there. */
export interface StreamHistory extends StreamSamples {
  readonly stored?: StoredChunks;
}

/** All samples of a stream, ascending, one a time. Throws where a chunk does not decode. */
export function wholeSamples(history: StreamHistory): StreamSamples {
  const { stored } = history;
  if (stored === undefined) return history;
  const all = new Samples(stored.fromMs);
  const [times, values] = [new Float64Array(CHUNK_SAMPLES_MAX), new Float64Array(CHUNK_SAMPLES_MAX)];
  for (const chunk of stored.chunks.toReversed()) {
    const count = decodeSampleChunk(chunk, times, values);
    if (count === undefined) throw new Error("a stored chunk does not decode");
    all.add(times, values, count);
  }
  all.add(history.times, history.values, history.times.length);
  return all.ascending();
}

/** Samples in the order in which they win: a later one over an earlier one of the same time. */
class Samples {
  readonly #fromMs: number;
  readonly #times: number[] = [];
  readonly #values: number[] = [];
  #isAscending = true;

  constructor(fromMs: number) {
    this.#fromMs = fromMs;
  }

  add(times: Float64Array, values: Float64Array, count: number): void {
    for (let i = 0; i < count; i++) {
      const timeMs = times[i] as number;
      if (!(timeMs >= this.#fromMs)) continue;
      this.#isAscending &&= timeMs > (this.#times.at(-1) ?? Number.NEGATIVE_INFINITY);
      this.#times.push(timeMs);
      this.#values.push(values[i] as number);
    }
  }

  ascending(): StreamSamples {
    const [times, values] = [this.#times, this.#values];
    if (this.#isAscending) return { times: Float64Array.from(times), values: Float64Array.from(values) };
    const order = Uint32Array.from(times.keys()).sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
    const last = order.filter((index, i) => times[index] !== times[order[i + 1] as number]);
    return {
      times: Float64Array.from(last, (index) => times[index] as number),
      values: Float64Array.from(last, (index) => values[index] as number),
    };
  }
}
