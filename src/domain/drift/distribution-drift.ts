// How far what a model sees has moved from what it was trained on: PSI and Kullback-Leibler divergence over bins of the reference. PSI grows with few
// samples and p-values shrink with many, so drift asks for both: effect, and evidence beyond what chance gives to so many bins.
import { chiSquareTail } from "../causality/probability-tails.ts";

export interface DriftMeasures {
  /** KL(current || reference), natural logarithm. */
  readonly klDivergence: number;
  /** KL(reference || current). */
  readonly klReverse: number;
  readonly psi: number;
  /** Jensen-Shannon divergence. */
  readonly jsDivergence: number;
}

export interface DriftFinding extends DriftMeasures {
  /** PSI beyond what chance alone gives, (bins - 1)(1/n + 1/m), at least 0. */
  readonly effect: number;
  /** Probability of two histograms of one distribution differing so much (chi-square test of homogeneity). */
  readonly p: number;
  readonly isDrift: boolean;
}

/** Added to each count before shares are taken (Jeffreys). */
const SMOOTHING = 0.5;
/** Industry's bar for a shift that matters, of the corrected PSI. */
const PSI_DRIFT = 0.1;
const P_DRIFT = 1e-4;

export function driftMeasures(reference: ArrayLike<number>, current: ArrayLike<number>): DriftMeasures {
  const [q, p] = [shares(reference), shares(current)];
  let [klDivergence, klReverse, jsDivergence] = [0, 0, 0];
  for (let i = 0; i < p.length; i++) {
    const [a, b] = [p[i] as number, q[i] as number];
    const middle = (a + b) / 2;
    klDivergence += a * Math.log(a / b);
    klReverse += b * Math.log(b / a);
    jsDivergence += (a * Math.log(a / middle) + b * Math.log(b / middle)) / 2;
  }
  return { klDivergence, klReverse, psi: klDivergence + klReverse, jsDivergence };
}

/** Drift of counts in the same bins. `comparisons` made at once (columns of a model) are corrected for. */
export function findDrift(reference: ArrayLike<number>, current: ArrayLike<number>, comparisons = 1): DriftFinding {
  const measures = driftMeasures(reference, current);
  const [n, m] = [total(reference), total(current)];
  const bins = reference.length;
  const expected = n > 0 && m > 0 ? (bins - 1) * (1 / n + 1 / m) : Number.POSITIVE_INFINITY;
  const effect = Math.max(0, measures.psi - expected);
  const p = homogeneity(reference, current);
  return { ...measures, effect, p, isDrift: effect >= PSI_DRIFT && p * comparisons < P_DRIFT };
}

/** p of the chi-square test that both samples come from one distribution; 1 where a sample is empty. */
function homogeneity(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  const [n, m] = [total(reference), total(current)];
  if (n === 0 || m === 0) return 1;
  let statistic = 0;
  let bins = 0;
  for (let i = 0; i < reference.length; i++) {
    const [a, b] = [reference[i] as number, current[i] as number];
    if (a + b === 0) continue;
    bins++;
    statistic += (a * Math.sqrt(m / n) - b * Math.sqrt(n / m)) ** 2 / (a + b);
  }
  return bins < 2 ? 1 : chiSquareTail(statistic, bins - 1);
}

function shares(counts: ArrayLike<number>): Float64Array {
  const whole = total(counts) + SMOOTHING * counts.length;
  return Float64Array.from(counts, (count) => (count + SMOOTHING) / whole);
}

function total(counts: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++) sum += counts[i] as number;
  return sum;
}
