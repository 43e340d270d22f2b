// From a statistic without units to a tail probability: the empirical distribution of its history up to the 98 % quantile, and beyond it a
// generalised Pareto tail (peaks over threshold: Pickands 1975; SPOT, Siffer et al. 2017), fitted by its moments (Hosking & Wallis 1987).

const TAIL_SHARE = 0.02;
const KNOTS = 65;
const SHAPE_MAX = 0.5;
const EXCESSES_MIN = 8;
const EXPONENTIAL_BELOW = 1e-6;
const SCALE_MIN = 1e-12;
/** Beyond the largest z that is reported. */
const LOG_P_MIN = -5000;

/** Shape gamma and scale sigma of a generalised Pareto distribution. */
export interface ParetoTail {
  readonly shape: number;
  readonly scale: number;
}

/**
 * Fits excesses over a threshold by mean m and variance v: gamma = (1 - m^2 / v) / 2, sigma = m (m^2 / v + 1) / 2. The shape is kept in
 * [0, 0.5]: a bounded tail would call everything beyond it equally impossible.
 */
export function fitParetoTail(excesses: ArrayLike<number>): ParetoTail {
  const count = excesses.length;
  if (count === 0) return { shape: 0, scale: 1 };
  let mean = 0;
  for (let i = 0; i < count; i++) mean += (excesses[i] as number) / count;
  let variance = 0;
  for (let i = 0; i < count; i++) variance += ((excesses[i] as number) - mean) ** 2 / Math.max(1, count - 1);
  if (count < EXCESSES_MIN || variance === 0) return { shape: 0, scale: Math.max(mean, SCALE_MIN) };
  const ratio = (mean * mean) / variance;
  const shape = Math.min(SHAPE_MAX, Math.max(0, 0.5 * (1 - ratio)));
  // With the shape at a limit the scale follows from the mean alone: m = sigma / (1 - gamma).
  return { shape, scale: Math.max(mean * (1 - shape), SCALE_MIN) };
}

/** Numbers of a calibration: threshold, shape, scale, log of the tail's share, then values at equal steps of probability up to the threshold. */
export const CALIBRATION_LENGTH = 4 + KNOTS;
const THRESHOLD = 0;
const SHAPE = 1;
const SCALE = 2;
const LOG_SHARE = 3;
const FIRST_KNOT = 4;

/** Calibrates one statistic, of which larger is stranger. */
export class TailCalibration {
  readonly floats: Float64Array;
  /** Values at equal steps of probability from the smallest to the threshold. */
  readonly #knots: Float64Array;

  /** Over CALIBRATION_LENGTH numbers that `fit` has made. */
  constructor(floats: Float64Array) {
    this.floats = floats;
    this.#knots = floats.subarray(FIRST_KNOT);
  }

  /** `history` must hold at least one value. */
  static fit(history: ArrayLike<number>): TailCalibration {
    const sorted = Float64Array.from(history).sort();
    const count = sorted.length;
    const first = Math.min(count - 1, Math.floor((1 - TAIL_SHARE) * count));
    const threshold = sorted[first] as number;
    const { shape, scale } = fitParetoTail(sorted.subarray(first + 1).map((value) => value - threshold));
    const logShare = Math.log((count - first) / (count + 1));
    const knots = Array.from({ length: KNOTS }, (_, i) => sorted[Math.round((i * first) / (KNOTS - 1))] as number);
    return new TailCalibration(Float64Array.of(threshold, shape, scale, logShare, ...knots));
  }

  /** log of the probability that history gives to this value or a larger one; it falls strictly beyond the threshold. */
  logP(value: number): number {
    const excess = value - (this.floats[THRESHOLD] as number);
    return excess > 0 ? this.#logTail(excess) : this.#logBulk(value);
  }

  #logTail(excess: number): number {
    const shape = this.floats[SHAPE] as number;
    const reach = excess / (this.floats[SCALE] as number);
    return Math.max(
      LOG_P_MIN,
      (this.floats[LOG_SHARE] as number) - (shape < EXPONENTIAL_BELOW ? reach : Math.log1p(shape * reach) / shape),
    );
  }

  #logBulk(value: number): number {
    let low = 0;
    let high = KNOTS - 1;
    if (value <= (this.#knots[0] as number)) return 0;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#knots[middle] as number) < value) low = middle;
      else high = middle;
    }
    const width = (this.#knots[high] as number) - (this.#knots[low] as number);
    const index = width > 0 ? low + (value - (this.#knots[low] as number)) / width : high;
    return Math.log1p((index / (KNOTS - 1)) * Math.expm1(this.floats[LOG_SHARE] as number));
  }
}
