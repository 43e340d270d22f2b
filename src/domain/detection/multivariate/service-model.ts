// What a service's metrics do together, learned from history: principal components of its vectors and of their steps, and an Isolation Forest over
// vectors, their derivatives and the season. Two kinds of model because they fail differently: components see broken relations, the forest rare places.

import { TailCalibration } from "../calibration/tail-calibration.ts";
import { median } from "../robust.ts";
import { combineLogP } from "../tail-probability.ts";
import { IsolationForest, type Random } from "./isolation-forest.ts";
import { PrincipalComponents, type Rows } from "./principal-components.ts";
import { FEATURE_ROWS, featureWidth, seasonFeatures, writeFeatures } from "./service-features.ts";
import type { EigenSolver } from "./symmetric-eigen.ts";

/** Rows of training below which there is no model. */
const MODEL_ROWS_MIN = 64;
/** Rows that a forest is grown from, and of which medians and tails are taken; longer histories are thinned evenly. */
const CALIBRATION_ROWS_MAX = 8192;
/** Vectors over which the statistics are also taken as means: single vectors are noisy. */
export const SMOOTHED_VECTORS = 5;
/** Least median of a magnitude that components leave, in standard deviations of a column, and of its square: finer is rounding. */
const REST_MIN = 1e-3;
const LEAST: Readonly<Record<keyof Medians, number>> = { shape: REST_MIN ** 2, level: REST_MIN, step: REST_MIN, jump: REST_MIN };
/** Rows before the first that can be measured. */
const ROWS_BEFORE = FEATURE_ROWS - 1;

/** The forest is the weaker witness of the two (TSB-AD-M: VUS-PR .20 beside .31). */
const FOREST_WEIGHT = 0.1;
/** Trees for each metric and their limits, and the vectors of a tree: the model of a service takes some 700 bytes a metric. */
const TREES_PER_METRIC = 1.75;
const TREES_MIN = 16;
const TREES_MAX = 100;
const TREE_VECTORS = 64;

/** Consecutive vectors with their times. */
export interface TimedRows extends Rows {
  /** ms, one a row. */
  readonly times: Float64Array;
  /** 1 for each row that does not follow the one before it, where rows were left out between them; absent where all follow each other. */
  readonly breaks?: Uint8Array;
}

/** Whether a row has the FEATURE_ROWS - 1 rows before it that its step and features are made of. */
export function isWhole(breaks: Uint8Array | undefined, row: number): boolean {
  for (let before = 0; breaks !== undefined && before < ROWS_BEFORE; before++) if (breaks[row - before] === 1) return false;
  return true;
}

/** Strangeness of a vector: logarithms of 1 + what it is relative to its median in training, so that a usual one has log 2. */
export interface Strangeness {
  /** Strangeness of the squared residual Q. */
  shape: number;
  /** Strangeness of the mean magnitude of the residual. */
  level: number;
  /** Strangeness of the same for the step from the vector before. */
  step: number;
  /** Strangeness of the step's residual and scores together: jumps of all metrics at once too. */
  jump: number;
  /** Score of the Isolation Forest, 0..1. */
  isolation: number;
}

/** The medians that strangeness is relative to, in the order in which they are stored. */
const MEDIANS = ["shape", "level", "step", "jump"] as const;
type Medians = Record<(typeof MEDIANS)[number], number>;

/** Parts of a model; see service-model-coding.ts for how it is stored. */
export interface ModelParts {
  readonly levels: PrincipalComponents;
  readonly steps: PrincipalComponents;
  readonly forest: IsolationForest;
  /** Numbers of season that the forest was grown with: 0, 2 or 4. */
  readonly season: number;
  readonly medians: Medians;
  readonly componentTail: TailCalibration;
  readonly forestTail: TailCalibration;
}

/** A trained model; it is not changed afterwards. */
export class ServiceModel {
  readonly parts: ModelParts;
  readonly #width: number;
  readonly #step: Float64Array;
  readonly #features: Float64Array;
  readonly #strangeness: Strangeness = { shape: 0, level: 0, step: 0, jump: 0, isolation: 0 };

  /** Over parts that `train` has made. */
  constructor(parts: ModelParts) {
    this.parts = parts;
    this.#width = parts.levels.residuals.length;
    this.#step = new Float64Array(this.#width);
    this.#features = new Float64Array(featureWidth(this.#width, parts.season));
  }

  /** Metrics of a vector. */
  get width(): number {
    return this.#width;
  }

  /** Whether usual vectors leave the components at all: where all of them are kept, or a metric stood still, they do not. */
  get leavesRest(): boolean {
    return this.parts.medians.level > REST_MIN;
  }

  /** Trains on consecutive vectors, at least MODEL_ROWS_MIN; `random` grows the forest, `eigen` finds the components. */
  static train(rows: TimedRows, random: Random, eigen: EigenSolver): ServiceModel {
    const { times, values, width } = rows;
    const count = times.length;
    if (count < MODEL_ROWS_MIN) throw new Error(`a model needs ${MODEL_ROWS_MIN} rows, got ${count}`);
    const levels = PrincipalComponents.learn({ values, width }, eigen);
    const steps = PrincipalComponents.learn({ values: stepsOf(rows), width }, eigen);
    const season = seasonFeatures((times[count - 1] as number) - (times[0] as number));
    const every = Math.ceil(count / CALIBRATION_ROWS_MAX);
    const trees = Math.round(Math.min(TREES_MAX, Math.max(TREES_MIN, TREES_PER_METRIC * width)));
    const forest = IsolationForest.grow(featuresOf(rows, season, every), { trees, sample: TREE_VECTORS, random });
    const medians = calibratedMedians({ levels, steps }, rows, every);
    const trained = { levels, steps, forest, season, medians };
    // The tails are those of the model's own statistics, which need none.
    const untailed = new ServiceModel({ ...trained, componentTail: NO_TAIL, forestTail: NO_TAIL });
    const { components, isolations } = untailed.#history(rows, every);
    return new ServiceModel({
      ...trained,
      componentTail: TailCalibration.fit(components),
      forestTail: TailCalibration.fit(isolations),
    });
  }

  /** Part of each metric in the residuals of the vector that was measured last and of its step, in squared standard deviations. */
  contributions(): Float64Array {
    const { levels, steps } = this.parts;
    return levels.residuals.map((residual, j) => residual ** 2 + (steps.residuals[j] as number) ** 2);
  }

  /** How far one metric has left the others for as many vectors as features are made of, logarithmic: a spike is noise of that metric. To be called before `measure`. */
  leaving(values: Float64Array, start: number): number {
    return Math.log1p(this.parts.levels.lastingResidual(values, start, FEATURE_ROWS));
  }

  /** Measures the row in `values` that begins at `start` and is of that time, with the two rows before it. The object is used again. */
  measure(values: Float64Array, start: number, timeMs: number): Strangeness {
    const width = this.#width;
    const { levels, steps, forest, season, medians } = this.parts;
    const strangeness = this.#strangeness;
    for (let j = 0; j < width; j++) this.#step[j] = (values[start + j] as number) - (values[start + j - width] as number);
    const step = steps.measure(this.#step, 0);
    const level = levels.measure(values, start);
    strangeness.shape = Math.log1p(level.q / medians.shape);
    strangeness.level = Math.log1p(level.residual / medians.level);
    strangeness.step = Math.log1p(step.residual / medians.step);
    strangeness.jump = Math.log1p((step.residual + step.score) / medians.jump);
    writeFeatures(values, start, width, { ms: timeMs, season }, this.#features, 0);
    strangeness.isolation = forest.score(this.#features);
    return strangeness;
  }

  /** log of the probability of a vector as strange as this; `means` holds shape + step and isolation over the newest SMOOTHED_VECTORS vectors. */
  logP({ shape, step, isolation }: Strangeness, means: { readonly components: number; readonly isolation: number }): number {
    const { componentTail, forestTail } = this.parts;
    return combineLogP([
      { logP: componentTail.logP(shape + step + means.components), weight: 1 - FOREST_WEIGHT },
      { logP: forestTail.logP(isolation + means.isolation), weight: FOREST_WEIGHT },
    ]);
  }

  #history({ times, values, width, breaks }: TimedRows, every: number): { components: number[]; isolations: number[] } {
    const components: number[] = [];
    const isolations: number[] = [];
    // Runs of consecutive vectors, so that the means are those of neighbours though history is thinned.
    for (let first = ROWS_BEFORE; first + SMOOTHED_VECTORS <= times.length; first += every * SMOOTHED_VECTORS) {
      const last = first + SMOOTHED_VECTORS - 1;
      if (!(isWhole(breaks, first) && isWhole(breaks, last) && isWhole(breaks, last - ROWS_BEFORE))) continue;
      let [sum, isolated] = [0, 0];
      for (let row = first; row < first + SMOOTHED_VECTORS; row++) {
        const { shape, step, isolation } = this.measure(values, row * width, times[row] as number);
        sum += shape + step;
        isolated += isolation;
        if (row < first + SMOOTHED_VECTORS - 1) continue;
        components.push(shape + step + sum / SMOOTHED_VECTORS);
        isolations.push(isolation + isolated / SMOOTHED_VECTORS);
      }
    }
    return { components, isolations };
  }
}

const NO_TAIL = TailCalibration.fit([0]);

function calibratedMedians(
  { levels, steps }: Pick<ModelParts, "levels" | "steps">,
  { values, width, breaks }: TimedRows,
  every: number,
): Medians {
  const seen: Record<keyof Medians, number[]> = { shape: [], level: [], step: [], jump: [] };
  const difference = new Float64Array(width);
  for (let i = width; i < values.length; i += every * width) {
    if (breaks?.[i / width] === 1) continue;
    for (let j = 0; j < width; j++) difference[j] = (values[i + j] as number) - (values[i + j - width] as number);
    const step = steps.measure(difference, 0);
    seen.step.push(step.residual);
    seen.jump.push(step.residual + step.score);
    const level = levels.measure(values, i);
    seen.shape.push(level.q);
    seen.level.push(level.residual);
  }
  const of = (name: keyof Medians) => Math.max(median(seen[name]), LEAST[name]);
  return { shape: of("shape"), level: of("level"), step: of("step"), jump: of("jump") };
}

/** Row i minus row i - 1, of those that follow it; zeros for the first. */
function stepsOf({ values, width, breaks }: TimedRows): Float64Array {
  const steps = new Float64Array(values.length);
  let at = width;
  for (let i = width; i < values.length; i += width) {
    if (breaks?.[i / width] === 1) continue;
    for (let j = 0; j < width; j++) steps[at++] = (values[i + j] as number) - (values[i + j - width] as number);
  }
  return steps.subarray(0, at);
}

/** The features of every so manieth row that has the rows before it. */
function featuresOf({ times, values, width, breaks }: TimedRows, season: number, every: number): Rows {
  const featuresWidth = featureWidth(width, season);
  const chosen: number[] = [];
  for (let row = ROWS_BEFORE; row < times.length; row += every) if (isWhole(breaks, row)) chosen.push(row);
  const features = new Float64Array(chosen.length * featuresWidth);
  for (const [at, row] of chosen.entries()) {
    writeFeatures(values, row * width, width, { ms: times[row] as number, season }, features, at * featuresWidth);
  }
  return { values: features, width: featuresWidth };
}
