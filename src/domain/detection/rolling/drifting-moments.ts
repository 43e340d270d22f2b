// Mean and variance that forget: exact until `memory` values, exponentially weighted from then on. Three numbers, O(1) a value.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";

/** Numbers of state. */
export const MOMENTS_LENGTH = 3;
const COUNT = 0;
const MEAN = 1;
const VARIANCE = 2;
const SCORED_FROM = 8;

/** Moments over caller-owned state of MOMENTS_LENGTH numbers, all 0 at the start. */
export class DriftingMoments {
  readonly #floats: Float64Array;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  get count(): number {
    return this.#floats[COUNT] as number;
  }

  get mean(): number {
    return this.#floats[MEAN] as number;
  }

  /** Standard deviation with floors: a thousandth of the mean, 1e-9. */
  get sd(): number {
    return Math.max(Math.sqrt(this.#floats[VARIANCE] as number), SD_RELATIVE_MIN * Math.abs(this.mean), SD_MIN);
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
    this.#floats[COUNT] = count;
    this.#floats[MEAN] = this.mean + weight * deviation;
    this.#floats[VARIANCE] = (1 - weight) * ((this.#floats[VARIANCE] as number) + weight * deviation * deviation);
  }

  /** Takes a value that says nothing of the level, as one of an incident: the mean stays, and the spread follows. */
  hold(value: number, memory: number): void {
    const count = this.count + 1;
    const weight = Math.max(1 / count, 1 / memory);
    const deviation = value - this.mean;
    this.#floats[COUNT] = count;
    this.#floats[VARIANCE] = (1 - weight) * ((this.#floats[VARIANCE] as number) + weight * deviation * deviation);
  }

  /** Goes on from moments that are known to be those of the values so far. */
  restart(mean: number, sd: number): void {
    this.#floats[MEAN] = mean;
    this.#floats[VARIANCE] = sd * sd;
  }

  /** Takes `mean` for the mean from now on, and counts at most `count` values: the next ones weigh accordingly. The spread stays. */
  rebase(mean: number, count: number): void {
    this.#floats[MEAN] = mean;
    this.#floats[COUNT] = Math.min(this.count, count);
  }
}
