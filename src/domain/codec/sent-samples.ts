// The samples of a series as they were sent, from its chunks (sample-chunk.ts): values of gauges, cumulative values of counters, NaN and stale markers among them. About 10 ns
// a sample where nothing came late; whole counts come back exactly, others within 1e-12 of themselves.
import { lowerBound } from "../../core/collections/sorted-search.ts";
import { CHUNK_SAMPLES_MAX, type ReadChunk, readSampleChunk } from "./sample-chunk.ts";

/** A chunk with its samples. */
interface Piece extends ReadChunk {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** A chunk whose samples begin at an index of all that were read. */
interface ReadPiece extends ReadChunk {
  readonly from: number;
}

/** Samples of a series, ascending in time, one a millisecond; stale markers by their bits. */
export interface SentSeries {
  readonly timesMs: Float64Array;
  readonly values: Float64Array;
  /** Whether some are sums of what was counted, of a version that did not keep the values: they are right from one to the next, and do not say where counting began anew. */
  readonly hasSums: boolean;
}

/** Samples of a chunk, usually: a whole ring. */
const CHUNK_SAMPLES_USUAL = 120;

/** Puts the chunks of one series together. */
export class SentSamples {
  readonly #isCounter: boolean;
  readonly #pieces: ReadPiece[] = [];
  /** Samples of all chunks as they were read, chunk behind chunk. */
  #times: Float64Array;
  #values: Float64Array;
  #count = 0;

  /** `isCounter` is what the series is now: of its chunks of older versions nothing else says it. `chunks` is about how many there will be. */
  constructor(isCounter: boolean, chunks = 1) {
    this.#isCounter = isCounter;
    const most = CHUNK_SAMPLES_MAX + chunks * CHUNK_SAMPLES_USUAL;
    this.#times = new Float64Array(most);
    this.#values = new Float64Array(most);
  }

  /** Adds a chunk; of two that say a value of one time the later added counts. False, and nothing is added, where the bytes are no chunk. */
  add(chunk: Uint8Array): boolean {
    const from = this.#count;
    if (this.#times.length - from < CHUNK_SAMPLES_MAX) this.#grow();
    const read = readSampleChunk(chunk, this.#times.subarray(from), this.#values.subarray(from));
    if (read === undefined) return false;
    if (read.meaning === "deltas") return true;
    this.#pieces.push({ ...read, from });
    this.#count += read.count;
    return true;
  }

  #grow(): void {
    const [times, values] = [this.#times, this.#values];
    this.#times = new Float64Array(2 * times.length);
    this.#values = new Float64Array(2 * times.length);
    this.#times.set(times);
    this.#values.set(values);
  }

  /** Samples that were added, some of them more than once. */
  get count(): number {
    return this.#count;
  }

  /** All that was added. */
  finish(): SentSeries {
    const pieces = this.#pieces.map((piece) => this.#withSamples(piece));
    const sent = new Sequence(pieces.reduce((sum, { meaning, count }) => sum + (meaning === "sent" ? count : 0), 0));
    for (const { meaning, times, values } of pieces) if (meaning === "sent") sent.addAll(times, values);
    const corrections = sent.ascending();
    const series = new SeriesSum(this.#count + pieces.length, this.#isCounter, corrections);
    const chunks = pieces.filter(({ meaning }) => meaning !== "sent");
    if (!chunks.every((piece, index) => index === 0 || startOf(chunks[index - 1] as Piece) <= startOf(piece))) {
      chunks.sort((a, b) => startOf(a) - startOf(b));
    }
    for (const piece of chunks) series.add(piece);
    return series.finish();
  }

  #withSamples(piece: ReadPiece): Piece {
    const end = piece.from + piece.count;
    return { ...piece, times: this.#times.subarray(piece.from, end), values: this.#values.subarray(piece.from, end) };
  }
}

function startOf({ times }: Piece): number {
  return times[0] as number;
}

/** Samples one behind the other. */
class Sequence {
  readonly #times: Float64Array;
  readonly #values: Float64Array;
  #count = 0;
  #isAscending = true;

  constructor(most: number) {
    this.#times = new Float64Array(most);
    this.#values = new Float64Array(most);
  }

  get count(): number {
    return this.#count;
  }

  add(timeMs: number, value: number): void {
    const count = this.#count;
    if (count > 0 && timeMs <= (this.#times[count - 1] as number)) this.#isAscending = false;
    this.#times[count] = timeMs;
    this.#values[count] = value;
    this.#count = count + 1;
  }

  /** Adds a sample that replaces the last one where both have one time: a chunk's first value is measured from the last of the chunk before, and says it again. */
  addOrReplace(timeMs: number, value: number): void {
    const last = this.#count - 1;
    if (last >= 0 && this.#times[last] === timeMs) this.#values[last] = value;
    else this.add(timeMs, value);
  }

  /** By their bits: a number that is taken in hand may lose those of a stale marker. */
  addAll(times: Float64Array, values: Float64Array): void {
    if (times.length === 0) return;
    this.#isAscending &&= this.#count === 0 || (times[0] as number) > (this.#times[this.#count - 1] as number);
    for (let at = 1; at < times.length; at++) this.#isAscending &&= (times[at] as number) > (times[at - 1] as number);
    this.#times.set(times, this.#count);
    this.#values.set(values, this.#count);
    this.#count += times.length;
  }

  /** Adds what counts up from a value, one time after the other. */
  addCounting(from: number, times: Float64Array, deltas: Float64Array): void {
    const [own, values] = [this.#times, this.#values];
    let lastMs = this.#count === 0 ? Number.NEGATIVE_INFINITY : (own[this.#count - 1] as number);
    let [count, value] = [this.#count, from];
    for (let at = 0; at < times.length; at++) {
      const timeMs = times[at] as number;
      if (timeMs <= lastMs) this.#isAscending = false;
      lastMs = timeMs;
      value += deltas[at] as number;
      own[count] = timeMs;
      values[count++] = value;
    }
    this.#count = count;
  }

  /** Adds to the values from one on. */
  raise(from: number, by: number): void {
    for (let at = from; at < this.#count; at++) this.#values[at] = (this.#values[at] as number) + by;
  }

  /** Ascending, of one time the last. */
  ascending(): { readonly timesMs: Float64Array; readonly values: Float64Array } {
    const timesMs = this.#times.subarray(0, this.#count);
    if (this.#isAscending) return { timesMs, values: this.#values.subarray(0, this.#count) };
    return lastOfEachTime(timesMs, this.#values);
  }
}

/** Values ascending by time, of one time the last; they are moved by their bits. There is a value for each time at least. */
export function lastOfEachTime(
  times: Float64Array,
  values: Float64Array,
): { readonly timesMs: Float64Array; readonly values: Float64Array } {
  const order = Uint32Array.from(times.keys()).sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  const last = order.filter((at, index) => times[at] !== times[order[index + 1] as number]);
  const sorted = new Float64Array(last.length);
  for (const [index, at] of last.entries()) sorted.set(values.subarray(at, at + 1), index);
  return { timesMs: Float64Array.from(last, (at) => times[at] as number), values: sorted };
}

/** Values that count up from chunk to chunk, with the values that were sent in place of theirs. */
class SeriesSum {
  readonly #sequence: Sequence;
  readonly #isCounter: boolean;
  readonly #sent: { readonly timesMs: Float64Array; readonly values: Float64Array };
  /** Where sums began that start at nothing, and up to when they go; -1 where there are none. */
  #sumsFrom = -1;
  #sumsUntilMs = Number.NEGATIVE_INFINITY;
  #sum = 0;
  #hasSums = false;

  constructor(most: number, isCounter: boolean, sent: { readonly timesMs: Float64Array; readonly values: Float64Array }) {
    this.#sequence = new Sequence(most + sent.timesMs.length);
    this.#isCounter = isCounter;
    this.#sent = sent;
  }

  add(piece: Piece): void {
    if (piece.meaning === "counted") this.#addCounted(piece);
    else if (this.#isCounter) this.#addSums(piece);
    else this.#sequence.addAll(piece.times, piece.values);
  }

  #addCounted({ anchor, anchorMs, times, values }: Piece): void {
    if (this.#sumsFrom >= 0) {
      this.#sequence.raise(this.#sumsFrom, Math.max(0, anchor - this.#sum));
      this.#sumsFrom = -1;
    }
    if (!Number.isNaN(anchorMs)) this.#sequence.addOrReplace(anchorMs, anchor);
    if (this.#sent.timesMs.length === 0) {
      this.#sequence.addCounting(anchor, times, values);
      return;
    }
    let raw = anchor;
    let next = lowerBound(this.#sent.timesMs, times[0] as number);
    for (let at = 0; at < times.length; at++) {
      const time = times[at] as number;
      while ((this.#sent.timesMs[next] as number) < time) next++;
      const isSent = this.#sent.timesMs[next] === time && Number.isFinite(this.#sent.values[next]);
      raw = isSent ? (this.#sent.values[next] as number) : raw + (values[at] as number);
      this.#sequence.add(time, raw);
    }
  }

  /** Deltas whose cumulative values were not kept: what a chunk says that was sent again is counted once. */
  #addSums({ times, values }: Piece): void {
    this.#hasSums = true;
    if (this.#sumsFrom < 0) {
      this.#sumsFrom = this.#sequence.count;
      this.#sum = 0;
    }
    for (let at = 0; at < times.length; at++) {
      const time = times[at] as number;
      if (time <= this.#sumsUntilMs) continue;
      this.#sum += values[at] as number;
      this.#sequence.add(time, this.#sum);
      this.#sumsUntilMs = time;
    }
  }

  finish(): SentSeries {
    this.#sequence.addAll(this.#sent.timesMs, this.#sent.values);
    return { ...this.#sequence.ascending(), hasSums: this.#hasSums };
  }
}
