// How large the mean deviation of a pillar value has been over seven days: a histogram a day, one observation a minute, 900 bytes.
//
// Embeddings look back over 15 minutes, so observations closer than that say the same again. Tail probabilities therefore count quarters of an hour:
// (k + 1) / (n + 1) with n independent windows of which k were at least as large (Phipson & Smyth 2010: a tail estimated from samples is never 0). So a
// history of an hour gives no score above 0.8, one of a day none above 0.99, whatever comes.

import { DAY_MS, MINUTE_MS } from "../../core/time/durations.ts";

/** Minutes that an embedding looks back; observations within them are one. */
export const WINDOW_MINUTES = 15;
/** Today and the six days before. */
const DAYS = 7;
/** Bin 0 is everything up to LEAST, the last everything from MOST: the length of four deviations of at most 10. 62 bins of 11.8 % lie between. */
const BINS = 64;
const LEAST = 0.02;
const MOST = 20;
const INNER_BINS = BINS - 2;
const LOG_SPAN = Math.log(MOST / LEAST);
const COUNT_MAX = 0xffff;
const NO_DAY = -1;

const VERSION = 1;
const HEADER_BYTES = 1 + 8 + 8 + 1;

/** History of one pillar value. */
export class MagnitudeHistory {
  /** Counts of each slot's day by bin; behind them the days themselves, two words each. One array: there are 10,000 histories, and a collection asks for each. */
  readonly #slots = new Uint16Array(DAYS * BINS + 2 * DAYS);
  #firstMs = 0;
  #lastMs = 0;

  /** Time of the first observation ever; 0 for none. */
  get firstMs(): number {
    return this.#firstMs;
  }

  /** Time of the newest. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Takes a magnitude, once a minute: more of them change nothing. */
  observe(magnitude: number, nowMs: number): void {
    if (this.#lastMs > nowMs + DAY_MS) this.#forgetFuture(nowMs);
    if (Math.floor(nowMs / MINUTE_MS) <= Math.floor(this.#lastMs / MINUTE_MS)) return;
    if (this.#firstMs === 0) this.#firstMs = nowMs;
    this.#lastMs = nowMs;
    const day = Math.floor(nowMs / DAY_MS);
    const slot = day % DAYS;
    if (this.#day(slot) !== day) {
      this.#setDay(slot, day);
      this.#slots.fill(0, slot * BINS, (slot + 1) * BINS);
    }
    const at = slot * BINS + Math.floor(bucketOf(magnitude));
    this.#slots[at] = Math.min(COUNT_MAX, (this.#slots[at] as number) + 1);
  }

  /** Days since 1970 of what a slot counts; NO_DAY where it counts nothing. */
  #day(slot: number): number {
    const at = DAYS * BINS + 2 * slot;
    return (this.#slots[at] as number) * 0x10000 + (this.#slots[at + 1] as number) - 1;
  }

  #setDay(slot: number, day: number): void {
    const at = DAYS * BINS + 2 * slot;
    this.#slots[at] = (day + 1) >>> 16;
    this.#slots[at + 1] = day + 1;
  }

  /** The clock was wrong, or is: what it saw of days to come goes, or nothing would be observed until then. */
  #forgetFuture(nowMs: number): void {
    const today = Math.floor(nowMs / DAY_MS);
    for (let slot = 0; slot < DAYS; slot++) if (this.#day(slot) > today) this.#setDay(slot, NO_DAY);
    this.#lastMs = 0;
    if (this.#firstMs > nowMs) this.#firstMs = 0;
  }

  /** Observations of the last seven days, of which today is one. */
  observations(nowMs: number): number {
    return this.#countWithin(0, BINS, nowMs);
  }

  /** Probability that a window of the last seven days is at least as large, in (0, 1]; 1 without any. */
  tail(magnitude: number, nowMs: number): number {
    const index = bucketOf(magnitude);
    const bin = Math.floor(index);
    const above = this.#countWithin(bin + 1, BINS, nowMs);
    const within = this.#countWithin(bin, bin + 1, nowMs);
    const below = this.#countWithin(0, bin, nowMs);
    // Spread evenly over an inner bin; all of an outer one counts.
    const share = bin === 0 || bin === BINS - 1 ? 1 : bin + 1 - index;
    return ((above + share * within) / WINDOW_MINUTES + 1) / ((above + within + below) / WINDOW_MINUTES + 1);
  }

  /** Observations in bins of [from, to). */
  #countWithin(from: number, to: number, nowMs: number): number {
    const today = Math.floor(nowMs / DAY_MS);
    let count = 0;
    for (let slot = 0; slot < DAYS; slot++) {
      const day = this.#day(slot);
      if (day < 0 || day <= today - DAYS) continue;
      for (let i = from; i < to; i++) count += this.#slots[slot * BINS + i] as number;
    }
    return count;
  }

  /** Version, first and last time, then for each day its number, its bins that are not empty, and these with their counts. */
  encode(): Uint8Array {
    const bytes = new Uint8Array(HEADER_BYTES + DAYS * (5 + 3 * BINS));
    const view = new DataView(bytes.buffer);
    view.setUint8(0, VERSION);
    view.setFloat64(1, this.#firstMs);
    view.setFloat64(9, this.#lastMs);
    let at = HEADER_BYTES;
    let days = 0;
    for (let slot = 0; slot < DAYS; slot++) {
      const day = this.#day(slot);
      if (day < 0) continue;
      days++;
      view.setUint32(at, day);
      const binsAt = at + 4;
      at += 5;
      for (let bin = 0; bin < BINS; bin++) {
        const count = this.#slots[slot * BINS + bin] as number;
        if (count === 0) continue;
        view.setUint8(at, bin);
        view.setUint16(at + 1, count);
        at += 3;
      }
      view.setUint8(binsAt, (at - binsAt - 1) / 3);
    }
    view.setUint8(HEADER_BYTES - 1, days);
    return bytes.slice(0, at);
  }

  /** Reads what encode() wrote. Throws on another version. */
  static decode(bytes: Uint8Array): MagnitudeHistory {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (view.getUint8(0) !== VERSION)
      throw new Error(`a history of a pillar has version ${view.getUint8(0)}, this program reads ${VERSION}`);
    const history = new MagnitudeHistory();
    history.#firstMs = view.getFloat64(1);
    history.#lastMs = view.getFloat64(9);
    let at = HEADER_BYTES;
    for (let days = view.getUint8(HEADER_BYTES - 1); days > 0; days--) {
      const day = view.getUint32(at);
      const slot = day % DAYS;
      history.#setDay(slot, day);
      const bins = view.getUint8(at + 4);
      at += 5;
      for (let i = 0; i < bins; i++, at += 3) history.#slots[slot * BINS + view.getUint8(at)] = view.getUint16(at + 1);
    }
    return history;
  }
}

/** The bin of a magnitude, and how far into it. */
function bucketOf(magnitude: number): number {
  if (!(magnitude > LEAST)) return 0;
  if (magnitude >= MOST) return BINS - 1;
  return Math.min(BINS - 1 - 1e-9, 1 + (Math.log(magnitude / LEAST) / LOG_SPAN) * INNER_BINS);
}
