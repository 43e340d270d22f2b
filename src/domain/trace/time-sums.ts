// Sums over times whose order does not matter, since all are whole: what engines and minutes hold adds up to the same, whoever held what.
//
//   count, microseconds, sum and sum of squares of ln(1 + ms) in 2^-20

export const TIME_SUM_NUMBERS = 4;
const COUNT = 0;
const MICROSECONDS = 1;
const LOGS = 2;
const SQUARES = 3;
/** A logarithm of 2^40 us is 14, of a square 200: 2^25 of them in a minute are exact. */
const LOG_SCALE = 2 ** 20;

/** Moments of times in ms: their mean, and mean and standard deviation of ln(1 + ms), which one slow span does not move far. */
export interface TimeMoments {
  readonly meanMs: number;
  readonly log: number;
  readonly spread: number;
}

/** Moments where nothing is known. */
export const NO_TIME: TimeMoments = { meanMs: 0, log: 0, spread: 0 };

/** Moments where the sum of times alone is known. */
export function meanMoments(microseconds: number, count: number): TimeMoments {
  if (count === 0) return NO_TIME;
  const meanMs = microseconds / 1000 / count;
  return { meanMs, log: Math.log1p(meanMs), spread: 0 };
}

/** Adds a time to the sum that begins at `at`. */
export function addTime(sums: Float64Array, at: number, microseconds: number): void {
  const log = Math.log1p(microseconds / 1000);
  sums[at + COUNT]!++;
  sums[at + MICROSECONDS]! += microseconds;
  sums[at + LOGS]! += Math.round(log * LOG_SCALE);
  sums[at + SQUARES]! += Math.round(log * log * LOG_SCALE);
}

/** Adds sums to as many others. */
export function addSums(into: Float64Array, from: Float64Array): void {
  for (let i = 0; i < into.length; i++) into[i]! += from[i]!;
}

/** Times in the sum that begins at `at`. */
export function timeCount(sums: Float64Array, at: number): number {
  return sums[at + COUNT]!;
}

/** Moments of the sum that begins at `at`. */
export function timeMoments(sums: Float64Array, at: number): TimeMoments {
  const count = sums[at + COUNT]!;
  if (count === 0) return NO_TIME;
  const log = sums[at + LOGS]! / LOG_SCALE / count;
  const squares = sums[at + SQUARES]! / LOG_SCALE;
  const spread = count < 2 ? 0 : Math.sqrt(Math.max(0, (squares - count * log * log) / (count - 1)));
  return { meanMs: sums[at + MICROSECONDS]! / 1000 / count, log, spread };
}
