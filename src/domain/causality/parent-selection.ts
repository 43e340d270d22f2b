// The past values that help to foretell one series: forward selection by partial correlation, then backward elimination by t. What is left is that series'
// conditional Granger parents, each with its lag (Runge 2019 for the two stages; here the first is greedy, so that 30 series take milliseconds).
import { logStudentTail } from "../detection/tail-probability.ts";
import { cholesky, solveCholesky } from "../forecast/linear-system.ts";
import type { LaggedCovariance } from "./lagged-covariance.ts";

/** A past value in the regression of the target. */
export interface Parent {
  readonly series: number;
  readonly lag: number;
  /** Given the other parents. */
  readonly partialCorrelation: number;
  /** log of the two-sided p of its coefficient. */
  readonly logP: number;
}

export interface SelectionLimits {
  /** log of the p that a value needs to enter and to stay, before the correction for how many were tried. */
  readonly logPMax: number;
  /** Least |partial correlation| to enter and to stay. */
  readonly correlationMin: number;
  readonly parentsMax: number;
}

interface Candidate {
  readonly series: number;
  readonly lag: number;
}

/** Own past values that are in every regression: they take up what a series knows of itself. */
const OWN_LAGS = 2;

/** The parents of series `target`, its own past values included. */
export function selectParents(covariance: LaggedCovariance, target: number, limits: SelectionLimits): Parent[] {
  const candidates = candidatesOf(covariance);
  const chosen: Candidate[] = Array.from({ length: Math.min(OWN_LAGS, covariance.lagMax) }, (_, k) => ({ series: target, lag: k + 1 }));
  const forward = new ForwardSelection(covariance, target, candidates);
  for (const own of chosen) forward.add(candidates.findIndex(({ series, lag }) => series === own.series && lag === own.lag));
  while (chosen.length < limits.parentsMax) {
    const next = forward.best(chosen.length, limits);
    if (next === undefined) break;
    forward.add(next);
    chosen.push(candidates[next] as Candidate);
  }
  return eliminate(covariance, target, chosen, limits);
}

/** All past values of all series. */
function candidatesOf({ series, lagMax }: LaggedCovariance): Candidate[] {
  return Array.from({ length: series * lagMax }, (_, i) => ({ series: Math.floor(i / lagMax), lag: (i % lagMax) + 1 }));
}

/** Gram-Schmidt over the candidates: what is left of each, and of its covariance with the target, once those that were added are taken out. */
class ForwardSelection {
  readonly #covariance: LaggedCovariance;
  readonly #candidates: readonly Candidate[];
  readonly #left: Float64Array;
  readonly #withTarget: Float64Array;
  readonly #directions: Float64Array[] = [];
  #targetLeft: number;

  constructor(covariance: LaggedCovariance, target: number, candidates: readonly Candidate[]) {
    this.#covariance = covariance;
    this.#candidates = candidates;
    this.#left = Float64Array.from(candidates, ({ series }) => covariance.at(series, 0, series, 0));
    this.#withTarget = Float64Array.from(candidates, ({ series, lag }) => covariance.at(series, lag, target, 0));
    this.#targetLeft = covariance.at(target, 0, target, 0);
  }

  add(index: number): void {
    const { series, lag } = this.#candidates[index] as Candidate;
    const root = Math.sqrt(this.#left[index] as number);
    if (!(root > 1e-6)) return;
    const direction = Float64Array.from(this.#candidates, (one) => this.#covariance.at(one.series, one.lag, series, lag));
    for (const earlier of this.#directions) {
      const weight = earlier[index] as number;
      for (let i = 0; i < direction.length; i++) direction[i] = (direction[i] as number) - weight * (earlier[i] as number);
    }
    for (let i = 0; i < direction.length; i++) direction[i] = (direction[i] as number) / root;
    const share = (this.#withTarget[index] as number) / root;
    for (let i = 0; i < direction.length; i++) {
      const along = direction[i] as number;
      this.#left[i] = (this.#left[i] as number) - along * along;
      this.#withTarget[i] = (this.#withTarget[i] as number) - along * share;
    }
    this.#left[index] = 0;
    this.#targetLeft -= share * share;
    this.#directions.push(direction);
  }

  /** Candidate with the largest partial correlation, if it is large and significant enough. */
  best(chosen: number, { logPMax, correlationMin }: SelectionLimits): number | undefined {
    let best = -1;
    let largest = 0;
    for (let i = 0; i < this.#left.length; i++) {
      const left = this.#left[i] as number;
      if (left < 1e-4) continue;
      const share = (this.#withTarget[i] as number) ** 2 / left;
      if (share > largest) {
        largest = share;
        best = i;
      }
    }
    if (best < 0 || !(this.#targetLeft > 1e-9)) return undefined;
    const correlation = Math.sqrt(Math.min(1, largest / this.#targetLeft));
    const logP = correlationLogP(correlation, this.#covariance.rows - chosen - 2) + Math.log(this.#candidates.length);
    return correlation >= correlationMin && logP <= logPMax ? best : undefined;
  }
}

/** Takes out the weakest until all that are left are strong enough; own past values stay. */
function eliminate(covariance: LaggedCovariance, target: number, chosen: readonly Candidate[], limits: SelectionLimits): Parent[] {
  let left = [...chosen];
  for (;;) {
    const parents = measured(covariance, target, left);
    const weak = parents
      .map((parent, index) => ({ ...parent, index }))
      .filter(({ series, logP, partialCorrelation }) => {
        if (series === target) return false;
        const corrected = logP + Math.log(covariance.series * covariance.lagMax);
        return corrected > limits.logPMax || Math.abs(partialCorrelation) < limits.correlationMin;
      })
      .sort((a, b) => Math.abs(a.partialCorrelation) - Math.abs(b.partialCorrelation))[0];
    if (weak === undefined) return parents;
    left = left.filter((_, index) => index !== weak.index);
  }
}

/** Partial correlation and p of each chosen value in the regression on all of them. */
function measured(covariance: LaggedCovariance, target: number, chosen: readonly Candidate[]): Parent[] {
  const size = chosen.length;
  const gram = new Float64Array(size * size);
  const right = new Float64Array(size);
  for (const [i, a] of chosen.entries()) {
    right[i] = covariance.at(a.series, a.lag, target, 0);
    for (const [j, b] of chosen.entries()) gram[i * size + j] = covariance.at(a.series, a.lag, b.series, b.lag);
  }
  const factor = cholesky(gram, size);
  if (factor === undefined) return [];
  const coefficients = solveCholesky(factor, right, size);
  let variance = covariance.at(target, 0, target, 0);
  for (let i = 0; i < size; i++) variance -= (coefficients[i] as number) * (right[i] as number);
  const degrees = covariance.rows - size - 1;
  return chosen.map((candidate, i) => {
    const unit = new Float64Array(size);
    unit[i] = 1;
    const inverse = solveCholesky(factor, unit, size)[i] as number;
    const t = (coefficients[i] as number) / Math.sqrt(Math.max(1e-12, (variance * inverse) / degrees));
    return { ...candidate, partialCorrelation: t / Math.sqrt(t * t + degrees), logP: logStudentTail(t, degrees) };
  });
}

function correlationLogP(correlation: number, degrees: number): number {
  if (degrees < 1) return 0;
  if (correlation >= 1) return Number.NEGATIVE_INFINITY;
  return logStudentTail(correlation * Math.sqrt(degrees / (1 - correlation * correlation)), degrees);
}
