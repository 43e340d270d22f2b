// Counts of durations in exponential buckets: bucket i holds (2^((i - 1) / 16), 2^(i / 16)] microseconds, from 1 us to 13 days. A quantile is reported as the
// geometric middle of its bucket: at most 2^(1/32) - 1 = 2.2 % off, whatever the distribution (the buckets are those of an OTLP exponential histogram of scale 4).
import { type ByteCursor, readVarint, writeVarint } from "../codec/varint.ts";

const BUCKETS_PER_OCTAVE = 16;
/** 2^40 us are 12.7 days; longer spans count as that. */
export const BUCKET_LAST = 40 * BUCKETS_PER_OCTAVE;
/** Bytes of a sketch as stored, at most: each bucket one varint, and its place. */
export const SKETCH_BYTES_MAX = 8 * (BUCKET_LAST + 3);

/** Bucket of a duration in microseconds; 1 us and less are the first. */
export function bucketOf(microseconds: number): number {
  if (!(microseconds > 1)) return 0;
  return Math.min(BUCKET_LAST, Math.ceil(Math.log2(microseconds) * BUCKETS_PER_OCTAVE - 1e-9));
}

/** Duration that a bucket stands for, in milliseconds. */
function middleMs(bucket: number): number {
  return bucket === 0 ? 0.001 : 2 ** ((bucket - 0.5) / BUCKETS_PER_OCTAVE) / 1000;
}

/** A distribution of durations. */
export class DurationSketch {
  /** Counts of the buckets from `#first` on. */
  #counts: number[] = [];
  #first = 0;
  count = 0;

  /** Counts `times` durations of a bucket, 0..BUCKET_LAST. */
  add(bucket: number, times = 1): void {
    const counts = this.#counts;
    if (this.count === 0) this.#first = bucket;
    while (bucket < this.#first) {
      counts.unshift(0);
      this.#first--;
    }
    const at = bucket - this.#first;
    while (counts.length <= at) counts.push(0);
    counts[at]! += times;
    this.count += times;
  }

  /** The duration in ms that a share q of all do not exceed, by nearest rank; NaN where there are none. */
  quantileMs(q: number): number {
    const rank = Math.max(1, Math.ceil(q * this.count));
    let seen = 0;
    for (let at = 0; at < this.#counts.length; at++) {
      seen += this.#counts[at]!;
      if (seen >= rank) return middleMs(this.#first + at);
    }
    return Number.NaN;
  }

  /** Writes {first bucket varint, buckets varint, their counts varint} at `at`, SKETCH_BYTES_MAX at most; answers the place behind. */
  write(out: Uint8Array, at: number): number {
    let next = writeVarint(this.#counts.length, out, writeVarint(this.#first, out, at));
    for (const count of this.#counts) next = writeVarint(count, out, next);
    return next;
  }

  /** Reads what `write` wrote; undefined for bytes that are none. */
  static read(cursor: ByteCursor): DurationSketch | undefined {
    const sketch = new DurationSketch();
    const first = readVarint(cursor);
    const buckets = readVarint(cursor);
    if (first < 0 || buckets < 0 || first + buckets > BUCKET_LAST + 1) return undefined;
    for (let bucket = first; bucket < first + buckets; bucket++) {
      const count = readVarint(cursor);
      if (count < 0) return undefined;
      if (count > 0) sketch.add(bucket, count);
    }
    return sketch;
  }
}
