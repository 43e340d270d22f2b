// The newest points of one cumulative series, in the order of their times: each gives what was added since the one before. A point that comes late finds its
// place among them, and what was said of the one behind it is corrected; so the order in which points come does not matter within these bounds.
import { POINTS_RETAINED_BYTES_MAX, POINTS_RETAINED_MAX } from "../../core/config/limits.ts";
import { startAfter } from "./counting-start.ts";
import type { Distribution } from "./distribution.ts";
import { readDistributionText } from "./distribution-coding.ts";
import { countedInterval, firstInterval, type Interval, intervalBetween } from "./interval.ts";

/** Late points within this are taken, as late values of a stream are. */
const LATE_MS_MAX = 5 * 60_000;

/** A point as it is kept: its bytes as text of one byte a character, which is the smallest form that the heap has for them. */
interface RetainedPoint {
  readonly timeMs: number;
  readonly text: string;
  /** When counting began, as this point and those before it tell; 0 for not known. */
  startMs: number;
}

/** Outcome for a point. */
export type Placed = "taken" | "known" | "late";

/** Points of one series. */
export class PointHistory {
  readonly #points: RetainedPoint[] = [];
  #bytes = 0;
  /** Points have been dropped: what is older than the oldest may have been seen. */
  #isTrimmed = false;
  #newest: { readonly text: string; readonly point: Distribution } | undefined;

  /** Bytes of the points. */
  get bytes(): number {
    return this.#bytes;
  }

  get newestMs(): number {
    return this.#points.at(-1)?.timeMs ?? 0;
  }

  get isTrimmed(): boolean {
    return this.#isTrimmed;
  }

  /** The newest point, if there is one. */
  get newest(): Distribution | undefined {
    return this.#points.length === 0 ? undefined : this.#decode(this.#points.length - 1);
  }

  /** The encoded points as text of one byte a character, oldest first. */
  get texts(): readonly string[] {
    return this.#points.map(({ text }) => text);
  }

  /** Puts back what `texts` and `isTrimmed` gave. */
  restore(texts: readonly string[], isTrimmed: boolean): void {
    this.#isTrimmed = isTrimmed;
    for (const text of texts) {
      const point = readDistributionText(text);
      this.#points.push({ timeMs: point.timeMs, text, startMs: startAfter(this.#startBefore(this.#points.length), point) });
      this.#bytes += text.length;
    }
  }

  /** Takes a point, `bytes` being its encoding, and calls back with each interval that it begins or ends. */
  take(point: Distribution, bytes: Uint8Array, emit: (interval: Interval) => void): Placed {
    const points = this.#points;
    let at = points.length;
    while (at > 0 && (points[at - 1] as RetainedPoint).timeMs >= point.timeMs) at--;
    const isSame = points[at]?.timeMs === point.timeMs;
    if (!isSame && ((at === 0 && this.#isTrimmed) || this.newestMs - point.timeMs > LATE_MS_MAX)) return "late";
    const text = latin1(bytes);
    if (isSame && (points[at] as RetainedPoint).text === text) return "known";
    this.#bytes += text.length - (isSame ? (points[at] as RetainedPoint).text.length : 0);
    points.splice(at, isSame ? 1 : 0, { timeMs: point.timeMs, text, startMs: startAfter(this.#startBefore(at), point) });
    if (at === points.length - 1) this.#newestIs(text, point, at, emit);
    else {
      this.#updateStarts(at + 1);
      for (const index of [at, at + 1]) this.#emitAt(index, this.#decode(index), emit);
    }
    this.#trim();
    return "taken";
  }

  /** The usual case: the point before has been decoded already. */
  #newestIs(text: string, point: Distribution, at: number, emit: (interval: Interval) => void): void {
    this.#emitAt(at, point, emit);
    this.#newest = { text, point };
  }

  #startBefore(index: number): number {
    return this.#points[index - 1]?.startMs ?? 0;
  }

  /** Takes the starts of the points from `from` on anew, since one before them is another. */
  #updateStarts(from: number): void {
    for (let i = from; i < this.#points.length; i++)
      (this.#points[i] as RetainedPoint).startMs = startAfter(this.#startBefore(i), this.#decode(i));
  }

  #emitAt(index: number, point: Distribution, emit: (interval: Interval) => void): void {
    const interval = index === 0 ? firstInterval(point) : intervalBetween(this.#decode(index - 1), point, this.#startBefore(index));
    const counted = interval?.restart === "guessed" ? countedInterval(interval, this.#countsBefore(index)) : interval;
    if (counted !== undefined) emit(counted);
  }

  /** What the kept intervals before a point brought, but for those in which counting began anew. */
  #countsBefore(index: number): number[] {
    const counts: number[] = [];
    for (let i = 1; i < index; i++) {
      const { added, restart } = intervalBetween(this.#decode(i - 1), this.#decode(i), this.#startBefore(i));
      if (restart === "none") counts.push(added.count);
    }
    return counts;
  }

  #decode(index: number): Distribution {
    const { text } = this.#points[index] as RetainedPoint;
    return this.#newest?.text === text ? this.#newest.point : readDistributionText(text);
  }

  #trim(): void {
    const points = this.#points;
    while (points.length > POINTS_RETAINED_MAX || (points.length > 1 && this.#bytes > POINTS_RETAINED_BYTES_MAX)) {
      this.#bytes -= (points.shift() as RetainedPoint).text.length;
      this.#isTrimmed = true;
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
