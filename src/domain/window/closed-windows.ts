// Which windows of a service are closed, as ranges of their numbers: a window closes once, what comes for it later is late.
import type { ByteWriter } from "../codec/byte-writer.ts";
import { type ByteCursor, readVarint } from "../codec/varint.ts";

/** A service that is always there has one range, one that speaks now and then a range for each time: 1,024 of them are 16 KiB. */
const RANGES_MAX = 1_024;
const NUMBER_MAX = 2 ** 40;

/** A set of window numbers that forgets its lowest ranges beyond RANGES_MAX. */
export class ClosedWindows {
  /** Pairs [first, behind the last], ascending, apart from each other. */
  #bounds: number[] = [];

  get isEmpty(): boolean {
    return this.#bounds.length === 0;
  }

  has(window: number): boolean {
    const at = this.#above(window);
    return at % 2 === 1;
  }

  /** Number of windows in the last run of closed ones that ends before a window which is not closed. */
  runBefore(window: number): number {
    const at = this.#above(window);
    return at < 2 ? 0 : this.#bounds[at - 1]! - this.#bounds[at - 2]!;
  }

  add(window: number): void {
    const bounds = this.#bounds;
    const at = this.#above(window);
    if (at % 2 === 1) return;
    const joinsBefore = at > 0 && bounds[at - 1] === window;
    const joinsBehind = at < bounds.length && bounds[at] === window + 1;
    if (joinsBefore && joinsBehind) bounds.splice(at - 1, 2);
    else if (joinsBefore) bounds[at - 1] = window + 1;
    else if (joinsBehind) bounds[at] = window;
    else bounds.splice(at, 0, window, window + 1);
    if (bounds.length > 2 * RANGES_MAX) bounds.splice(0, 2);
  }

  /** Forgets the ranges that end before a window. */
  forgetBefore(window: number): void {
    let ranges = 0;
    while (2 * ranges < this.#bounds.length && this.#bounds[2 * ranges + 1]! <= window) ranges++;
    if (ranges > 0) this.#bounds.splice(0, 2 * ranges);
  }

  /** {numbers varint, their differences varint} */
  write(writer: ByteWriter): void {
    writer.varint(this.#bounds.length);
    let before = 0;
    for (const bound of this.#bounds) {
      writer.varint(bound - before);
      before = bound;
    }
  }

  /** Reads what `write` wrote; undefined for bytes that are none. */
  static read(cursor: ByteCursor): ClosedWindows | undefined {
    const closed = new ClosedWindows();
    const count = readVarint(cursor);
    if (count < 0 || count > 2 * RANGES_MAX || count % 2 === 1) return undefined;
    let bound = 0;
    for (let i = 0; i < count; i++) {
      const step = readVarint(cursor);
      if (step < 0 || (i > 0 && step === 0) || bound + step > NUMBER_MAX) return undefined;
      bound += step;
      closed.#bounds.push(bound);
    }
    return closed;
  }

  /** Number of bounds at or below a window: odd inside a range. */
  #above(window: number): number {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    if (high > 0 && bounds[high - 1]! <= window) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bounds[middle]! <= window) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
