// What the steps of a series show: whole numbers, a few levels, how far apart its values usually are.
import { fractionsWith, isWhole } from "./counted-values.ts";

/** Share of values equal to the one before from which on a series is taken for one of whole numbers, from which on for one of a few levels, and for a still one. */
const WHOLE_SHARE = 0.3;
const LEVELS_SHARE = 0.7;
const STILL_SHARE = 0.985;
const STILL_WEIGHT = 0.002;
/** Share of the usual step between whole numbers that their sd is at least. */
const STEP_SD_SHARE = 0.3;
const STEP_WEIGHT = 0.05;
const STEP_CLIP = 3;
/** Multiple of the usual step from which on one is a jump: noise hardly makes any. */
const JUMP = 4;
/** Equal values in a row that make a level; of one in a departure. */
const LEVEL_RUN = 5;
const LEVEL_RUN_DEPARTED = 60;
const LEVEL_REFRESH = 16;

/** Numbers of the head of a departure detector that are theirs. */
const PREVIOUS = 1;
const STILL = 2;
const STEP = 3;
const RUN = 4;
/** Share of values of late that were no whole numbers, or 1 once one was. */
const FRACTION = 17;

/** Over caller-owned state, the head of a departure detector, all 0 at the start. */
export class ValueSteps {
  readonly #floats: Float64Array;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  /** The newest value that was learned. */
  get previous(): number {
    return this.#floats[PREVIOUS] as number;
  }

  /** The step to a value, signed, where it is larger than those that the series takes all the time; 0 for any other. */
  jumpTo(value: number): number {
    const step = value - this.previous;
    const usual = (1 - (this.#floats[STILL] as number)) * (this.#floats[STEP] as number);
    return usual > 0 && Math.abs(step) >= JUMP * usual ? step : 0;
  }

  /** Values are whole numbers, of late where they are counts. */
  get areIntegers(): boolean {
    return isWhole(this.#floats[FRACTION] as number);
  }

  /** Values repeat as whole numbers do, without standing still. */
  get areWhole(): boolean {
    const still = this.#floats[STILL] as number;
    return still > WHOLE_SHARE && still < STILL_SHARE;
  }

  /** The series has a few levels, as the number of replicas. */
  get areLevels(): boolean {
    return (this.#floats[STILL] as number) > LEVELS_SHARE;
  }

  /** The sd that a series of whole numbers has at least; 0 for others. */
  get finest(): number {
    return (this.#floats[STILL] as number) > WHOLE_SHARE ? STEP_SD_SHARE * (this.#floats[STEP] as number) : 0;
  }

  /** Learns a value, the `count`th of the series, the mean of `counts` counts or of none; whether it is a level that the series has for a while. */
  learn(value: number, count: number, isIncident: boolean, counts: number): boolean {
    const floats = this.#floats;
    const step = Math.abs(value - (floats[PREVIOUS] as number));
    floats[PREVIOUS] = value;
    floats[FRACTION] = fractionsWith(floats[FRACTION] as number, value, counts);
    if (count === 1) return false;
    floats[STILL] = mix(floats[STILL] as number, step === 0 ? 1 : 0, Math.max(STILL_WEIGHT, 1 / count));
    const usual = floats[STEP] as number;
    if (step > 0) floats[STEP] = usual === 0 ? step : mix(usual, Math.min(step, STEP_CLIP * usual), STEP_WEIGHT);
    const run = step === 0 ? (floats[RUN] as number) + 1 : 1;
    floats[RUN] = run;
    return run === (isIncident ? LEVEL_RUN_DEPARTED : LEVEL_RUN) || (run > LEVEL_RUN_DEPARTED && run % LEVEL_REFRESH === 0);
  }
}

function mix(mean: number, value: number, weight: number): number {
  return mean + weight * (value - mean);
}
