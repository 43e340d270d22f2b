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
export const SPAN_WORDS = 9;

/** Spans on their way to a TraceJoin, as words: they are looked for together, so that their cache misses overlap. */
export class JoinBatch {
  words = new Int32Array(64 * SPAN_WORDS);
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
    const at = this.count * SPAN_WORDS;
    if (at === this.words.length) this.#grow();
    const { words } = this;
    this.count++;
    words[at + KEY_HIGH] = high;
    words[at + KEY_LOW] = low;
    words[at + PARENT_HIGH] = parentHigh;
    words[at + PARENT_LOW] = parentLow;
    words[at + MINUTE] = minute;
    words[at + MICROSECONDS] = microseconds;
    words[at + MICROSECONDS_HIGH] = (Math.floor(microseconds / HIGH_WORD) & HIGH_MASK) | (flags << FLAGS_SHIFT);
    words[at + SERVICE] = service;
    words[at + OPERATION] = operation;
  }

  #grow(): void {
    const larger = new Int32Array(2 * this.words.length);
    larger.set(this.words);
    this.words = larger;
  }
}
