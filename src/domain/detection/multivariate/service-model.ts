// What a service's metrics do together, learned from history: principal components of its vectors and of their steps, and an Isolation Forest over
// both. Two kinds of model because they fail differently: components see broken relations, the forest sees rare places.
import { combineLogP } from "../calibration/cauchy-combination.ts";
import { TailCalibration } from "../calibration/tail-calibration.ts";
import { median } from "../robust.ts";
import { IsolationForest, type Random } from "./isolation-forest.ts";
import { PrincipalComponents, type Rows } from "./principal-components.ts";

/** Rows of training below which there is no model. */
const MODEL_ROWS_MIN = 64;
/** Rows that a forest is grown from, and of which medians and tails are taken; longer histories are thinned evenly. */
const CALIBRATION_ROWS_MAX = 8192;
/** Vectors over which the statistics are also taken as means: single vectors are noisy. */
export const SMOOTHED_VECTORS = 5;

/** The forest is the weaker witness of the two (TSB-AD-M: VUS-PR .20 beside .31). */
const FOREST_WEIGHT = 0.1;

/** Strangeness of a vector: logarithms of 1 + what it is relative to its median in training, so that a usual one has log 2. */
export interface Strangeness {
  /** Of the squared residual Q. */
  shape: number;
  /** Of the mean magnitude of the residual. */
  level: number;
  /** Of the same for the step from the vector before. */
  step: number;
  /** Of the step's residual and scores together: jumps of all metrics at once too. */
  jump: number;
  /** Score of the Isolation Forest over vector and step, 0..1. */
  isolation: number;
}

/** A trained model; it is not changed afterwards. */
export class ServiceModel {
  readonly #levels: PrincipalComponents;
  readonly #steps: PrincipalComponents;
  readonly #forest: IsolationForest;
  /** A vector with its step behind it, as the forest takes them. */
  readonly #pair: Float64Array;
  readonly #step: Float64Array;
  readonly #medians: Strangeness = { shape: 1, level: 1, step: 1, jump: 1, isolation: 1 };
  readonly #strangeness: Strangeness = { shape: 0, level: 0, step: 0, jump: 0, isolation: 0 };
  readonly #componentTail: TailCalibration;
  readonly #forestTail: TailCalibration;

  /** Trains on consecutive vectors, at least MODEL_ROWS_MIN; `random` grows the forest. */
  constructor({ values, width }: Rows, random: Random) {
    const count = values.length / width;
    if (count < MODEL_ROWS_MIN) throw new Error(`a model needs ${MODEL_ROWS_MIN} rows, got ${count}`);
    this.#step = new Float64Array(width);
    this.#pair = new Float64Array(2 * width);
    this.#levels = new PrincipalComponents({ values, width });
    const steps = stepsOf(values, width);
    this.#steps = new PrincipalComponents({ values: steps, width });
    const every = Math.ceil(count / CALIBRATION_ROWS_MAX);
    this.#forest = new IsolationForest({ values: pairsOf(values, steps, width, every), width: 2 * width }, { random });
    this.#calibrateMedians(values, width, every);
    const { components, forest } = this.#history(values, width, every);
    this.#componentTail = new TailCalibration(components);
    this.#forestTail = new TailCalibration(forest);
  }

  /** Part of each metric in the residual of the vector that was measured last, in squared standard deviations. */
  contributions(): Float64Array {
    return this.#levels.residuals.map((residual) => residual * residual);
  }

  /** Measures the vector in `values` from `start` on against the one before it in `before`, from `startBefore` on. The object is used again. */
  measure(values: Float64Array, start: number, before: Float64Array, startBefore: number): Strangeness {
    const strangeness = this.#measureComponents(values, start, before, startBefore);
    const width = this.#step.length;
    for (let j = 0; j < width; j++) this.#pair[j] = values[start + j] as number;
    this.#pair.set(this.#step, width);
    strangeness.isolation = this.#forest.score(this.#pair);
    return strangeness;
  }

  /** log of the probability of a vector as strange as this; `means` holds shape + step and isolation over the newest SMOOTHED_VECTORS vectors. */
  logP({ shape, step, isolation }: Strangeness, means: { readonly components: number; readonly isolation: number }): number {
    return combineLogP([
      { logP: this.#componentTail.logP(shape + step + means.components), weight: 1 - FOREST_WEIGHT },
      { logP: this.#forestTail.logP(isolation + means.isolation), weight: FOREST_WEIGHT },
    ]);
  }

  /** All but the forest's part, and the step in #step. */
  #measureComponents(values: Float64Array, start: number, before: Float64Array, startBefore: number): Strangeness {
    const width = this.#step.length;
    for (let j = 0; j < width; j++) this.#step[j] = (values[start + j] as number) - (before[startBefore + j] as number);
    const step = this.#steps.measure(this.#step, 0);
    const level = this.#levels.measure(values, start);
    const [medians, strangeness] = [this.#medians, this.#strangeness];
    strangeness.shape = Math.log1p(level.q / medians.shape);
    strangeness.level = Math.log1p(level.residual / medians.level);
    strangeness.step = Math.log1p(step.residual / medians.step);
    strangeness.jump = Math.log1p((step.residual + step.score) / medians.jump);
    return strangeness;
  }

  #calibrateMedians(values: Float64Array, width: number, every: number): void {
    const names = ["shape", "level", "step", "jump"] as const;
    const seen = { shape: [] as number[], level: [] as number[], step: [] as number[], jump: [] as number[] };
    for (let i = width; i < values.length; i += every * width) {
      const strangeness = this.#measureComponents(values, i, values, i - width);
      for (const name of names) seen[name].push(Math.expm1(strangeness[name]));
    }
    for (const name of names) this.#medians[name] = Math.max(median(seen[name]), Number.EPSILON);
  }

  #history(values: Float64Array, width: number, every: number): { components: number[]; forest: number[] } {
    const components: number[] = [];
    const forest: number[] = [];
    // Runs of consecutive vectors, so that the means are those of neighbours though history is thinned.
    const run = SMOOTHED_VECTORS * width;
    for (let start = width; start + run <= values.length; start += every * run) {
      let [sum, isolations] = [0, 0];
      for (let at = start; at < start + run; at += width) {
        const { shape, step, isolation } = this.measure(values, at, values, at - width);
        sum += shape + step;
        isolations += isolation;
        if (at < start + run - width) continue;
        components.push(shape + step + sum / SMOOTHED_VECTORS);
        forest.push(isolation + isolations / SMOOTHED_VECTORS);
      }
    }
    return { components, forest };
  }
}

/** Row i minus row i - 1; zeros for the first. */
function stepsOf(values: Float64Array, width: number): Float64Array {
  const steps = new Float64Array(values.length);
  for (let i = width; i < values.length; i++) steps[i] = (values[i] as number) - (values[i - width] as number);
  return steps;
}

/** Every so manieth row of values with its row of steps behind it. */
function pairsOf(values: Float64Array, steps: Float64Array, width: number, every: number): Float64Array {
  const rows = Math.ceil(values.length / width / every);
  const pairs = new Float64Array(2 * rows * width);
  for (let row = 0; row < rows; row++) {
    const from = row * every * width;
    pairs.set(values.subarray(from, from + width), 2 * row * width);
    pairs.set(steps.subarray(from, from + width), (2 * row + 1) * width);
  }
  return pairs;
}
