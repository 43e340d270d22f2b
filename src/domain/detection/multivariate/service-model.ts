// What a service's metrics do together: principal components of its vectors and of their steps, learned from history.

import { TailCalibration } from "../calibration/tail-calibration.ts";
import { median } from "../robust.ts";
import { PrincipalComponents, type Rows } from "./principal-components.ts";

/** Rows of training below which there is no model. */
const MODEL_ROWS_MIN = 64;
/** Values of which a median or a tail is taken; longer histories are thinned evenly. */
const CALIBRATION_ROWS_MAX = 20_000;
/** Vectors over which the residual of the joint score is also taken as a mean. */
const SMOOTHED = 3;

/** Strangeness of a vector; each is 0 for a perfect fit and log 2 for a usual one. */
export interface Strangeness {
  /** log(1 + Q / its median). */
  shape: number;
  /** log(1 + mean residual / its median). */
  level: number;
  /** The same of the step from the vector before. */
  step: number;
  /** The step's residual and scores together: jumps of all metrics at once too. */
  jump: number;
}

/** A trained model; it is not changed afterwards. */
export class ServiceModel {
  readonly #levels: PrincipalComponents;
  readonly #steps: PrincipalComponents;
  readonly #step: Float64Array;
  readonly #medians: Strangeness = { shape: 1, level: 1, step: 1, jump: 1 };
  readonly #strangeness: Strangeness = { shape: 0, level: 0, step: 0, jump: 0 };
  readonly calibration: TailCalibration;

  /** Trains on consecutive vectors, at least MODEL_ROWS_MIN. 10,000 rows of 40 metrics take about 0.2 s. */
  constructor({ values, width }: Rows) {
    const count = values.length / width;
    if (count < MODEL_ROWS_MIN) throw new Error(`a model needs ${MODEL_ROWS_MIN} rows, got ${count}`);
    this.#levels = new PrincipalComponents({ values, width });
    const steps = new Float64Array(values.length);
    for (let i = width; i < values.length; i++) steps[i] = (values[i] as number) - (values[i - width] as number);
    this.#steps = new PrincipalComponents({ values: steps, width });
    this.#step = new Float64Array(width);
    const every = Math.max(1, Math.ceil(count / CALIBRATION_ROWS_MAX));
    this.#calibrateMedians(values, width, every);
    this.calibration = this.#calibrateJoint(values, width, every);
  }

  /** Share of each metric in the residual of the vector that was measured last, in squared standard deviations. */
  contributions(): Float64Array {
    return this.#levels.residuals.map((residual) => residual * residual);
  }

  /** Measures the vector in `values` from `start` on against the one before it in `before`, from `startBefore` on. The object is used again. */
  measure(values: Float64Array, start: number, before: Float64Array, startBefore: number): Strangeness {
    const width = this.#step.length;
    for (let j = 0; j < width; j++) this.#step[j] = (values[start + j] as number) - (before[startBefore + j] as number);
    const step = this.#steps.measure(this.#step, 0);
    const level = this.#levels.measure(values, start);
    const medians = this.#medians;
    this.#strangeness.shape = Math.log1p(level.q / medians.shape);
    this.#strangeness.level = Math.log1p(level.residual / medians.level);
    this.#strangeness.step = Math.log1p(step.residual / medians.step);
    this.#strangeness.jump = Math.log1p((step.residual + step.score) / medians.jump);
    return this.#strangeness;
  }

  #calibrateMedians(values: Float64Array, width: number, every: number): void {
    const seen = { shape: [] as number[], level: [] as number[], step: [] as number[], jump: [] as number[] };
    for (let i = width; i < values.length; i += every * width) {
      const { shape, level, step, jump } = this.measure(values, i, values, i - width);
      seen.shape.push(Math.expm1(shape));
      seen.level.push(Math.expm1(level));
      seen.step.push(Math.expm1(step));
      seen.jump.push(Math.expm1(jump));
    }
    const center = (list: number[]): number => Math.max(median(list), Number.EPSILON);
    Object.assign(this.#medians, {
      shape: center(seen.shape),
      level: center(seen.level),
      step: center(seen.step),
      jump: center(seen.jump),
    });
  }

  #calibrateJoint(values: Float64Array, width: number, every: number): TailCalibration {
    const joint: number[] = [];
    for (let i = SMOOTHED * width; i < values.length; i += every * width) {
      let smooth = 0;
      let last = 0;
      for (let back = SMOOTHED - 1; back >= 0; back--) {
        const at = i - back * width;
        const { shape, step } = this.measure(values, at, values, at - width);
        smooth += shape / SMOOTHED;
        if (back === 0) last = shape + step;
      }
      joint.push(smooth + last);
    }
    return new TailCalibration(joint);
  }
}
