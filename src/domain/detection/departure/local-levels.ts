// What the next value should be, by several forecasts that run beside each other, and how far each is off as a rule: a slow and a quick level, both also of what
// the hours of the day leave over. The one that has been off least speaks. Levels and spreads are M-estimates on the run (Huber 1964), so that an incident moves
// neither soon.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import { SD_PER_MEAN_DEVIATION } from "../robust.ts";

const LEVELS = 4;
const SLOW = 0;
const QUICK = 1;
const SLOW_OF_HOURS = 2;
const LEVEL_WEIGHTS = [0.03, 0.25, 0.03, 0.25] as const;
const SPREAD_WEIGHT = 0.01;
const ERROR_WEIGHT = 0.002;
/** Deviations count with at most so many standard deviations in levels, in spreads, and in the errors that forecasts are compared by. */
const LEVEL_CLIP = 3;
const SPREAD_CLIP = 2.5;
const ERROR_CLIP = 4;
const UNCLIPPED_VALUES = 20;
/** A forecast must have been off by less than this share of another one's error to speak in its place. */
const BETTER_SHARE = 0.95;
/** Values stray from what is usual at their hour by at least this share of what they stray from the quick level: an hour's first day, at night, shows nothing of its noise by day. */
const QUICK_SPREAD_SHARE = 0.7;

const SPREAD = LEVELS;
const ERROR = 2 * LEVELS;
/** Values learned, and those at a known hour: negative while the newest one was at none, since what hours leave over has gone on unseen. */
const COUNT = 3 * LEVELS;
/** Numbers of state. */
export const LOCAL_LEVELS_LENGTH = 3 * LEVELS + 2;

/** Over caller-owned state of LOCAL_LEVELS_LENGTH numbers, all 0 at the start. */
export class LocalLevels {
  readonly #floats: Float64Array;
  readonly #forecasts = new Float64Array(LEVELS);
  #speaks = SLOW;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  /** Value that the forecast that speaks expects, its mean absolute deviation, and its mean error as forecasts are compared by. */
  get expected(): number {
    return this.#forecasts[this.#speaks] as number;
  }

  get spread(): number {
    const spread = this.#floats[SPREAD + this.#speaks] as number;
    return this.#speaks < SLOW_OF_HOURS ? spread : Math.max(spread, QUICK_SPREAD_SHARE * (this.#floats[SPREAD + QUICK] as number));
  }

  /** Values that were learned. */
  get learned(): number {
    return this.#floats[COUNT] as number;
  }

  get error(): number {
    return this.#floats[ERROR + this.#speaks] as number;
  }

  /** How far the hour takes the value that is expected away from the quick level; 0 where a forecast without hours speaks. */
  get edge(): number {
    return this.#speaks < SLOW_OF_HOURS ? 0 : this.expected - (this.#forecasts[QUICK] as number);
  }

  /**
   * Makes the forecasts of a value; `hour` is what is usual at its time, NaN where that is not known. Behind a gap the levels of before say nothing of another hour,
   * where hours are known.
   */
  forecast(hour: number, isBehindGap: boolean): void {
    const floats = this.#floats;
    const isOfHours = isBehindGap && !Number.isNaN(hour) && this.#count(SLOW_OF_HOURS) > UNCLIPPED_VALUES;
    const speakers = isOfHours || !this.#areHoursBehind ? LEVELS : SLOW_OF_HOURS;
    const first = isOfHours ? SLOW_OF_HOURS : SLOW;
    let speaks = first;
    for (let i = 0; i < LEVELS; i++) {
      const forecast = (floats[i] as number) + (i >= SLOW_OF_HOURS ? hour : 0);
      this.#forecasts[i] = forecast;
      if (i <= first || i >= speakers || Number.isNaN(forecast) || this.#count(i) <= UNCLIPPED_VALUES) continue;
      if ((floats[ERROR + i] as number) < BETTER_SHARE * (floats[ERROR + speaks] as number)) speaks = i;
    }
    this.#speaks = speaks;
  }

  /** Takes the value that was forecast; nothing of it where `isHeld`. `finest` is the smallest spread that the series can show. */
  learn(value: number, isExcluded: boolean, finest: number): void {
    const floats = this.#floats;
    if (floats[COUNT] === 0) {
      floats[SLOW] = value;
      floats[QUICK] = value;
      floats[COUNT] = 1;
      return;
    }
    if (isExcluded) return;
    const isOfHours = !Number.isNaN(this.#forecasts[SLOW_OF_HOURS] as number);
    floats[COUNT] = (floats[COUNT] as number) + 1;
    if (isOfHours && this.#areHoursBehind) this.#catchUp(value);
    floats[COUNT + 1] = isOfHours ? this.#count(SLOW_OF_HOURS) + 1 : -this.#count(SLOW_OF_HOURS);
    const errorUnit = Math.max(floats[SPREAD] as number, SD_RELATIVE_MIN * Math.abs(floats[SLOW] as number), SD_MIN, finest);
    const used = isOfHours ? LEVELS : SLOW_OF_HOURS;
    for (let i = 0; i < used; i++) this.#learn(i, value, SD_PER_MEAN_DEVIATION * ERROR_CLIP * errorUnit);
  }

  /** What hours leave over goes on from the quick level, where that is nearer. */
  #catchUp(value: number): void {
    const quick = this.#forecasts[QUICK] as number;
    for (let i = SLOW_OF_HOURS; i < LEVELS; i++) {
      const forecast = this.#forecasts[i] as number;
      if (Math.abs(value - forecast) <= Math.abs(value - quick)) continue;
      this.#floats[i] = (this.#floats[i] as number) + quick - forecast;
      this.#forecasts[i] = quick;
    }
  }

  /** Values have come at hours that are not known. */
  get #areHoursBehind(): boolean {
    return (this.#floats[COUNT + 1] as number) < 0;
  }

  #learn(i: number, value: number, errorMax: number): void {
    const floats = this.#floats;
    const count = this.#count(i);
    const isClipped = count >= UNCLIPPED_VALUES;
    const deviation = value - (this.#forecasts[i] as number);
    const size = Math.abs(deviation);
    const share = 1 / count;
    const sd = Math.max(SD_PER_MEAN_DEVIATION * (floats[SPREAD + i] as number), SD_RELATIVE_MIN * Math.abs(value), SD_MIN);
    floats[ERROR + i] = mix(floats[ERROR + i] as number, isClipped ? Math.min(size, errorMax) : size, Math.max(ERROR_WEIGHT, share));
    floats[SPREAD + i] = mix(
      floats[SPREAD + i] as number,
      isClipped ? Math.min(size, SPREAD_CLIP * sd) : size,
      Math.max(SPREAD_WEIGHT, share),
    );
    const most = isClipped ? LEVEL_CLIP * sd : Number.POSITIVE_INFINITY;
    const weight = Math.max(LEVEL_WEIGHTS[i] as number, share);
    floats[i] = (floats[i] as number) + weight * Math.max(-most, Math.min(most, deviation));
  }

  /** Behind a gap the value is as its hour is: the levels go on from it. */
  rejoin(value: number): void {
    this.#floats[SLOW] = value;
    this.#floats[QUICK] = value;
  }

  /** Takes another level for usual: that of a deployment, or one that has lasted; `hour` as in forecast(). Spreads are at least `spread` from then on. */
  settle(level: number, hour: number, spread: number): void {
    this.widen(spread);
    this.#floats[SLOW] = level;
    this.#floats[QUICK] = level;
    if (Number.isNaN(hour)) return;
    this.#floats[SLOW_OF_HOURS] = level - hour;
    this.#floats[SLOW_OF_HOURS + 1] = level - hour;
  }

  /** Values stray by at least so much from here on, until they have shown what they do. */
  widen(spread: number): void {
    for (let i = 0; i < LEVELS; i++) this.#floats[SPREAD + i] = Math.max(this.#floats[SPREAD + i] as number, spread);
  }

  /** Begins anew, at a level with a mean absolute deviation. */
  restart(level: number, spread: number): void {
    this.#floats.fill(0);
    this.#floats.fill(spread, SPREAD, COUNT);
    this.#floats[SLOW] = level;
    this.#floats[QUICK] = level;
    this.#floats[COUNT] = UNCLIPPED_VALUES;
  }

  /** Values that a forecast has been compared with. */
  #count(i: number): number {
    return Math.abs(this.#floats[i >= SLOW_OF_HOURS ? COUNT + 1 : COUNT] as number);
  }
}

/** A mean that has taken a value with a weight. */
export function mix(mean: number, value: number, weight: number): number {
  return mean + weight * (value - mean);
}
