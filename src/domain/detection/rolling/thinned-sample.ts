// Median and spread over a long past in little room: a sample of the values so far whose stride doubles each time that it is full.
// All values until the sample is full for the first time, every second one after that, and so on up to STRIDE_MAX, from where on the older
// half is given up when it is full: the sample then reaches back 64 to 128 strides.
import { selectIndex } from "../../../core/collections/selection.ts";
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";

/** Values held; 128 of them put the median within 0.11 standard deviations of the true one. */
export const SAMPLE_VALUES = 128;
/** Numbers of state besides the values. */
export const SAMPLE_LENGTH = 5;
const STRIDE_MAX = 64;
const SCORED_FROM = 5;
/** Standard deviations of a normal per median absolute deviation. */
const SD_PER_MAD = 1.4826;
const FLOAT_MAX = 3e38;

const LENGTH = 0;
const STRIDE = 1;
const SKIPPED = 2;
const MEDIAN = 3;
const MAD = 4;

const scratch = new Float64Array(SAMPLE_VALUES);

/** A sample over caller-owned state: SAMPLE_VALUES values, SAMPLE_LENGTH numbers, all 0 at the start. */
export class ThinnedSample {
  readonly #values: Float32Array;
  readonly #floats: Float64Array;

  constructor(values: Float32Array, floats: Float64Array) {
    this.#values = values;
    this.#floats = floats;
  }

  get length(): number {
    return this.#floats[LENGTH] as number;
  }

  get median(): number {
    return this.#floats[MEDIAN] as number;
  }

  /** Median absolute deviation from the median. */
  get mad(): number {
    return this.#floats[MAD] as number;
  }

  /** (value - median) / scale with the scale from the MAD, of no less than `least`; 0 below 5 values. */
  z(value: number, least = SD_MIN): number {
    if (this.length < SCORED_FROM) return 0;
    return (value - this.median) / Math.max(SD_PER_MAD * this.mad, SD_RELATIVE_MIN * Math.abs(this.median), SD_MIN, least);
  }

  /** value / scale for values that are magnitudes, whose median is their scale; 0 below 5 values. */
  ratio(magnitude: number): number {
    return this.length < SCORED_FROM ? 0 : magnitude / Math.max(SD_PER_MAD * this.median, SD_MIN);
  }

  add(value: number): void {
    const skipped = (this.#floats[SKIPPED] as number) + 1;
    this.#floats[SKIPPED] = skipped;
    if (skipped < (this.#floats[STRIDE] as number)) return;
    this.#floats[SKIPPED] = 0;
    this.#values[this.length] = Math.min(FLOAT_MAX, Math.max(-FLOAT_MAX, value));
    this.#floats[LENGTH] = this.length + 1;
    if (this.length === SAMPLE_VALUES) this.#thin();
    this.#summarise();
  }

  #thin(): void {
    const half = SAMPLE_VALUES / 2;
    const stride = Math.max(1, this.#floats[STRIDE] as number);
    if (stride < STRIDE_MAX) {
      for (let i = 0; i < half; i++) this.#values[i] = this.#values[2 * i + 1] as number;
      this.#floats[STRIDE] = 2 * stride;
    } else this.#values.copyWithin(0, half);
    this.#floats[LENGTH] = half;
  }

  /** The median is the middle value, of two the upper; its deviation the same of the distances from it. */
  #summarise(): void {
    const { length } = this;
    const values = this.#values;
    const middle = length >> 1;
    for (let i = 0; i < length; i++) scratch[i] = values[i] as number;
    const median = selectIndex(scratch, length, middle);
    for (let i = 0; i < length; i++) scratch[i] = Math.abs((values[i] as number) - median);
    this.#floats[MEDIAN] = median;
    this.#floats[MAD] = selectIndex(scratch, length, middle);
  }
}
