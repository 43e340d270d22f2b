// A stream's ring in order of time, oldest value first: runs of memory copied as they lie, since a look at an incident reads thousands of rings.
import { WINDOW_MAX } from "../../core/layout/stream-record.ts";

/** Where a ring lies: its parts by their addresses, how many values it has, the place that is written next, the time of the newest. */
export interface StreamRing {
  valuesAt: number;
  intervalsAt: number;
  count: number;
  head: number;
  lastTimeMs: number;
}

export class RingReader {
  readonly #ring: StreamRing = { valuesAt: 0, intervalsAt: 0, count: 0, head: 0, lastTimeMs: 0 };
  readonly #whole: Uint32Array;
  readonly #doubles: Float64Array;

  constructor(buffer: ArrayBufferLike) {
    this.#whole = new Uint32Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  /** The ring of these parts, which holds until the next call. */
  ring(valuesAt: number, intervalsAt: number, count: number, head: number, lastTimeMs: number): StreamRing {
    const ring = this.#ring;
    ring.valuesAt = valuesAt;
    ring.intervalsAt = intervalsAt;
    ring.count = count;
    ring.head = head;
    ring.lastTimeMs = lastTimeMs;
    return ring;
  }

  /** Fills times (ms). The array holds WINDOW_MAX numbers. */
  times({ intervalsAt, count, head, lastTimeMs }: StreamRing, times: Float64Array): void {
    const intervals = this.#whole;
    const from = intervalsAt / Uint32Array.BYTES_PER_ELEMENT;
    const older = Math.max(0, count - head);
    let time = lastTimeMs;
    let i = count - 1;
    for (let at = from + head - 1; i >= older; i--, at--) {
      times[i] = time;
      time -= intervals[at]!;
    }
    for (let at = from + WINDOW_MAX - 1; i >= 0; i--, at--) {
      times[i] = time;
      time -= intervals[at]!;
    }
  }

  /** Fills values. The array holds WINDOW_MAX numbers. */
  values({ valuesAt, count, head }: StreamRing, values: Float64Array): void {
    const from = valuesAt / Float64Array.BYTES_PER_ELEMENT;
    const older = Math.max(0, count - head);
    if (older > 0) values.set(this.#doubles.subarray(from + WINDOW_MAX - older, from + WINDOW_MAX));
    values.set(this.#doubles.subarray(from + head - count + older, from + head), older);
  }

  /** Number of values from before a time. */
  countBefore({ intervalsAt, count, head, lastTimeMs }: StreamRing, timeMs: number): number {
    const intervals = this.#whole;
    const from = intervalsAt / Uint32Array.BYTES_PER_ELEMENT;
    let before = count;
    let at = head;
    for (let time = lastTimeMs; before > 0 && time >= timeMs; before--) {
      at = (at === 0 ? WINDOW_MAX : at) - 1;
      time -= intervals[from + at]!;
    }
    return before;
  }
}
