// The samples of one series from everywhere they lie: stored blocks, chunks that wait for one, and the ring. Of two at one time the one from the newer place counts.
import { lowerBound } from "../../core/collections/sorted-search.ts";
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../../domain/codec/sample-chunk.ts";

/** Samples of one series, ascending in time. */
export interface Samples {
  readonly timesMs: Float64Array;
  readonly values: Float64Array;
}

const SAMPLES_INITIAL = 4_096;

/** Gathers samples of one series after the other. */
export class StreamSamples {
  #times = new Float64Array(SAMPLES_INITIAL);
  #values = new Float64Array(SAMPLES_INITIAL);
  #count = 0;
  readonly #chunkTimes = new Float64Array(CHUNK_SAMPLES_MAX);
  readonly #chunkValues = new Float64Array(CHUNK_SAMPLES_MAX);

  /** Begins with the next series. */
  clear(): void {
    this.#count = 0;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a chunk from a place that is newer than those before. */
  addChunk(chunk: Uint8Array): void {
    const count = decodeSampleChunk(chunk, this.#chunkTimes, this.#chunkValues);
    if (count === undefined) throw new Error("a stored chunk does not decode");
    this.add({ timesMs: this.#chunkTimes, values: this.#chunkValues }, count);
  }

  /** Adds samples, ascending in time, from a place that is newer than those before. */
  add({ timesMs, values }: Samples, count: number): void {
    if (count === 0) return;
    this.#grow(count);
    const first = timesMs[0] as number;
    if (this.#count === 0 || first > (this.#times[this.#count - 1] as number)) {
      this.#times.set(count === timesMs.length ? timesMs : timesMs.subarray(0, count), this.#count);
      this.#values.set(count === values.length ? values : values.subarray(0, count), this.#count);
      this.#count += count;
    } else this.#merge(timesMs, values, count, lowerBound(this.#times.subarray(0, this.#count), first));
  }

  /** Those from `fromMs` to `toMs`, both included, in arrays of their own. */
  between(fromMs: number, toMs: number): Samples {
    const times = this.#times.subarray(0, this.#count);
    const from = lowerBound(times, fromMs);
    const to = lowerBound(times, toMs + 0.5);
    return { timesMs: this.#times.slice(from, to), values: this.#values.slice(from, to) };
  }

  /** Merges with what was gathered from a place on. Values are moved by their bits: a stale marker is a NaN of its own. */
  #merge(timesMs: Float64Array, values: Float64Array, count: number, from: number): void {
    const [oldTimes, oldValues] = [this.#times.slice(from, this.#count), this.#values.slice(from, this.#count)];
    let to = from;
    let old = 0;
    const take = (times: Float64Array, of: Float64Array, index: number) => {
      this.#times[to] = times[index] as number;
      this.#values.set(of.subarray(index, index + 1), to++);
    };
    for (let index = 0; index < count; index++) {
      const time = timesMs[index] as number;
      for (; old < oldTimes.length && (oldTimes[old] as number) < time; old++) take(oldTimes, oldValues, old);
      if (oldTimes[old] === time) old++;
      take(timesMs, values, index);
    }
    for (; old < oldTimes.length; old++) take(oldTimes, oldValues, old);
    this.#count = to;
  }

  #grow(count: number): void {
    if (this.#count + count <= this.#times.length) return;
    const length = 2 * (this.#count + count);
    const [times, values] = [new Float64Array(length), new Float64Array(length)];
    times.set(this.#times.subarray(0, this.#count));
    values.set(this.#values.subarray(0, this.#count));
    this.#times = times;
    this.#values = values;
  }
}
