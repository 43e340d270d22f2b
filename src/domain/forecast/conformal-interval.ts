// Intervals around a forecast from its own errors at past moments (split conformal prediction; Vovk et al. 2005, by horizon as in Stankeviciute et al. 2021).
// The size of an error may only grow with the horizon: an isotonic curve through the mean errors by step carries the width, one quantile of the errors in
// units of that curve its level.
import { mean } from "./forecast-method.ts";

/** Errors of a forecast that was chosen by these very errors are smaller than those to come, the more so the farther ahead. */
const INFLATION_FIRST = 1.1;
const INFLATION_LAST = 1.2;
/** Errors of one origin depend on one another: the quantile is that of so many independent ones an origin. */
const INDEPENDENT_PER_ORIGIN = 10;

/**
 * Half the width of an interval of `level` 0..1 for each of `horizon` steps, never falling. `errors[origin][step]` are absolute; beyond their steps the
 * width grows with the square root, as that of a random walk. Undefined without any origin.
 */
export function halfWidths(errors: readonly Float64Array[], level: number, horizon: number): Float64Array | undefined {
  const steps = errors[0]?.length ?? 0;
  if (steps === 0) return undefined;
  const curve = isotonic(Float64Array.from({ length: steps }, (_, step) => mean(errors.map((row) => row[step] as number))));
  const floor = (curve.at(-1) as number) * 1e-6;
  const ratios = errors.flatMap((row) => [...row].map((error, step) => (floor === 0 ? 0 : error / Math.max(floor, curve[step] as number))));
  const quantile = upperQuantile(ratios, level, errors.length * Math.min(steps, INDEPENDENT_PER_ORIGIN));
  return Float64Array.from({ length: horizon }, (_, step) => {
    const scale = step < steps ? (curve[step] as number) : (curve.at(-1) as number) * Math.sqrt((step + 1) / steps);
    return (INFLATION_FIRST + ((INFLATION_LAST - INFLATION_FIRST) * step) / Math.max(1, horizon - 1)) * quantile * scale;
  });
}

/** Least squares under the condition that no value is below the one before it (pool adjacent violators, Ayer et al. 1955). */
function isotonic(values: Float64Array): Float64Array {
  const blocks: { sum: number; count: number }[] = [];
  for (const value of values) {
    let block = { sum: value, count: 1 };
    for (let last = blocks.at(-1); last !== undefined && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  return Float64Array.from(blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count)));
}

/** The conformal quantile: at `level` of the ratios, or beyond the largest of them where `independent` of them cannot tell. */
function upperQuantile(ratios: readonly number[], level: number, independent: number): number {
  const sorted = [...ratios].sort((a, b) => a - b);
  const corrected = level * (1 + 1 / independent);
  const place = Math.min(sorted.length - 1, Math.ceil(corrected * sorted.length) - 1);
  const beyond = corrected > 1 ? corrected + 0.5 / independent : 1;
  return (sorted[place] as number) * beyond;
}
