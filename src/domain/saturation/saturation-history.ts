// What is kept of one bounded series: 90 one-minute means, 144 five-minute medians (12 h) and, in blocks of three hours, the median and the
// highest five-minute median of seven days. 1,384 bytes of numbers. Values are kept so that they rise towards exhaustion: those of a
// draining series negated.
import { MINUTE_MS } from "../../core/time/durations.ts";
import { medianInPlace } from "./trend.ts";

const MINUTES_RETAINED = 90;
const SLOT_MINUTES = 5;
const SLOTS_RETAINED = 144;
const BLOCK_SLOTS = 36;
const BLOCK_MINUTES = BLOCK_SLOTS * SLOT_MINUTES;
const BLOCKS_RETAINED = 56;
const BLOCKS_PER_DAY = 8;
/** A serialised history: newest minute, its count and sum, then the rings. */
export const HISTORY_HEAD_VALUES = 3;
export const HISTORY_RING_VALUES = MINUTES_RETAINED + SLOTS_RETAINED + 2 * BLOCKS_RETAINED;
export const HISTORY_VALUES = HISTORY_HEAD_VALUES + HISTORY_RING_VALUES;
/** Length of a history, minutes. */
export const HISTORY_MINUTES = BLOCKS_RETAINED * BLOCK_MINUTES;

/** Points with times in minutes relative to now, oldest first. */
export interface Points {
  readonly t: Float64Array;
  readonly y: Float64Array;
}

/** Rings indexed by absolute minute, slot or block modulo their length; NaN where nothing came. */
export class SaturationHistory {
  private readonly minutes: Float32Array;
  private readonly slots: Float32Array;
  private readonly blockMedians: Float32Array;
  private readonly blockPeaks: Float32Array;
  private minute = -1;
  private minuteCount = 0;
  private minuteSum = 0;

  /** Over rings that lie in an arena: HISTORY_RING_VALUES numbers, all NaN where nothing was observed; or over its own. */
  constructor(rings: Float32Array = new Float32Array(HISTORY_RING_VALUES).fill(Number.NaN)) {
    const slotsAt = MINUTES_RETAINED;
    const mediansAt = slotsAt + SLOTS_RETAINED;
    this.minutes = rings.subarray(0, slotsAt);
    this.slots = rings.subarray(slotsAt, mediansAt);
    this.blockMedians = rings.subarray(mediansAt, mediansAt + BLOCKS_RETAINED);
    this.blockPeaks = rings.subarray(mediansAt + BLOCKS_RETAINED, mediansAt + 2 * BLOCKS_RETAINED);
  }

  /** A history whose rings lie in an arena, with the head that `writeHead` left there. */
  static attach(head: Float64Array, rings: Float32Array): SaturationHistory {
    const history = new SaturationHistory(rings);
    [history.minute, history.minuteCount, history.minuteSum] = head as unknown as [number, number, number];
    return history;
  }

  /** Writes HISTORY_HEAD_VALUES numbers to the beginning of `head`. */
  writeHead(head: Float64Array): void {
    head[0] = this.minute;
    head[1] = this.minuteCount;
    head[2] = this.minuteSum;
  }

  /** The newest minute that has a value, in minutes since 1970; -1 before the first. */
  get newestMinute(): number {
    return this.minute;
  }

  /** Takes one value. A late one only fills an empty minute of the last 90; one that is not finite is no observation. */
  observe(timeMs: number, value: number): void {
    if (!Number.isFinite(value) || !(timeMs >= 0)) return;
    const minute = Math.floor(timeMs / MINUTE_MS);
    if (minute < this.minute) {
      const late = minute % MINUTES_RETAINED;
      if (minute > this.minute - MINUTES_RETAINED && Number.isNaN(this.minutes[late])) this.minutes[late] = value;
      return;
    }
    if (minute > this.minute) this.advance(minute);
    this.minuteCount++;
    this.minuteSum += value;
    this.minutes[minute % MINUTES_RETAINED] = this.minuteSum / this.minuteCount;
  }

  /** Mean of the newest minute; NaN before the first value. */
  current(): number {
    return this.minute < 0 ? Number.NaN : (this.minutes[this.minute % MINUTES_RETAINED] as number);
  }

  /** Time between the minutes that have a value, ms, as far as they are kept one by one. */
  get intervalMs(): number {
    const from = Math.max(0, this.minute - MINUTES_RETAINED + 1);
    let first = from;
    while (first < this.minute && Number.isNaN(this.minutes[first % MINUTES_RETAINED] as number)) first++;
    return MINUTE_MS * Math.max(1, (this.minute - first) / Math.max(1, counted(this.minutes, first, this.minute) - 1));
  }

  /** One-minute means of the last `minutesBack` before now, at the middle of their minutes. */
  minutePoints(nowMs: number, minutesBack: number): Points {
    const now = nowMs / MINUTE_MS;
    const from = Math.max(this.minute - MINUTES_RETAINED + 1, Math.ceil(now - minutesBack), 0);
    return collect(this.minutes, from, this.minute, 1, now);
  }

  /** Five-minute medians of the last `minutesBack` before now, at the middle of their slots; the slot that is open is left out. */
  slotPoints(nowMs: number, minutesBack: number): Points {
    const now = nowMs / MINUTE_MS;
    const { from, last } = this.slotRange(now, minutesBack);
    return collect(this.slots, from, last, SLOT_MINUTES, now);
  }

  /** Highest value that was seen more than `minutesBack` before now, within seven days; -Infinity where nothing is known. */
  peakBefore(nowMs: number, minutesBack: number): number {
    const now = nowMs / MINUTE_MS;
    const { from, last } = this.slotRange(now, SLOTS_RETAINED * SLOT_MINUTES);
    let until = last;
    while (until >= from && !((until + 0.5) * SLOT_MINUTES - now < -minutesBack)) until--;
    const lastBlock = Math.floor((now - minutesBack) / BLOCK_MINUTES) - 1;
    const newestClosed = Math.floor(this.minute / BLOCK_MINUTES) - 1;
    const ofBlocks = highest(this.blockPeaks, Math.max(newestClosed - BLOCKS_RETAINED + 1, 0), Math.min(lastBlock, newestClosed));
    return Math.max(highest(this.slots, from, until), ofBlocks);
  }

  /** Median of the last 24 h by blocks of three hours, of the slots where no block has closed yet; NaN without any slot. */
  baseline(nowMs: number): number {
    const newest = Math.floor(this.minute / BLOCK_MINUTES) - 1;
    const blocks = valuesOf(this.blockMedians, Math.max(newest - BLOCKS_PER_DAY + 1, 0), newest);
    const { from, last } = this.slotRange(nowMs / MINUTE_MS, SLOTS_RETAINED * SLOT_MINUTES);
    const y = blocks.length > 0 ? blocks : valuesOf(this.slots, from, last);
    return y.length === 0 ? Number.NaN : medianInPlace(y, y.length);
  }

  /** Closed slots of the last `minutesBack` before now, in minutes since 1970. */
  private slotRange(now: number, minutesBack: number): { readonly from: number; readonly last: number } {
    const last = Math.floor(this.minute / SLOT_MINUTES) - 1;
    return { from: Math.max(last - SLOTS_RETAINED + 1, Math.ceil((now - minutesBack) / SLOT_MINUTES), 0), last };
  }

  /** The whole state in HISTORY_VALUES numbers, of which single precision loses nothing but the sum of the open minute. */
  serialise(): Float64Array {
    const values = new Float64Array(HISTORY_VALUES);
    values.set([this.minute, this.minuteCount, this.minuteSum]);
    let at = HISTORY_HEAD_VALUES;
    for (const ring of this.rings()) {
      values.set(ring, at);
      at += ring.length;
    }
    return values;
  }

  static restore(values: Float64Array): SaturationHistory {
    if (values.length !== HISTORY_VALUES) throw new Error(`a saturation history has ${HISTORY_VALUES} values, got ${values.length}`);
    const history = new SaturationHistory();
    [history.minute, history.minuteCount, history.minuteSum] = values as unknown as [number, number, number];
    let at = HISTORY_HEAD_VALUES;
    for (const ring of history.rings()) {
      ring.set(values.subarray(at, at + ring.length));
      at += ring.length;
    }
    return history;
  }

  private rings(): readonly Float32Array[] {
    return [this.minutes, this.slots, this.blockMedians, this.blockPeaks];
  }

  /** Makes `minute` the newest; what lies between is empty, and slots and blocks that end before it are closed. */
  private advance(minute: number): void {
    const before = this.minute;
    if (before >= 0) {
      const slotBefore = Math.floor(before / SLOT_MINUTES);
      const slotNow = Math.floor(minute / SLOT_MINUTES);
      if (slotNow > slotBefore) this.closeSlots(slotBefore, slotNow);
      clear(this.minutes, before + 1, minute);
    }
    this.minute = minute;
    this.minuteCount = 0;
    this.minuteSum = 0;
  }

  private closeSlots(slot: number, slotNow: number): void {
    const y = valuesOf(this.minutes, slot * SLOT_MINUTES, Math.min(this.minute, slot * SLOT_MINUTES + SLOT_MINUTES - 1));
    this.slots[slot % SLOTS_RETAINED] = y.length === 0 ? Number.NaN : medianInPlace(y, y.length);
    const block = Math.floor(slot / BLOCK_SLOTS);
    const blockNow = Math.floor(slotNow / BLOCK_SLOTS);
    if (blockNow > block) this.closeBlocks(block, slot, blockNow);
    clear(this.slots, slot + 1, slotNow);
  }

  private closeBlocks(block: number, slot: number, blockNow: number): void {
    const peak = highest(this.slots, block * BLOCK_SLOTS, slot);
    const y = valuesOf(this.slots, block * BLOCK_SLOTS, slot);
    this.blockMedians[block % BLOCKS_RETAINED] = y.length === 0 ? Number.NaN : medianInPlace(y, y.length);
    this.blockPeaks[block % BLOCKS_RETAINED] = y.length === 0 ? Number.NaN : peak;
    clear(this.blockMedians, block + 1, blockNow);
    clear(this.blockPeaks, block + 1, blockNow);
  }
}

/** Empties the places of `from`..`to`, each once however far apart they are. */
function clear(ring: Float32Array, from: number, to: number): void {
  for (let i = Math.max(from, to - ring.length + 1); i <= to; i++) ring[i % ring.length] = Number.NaN;
}

/** Points that stand in a ring from one index to another, at the middle of their times in minutes from now; an index lasts `minutes`. */
function collect(ring: Float32Array, from: number, to: number, minutes: number, now: number): Points {
  const count = counted(ring, from, to);
  const t = new Float64Array(count);
  const y = new Float64Array(count);
  let n = 0;
  for (let index = from; n < count; index++) {
    const value = ring[index % ring.length] as number;
    if (Number.isNaN(value)) continue;
    t[n] = (index + 0.5) * minutes - now;
    y[n++] = value;
  }
  return { t, y };
}

function valuesOf(ring: Float32Array, from: number, to: number): Float64Array {
  const count = counted(ring, from, to);
  const values = new Float64Array(count);
  let n = 0;
  for (let index = from; n < count; index++) {
    const value = ring[index % ring.length] as number;
    if (!Number.isNaN(value)) values[n++] = value;
  }
  return values;
}

function counted(ring: Float32Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index <= to; index++) if (!Number.isNaN(ring[index % ring.length] as number)) count++;
  return count;
}

/** -Infinity where nothing is known. */
function highest(ring: Float32Array, from: number, to: number): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let index = from; index <= to; index++) {
    const value = ring[index % ring.length] as number;
    if (value > most) most = value;
  }
  return most;
}
