// Spans on their way to a TraceJoin, as words.

export const HIGH_WORD = 2 ** 32;
/** A span as words. */
export const KEY_HIGH = 0;
export const KEY_LOW = 1;
export const PARENT_HIGH = 2;
export const PARENT_LOW = 3;
export const MINUTE = 4;
export const MICROSECONDS = 5;
/** Above 32 bits, of 2^40 at most; flags stand from bit 16 on. */
export const MICROSECONDS_HIGH = 6;
export const FLAGS_SHIFT = 16;
export const HIGH_MASK = 0xffff;
export const SERVICE = 7;
/** Its number in OperationTimes, or NO_OPERATION. */
export const OPERATION = 8;
export const SPAN_LENGTH = 9;

/** Spans on their way to a TraceJoin, as words: they are looked for together, so that their cache misses overlap. */
export class JoinBatch {
  int32s = new Int32Array(64 * SPAN_LENGTH);
  count = 0;

  push(
    service: number,
    flags: number,
    high: number,
    low: number,
    parentHigh: number,
    parentLow: number,
    minute: number,
    microseconds: number,
    operation: number,
  ): void {
    const at = this.count * SPAN_LENGTH;
    if (at === this.int32s.length) this.#grow();
    const { int32s: slots } = this;
    this.count++;
    slots[at + KEY_HIGH] = high;
    slots[at + KEY_LOW] = low;
    slots[at + PARENT_HIGH] = parentHigh;
    slots[at + PARENT_LOW] = parentLow;
    slots[at + MINUTE] = minute;
    slots[at + MICROSECONDS] = microseconds;
    slots[at + MICROSECONDS_HIGH] = (Math.floor(microseconds / HIGH_WORD) & HIGH_MASK) | (flags << FLAGS_SHIFT);
    slots[at + SERVICE] = service;
    slots[at + OPERATION] = operation;
  }

  #grow(): void {
    const larger = new Int32Array(2 * this.int32s.length);
    larger.set(this.int32s);
    this.int32s = larger;
  }
}
