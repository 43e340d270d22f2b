// Periods of a series by octaves: a slow course and a quick one that are added up lie in different ones, though the sum crosses its mean at no equal gaps. Each octave
// shows its rises, and where these come at equal gaps, their mean is a period.
//
//   octave k   2 a(k) - 3 a(k+1) + a(k+2), a(k) a mean that forgets over 2^k values of a(k-1): what is slower falls with its square; it shows periods of about 9 * 2^k values
//
// 7 numbers of double precision and 37 of single; a value costs nine means and seven comparisons.

export const OCTAVES = 7;
const MEANS = OCTAVES + 2;
/** Indices of numbers of single precision: means, then of each octave the usual gap, what gaps stray by, what its heights are, and its rises, negative while it is below. */
const GAPS = MEANS;
const STRAYS = GAPS + OCTAVES;
const HEIGHTS = STRAYS + OCTAVES;
const RISES = HEIGHTS + OCTAVES;
export const OCTAVE_SINGLES = RISES + OCTAVES;

/** Share of its usual height that an octave has to rise to. */
const RISE_SHARE = 0.5;
/** Single precision holds the values themselves, and no six times as much. */
const HEIGHT_SCALE = 1 / 8;
const MEAN_WEIGHTS = Float64Array.from({ length: MEANS }, (_, k) => 2 ** -(k + 1));
const HEIGHT_WEIGHTS = Float64Array.from({ length: OCTAVES }, (_, octave) => 2 ** -(octave + 7));
const GAP_WEIGHT = 0.15;
/** Rises before their gaps say anything, and share of the gap by which they may stray then; shorter ones than so many values are noise. */
const RISES_MIN = 5;
const REGULAR_SHARE = 0.15;
const PERIOD_VALUES_MIN = 16;
/** Share of what all octaves move by, squared, that one has to have for itself. */
const POWER_SHARE = 0.08;
/** Periods are two where one is so many times the other, and no small multiple of it: else they are one, and a part of its shape. */
const APART = 1.7;
const MULTIPLE_SHARE = 0.03;
const MULTIPLES_MAX = 5;

/** Over caller-owned state, all 0 at the start: OCTAVES times of rises, and OCTAVE_SINGLES further numbers. */
export class Octaves {
  readonly #rose: Float64Array;
  readonly #singles: Float32Array;

  constructor(rose: Float64Array, singles: Float32Array) {
    this.#rose = rose;
    this.#singles = singles;
  }

  /** Takes a value, the `count`th of its series, of which it may have seen none; a bit for each octave that has risen with it, the lowest for the first. */
  take(timeMs: number, value: number, count: number): number {
    const singles = this.#singles;
    // The slowest mean is 0 before the first value, and of a series that has been nothing for long, which begins anew then.
    const isFirst = singles[MEANS - 1] === 0;
    const share = 1 / count;
    let two = value;
    let one = value;
    let risen = 0;
    // One loop without calls: numbers that are passed on are objects, and this runs for each value of each pair.
    for (let k = 0; k < MEANS; k++) {
      const former = singles[k] as number;
      const mean = isFirst ? value : former + Math.max(MEAN_WEIGHTS[k] as number, share) * (one - former);
      singles[k] = mean;
      if (k >= 2) {
        const octave = k - 2;
        const height = (2 * two - 3 * one + mean) * HEIGHT_SCALE;
        const usual = singles[HEIGHTS + octave] as number;
        singles[HEIGHTS + octave] = usual + Math.max(HEIGHT_WEIGHTS[octave] as number, share) * (Math.abs(height) - usual);
        const rises = singles[RISES + octave] as number;
        if (rises < 0) {
          if (height > RISE_SHARE * usual) risen |= 1 << octave;
        } else if (height < 0) singles[RISES + octave] = -rises - 1;
      }
      two = one;
      one = mean;
    }
    for (let octave = 0; risen >> octave !== 0; octave++) if ((risen >> octave) & 1) this.#rise(octave, timeMs);
    return risen;
  }

  #rise(octave: number, timeMs: number): void {
    const rises = -(this.#singles[RISES + octave] as number);
    this.#singles[RISES + octave] = rises;
    this.#learnGap(octave, rises, timeMs - (this.#rose[octave] as number));
    this.#rose[octave] = timeMs;
  }

  /** Takes the gap before a rise, which is the `rises`th. */
  #learnGap(octave: number, rises: number, gap: number): void {
    if (rises < 2) return;
    const singles = this.#singles;
    const usual = singles[GAPS + octave] as number;
    const weight = Math.max(GAP_WEIGHT, 1 / (rises - 1));
    const stray = rises === 2 ? gap / 2 : Math.abs(gap - usual);
    singles[STRAYS + octave] = (singles[STRAYS + octave] as number) + weight * (stray - (singles[STRAYS + octave] as number));
    singles[GAPS + octave] = usual + weight * (gap - usual);
  }

  /** Usual gap between rises of an octave, ms, and the time of the newest one. */
  gapMs(octave: number): number {
    return this.#singles[GAPS + octave] as number;
  }

  roseMs(octave: number): number {
    return this.#rose[octave] as number;
  }

  /** The octave that moves the series most, of those that rise at equal gaps; -1 for none. One like the period `besides`, unless that is 0, does not count. */
  strongest(intervalMs: number, besides: number): number {
    const least = Math.sqrt(POWER_SHARE) * this.move;
    let found = -1;
    for (let octave = 0; octave < OCTAVES; octave++) {
      const height = this.#heightOf(octave);
      if (height < least || !this.#isRegular(octave, intervalMs) || isLike(this.gapMs(octave), besides)) continue;
      if (found < 0 || height > this.#heightOf(found)) found = octave;
    }
    return found;
  }

  /** What all octaves move the series by. */
  get move(): number {
    let squares = 0;
    for (let octave = 0; octave < OCTAVES; octave++) squares += this.#heightOf(octave) ** 2;
    return Math.sqrt(squares);
  }

  #heightOf(octave: number): number {
    return (this.#singles[HEIGHTS + octave] as number) / HEIGHT_SCALE;
  }

  #isRegular(octave: number, intervalMs: number): boolean {
    const gap = this.gapMs(octave);
    if (Math.abs(this.#singles[RISES + octave] as number) < RISES_MIN || gap < PERIOD_VALUES_MIN * intervalMs) return false;
    return (this.#singles[STRAYS + octave] as number) <= REGULAR_SHARE * gap;
  }
}

/** Whether a period is near another one, or one of the two a small multiple of the other; 0 is like none. */
export function isLike(period: number, other: number): boolean {
  if (other === 0) return false;
  const ratio = period > other ? period / other : other / period;
  const times = Math.round(ratio);
  return ratio < APART || (times <= MULTIPLES_MAX && Math.abs(ratio - times) <= MULTIPLE_SHARE * times);
}
