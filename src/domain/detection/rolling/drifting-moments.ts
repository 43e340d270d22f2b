// Mean and variance that forget: exact until `memory` values, exponentially weighted from then on. Three numbers, O(1) a value.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";

/** Numbers of state. */
export const MOMENTS_WORDS = 3;
const COUNT = 0;
const MEAN = 1;
const VARIANCE = 2;
const SCORED_FROM = 8;

/** Moments over caller-owned state of MOMENTS_WORDS numbers, all 0 at the start. */
export class DriftingMoments {
  readonly #words: Float64Array;

  constructor(words: Float64Array) {
    this.#words = words;
  }

  get count(): number {
    return this.#words[COUNT] as number;
  }

  get mean(): number {
    return this.#words[MEAN] as number;
  }

  /** Standard deviation with floors: a thousandth of the mean, 1e-9. */
  get sd(): number {
    return Math.max(Math.sqrt(this.#words[VARIANCE] as number), SD_RELATIVE_MIN * Math.abs(this.mean), SD_MIN);
  }

  /** Whether there are enough values to compare another one with. */
  get isScored(): boolean {
    return this.count >= SCORED_FROM;
  }

  /** (value - mean) / sd against the values so far; 0 below 8 of them. */
  z(value: number): number {
    return this.count < SCORED_FROM ? 0 : (value - this.mean) / this.sd;
  }

  /** Takes a value in, with weight 1 / min(count, memory) (West 1979, incremental mean and variance). */
  add(value: number, memory: number): void {
    const count = this.count + 1;
    const weight = Math.max(1 / count, 1 / memory);
    const deviation = value - this.mean;
    this.#words[COUNT] = count;
    this.#words[MEAN] = this.mean + weight * deviation;
    this.#words[VARIANCE] = (1 - weight) * ((this.#words[VARIANCE] as number) + weight * deviation * deviation);
  }

  /** Takes a value that says nothing of the level, as one of an incident: the mean stays, and the spread follows. */
  hold(value: number, memory: number): void {
    const count = this.count + 1;
    const weight = Math.max(1 / count, 1 / memory);
    const deviation = value - this.mean;
    this.#words[COUNT] = count;
    this.#words[VARIANCE] = (1 - weight) * ((this.#words[VARIANCE] as number) + weight * deviation * deviation);
  }

  /** Takes `mean` for the mean from now on, and counts at most `count` values: the next ones weigh accordingly. The spread stays. */
  rebase(mean: number, count: number): void {
    this.#words[MEAN] = mean;
    this.#words[COUNT] = Math.min(this.count, count);
  }
}
