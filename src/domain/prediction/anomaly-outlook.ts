// Which metrics of a service are about to leave their usual band: the forecast of each against what its history was like.
import { MAD_TO_SD, robustStatistics } from "../detection/robust.ts";
import { logNormalTail, normalQuantile } from "../detection/tail-probability.ts";
import { forecastSeries } from "../forecast/forecast.ts";
import { seasonalAdjustment } from "../forecast/seasonal-adjustment.ts";

export interface OutlookSeries {
  readonly metricName: string;
  readonly values: Float64Array;
  /** Whole steps between their end and now. */
  readonly lateSteps: number;
  readonly range: { readonly lower: number; readonly upper: number };
}

export interface OutlookRequest {
  readonly series: readonly OutlookSeries[];
  readonly stepMinutes: number;
  readonly steps: number;
  /** Season lengths, in steps. */
  readonly periods: readonly number[];
  /** Robust standard deviations around the median, and around its season where history has two cycles of it, that are usual. */
  readonly threshold: number;
}

export interface PredictedAnomaly {
  readonly metricName: string;
  /** Largest probability within the horizon, 0..1. */
  readonly confidence: number;
  readonly leadMinutes: number;
  readonly isAbove: boolean;
  readonly predicted: number;
  readonly bound: number;
}

const CONFIDENCE_MIN = 0.3;
const CONFIDENCE_SURE = 0.5;
export const PREDICTIONS_MAX = 10;
export const LEVEL = 0.95;
/** Least spread, as a share of the median's magnitude: a flat metric does not leave its band by a rounding. */
const SPREAD_MIN = 1e-3;

/** Those with a probability of at least 0.3, the likeliest first, ten at most. */
export function predictAnomalies({ series, ...request }: OutlookRequest): PredictedAnomaly[] {
  return series
    .flatMap((one) => outlookOf(one, request) ?? [])
    .sort((a, b) => b.confidence - a.confidence)
    .slice(0, PREDICTIONS_MAX);
}

function outlookOf(
  { metricName, values, lateSteps, range }: OutlookSeries,
  request: Omit<OutlookRequest, "series">,
): PredictedAnomaly | undefined {
  const { stepMinutes, steps, periods, threshold } = request;
  const forecast = forecastSeries(
    { values, periods, horizon: lateSteps + steps },
    { algorithm: "exponential_smoothing", level: LEVEL, range },
  );
  if (forecast === undefined) return undefined;
  const { adjusted, season } = seasonalAdjustment(values, periods);
  const { median, mad } = robustStatistics(adjusted);
  const spread = Math.max(MAD_TO_SD * mad, SPREAD_MIN * Math.abs(median), 1e-9);
  const edge = (step: number, side: -1 | 1) => median + season(values.length + step) + side * threshold * spread;
  const z = normalQuantile(Math.log(1 - LEVEL));
  let [best, lead, isAbove, index] = [0, -1, true, lateSteps];
  for (let step = lateSteps; step < lateSteps + steps; step++) {
    const mean = forecast.mean[step] as number;
    const sigma = Math.max(((forecast.upper[step] as number) - (forecast.lower[step] as number)) / (2 * z), spread * 1e-3);
    const above = normalShare((mean - edge(step, 1)) / sigma);
    const below = normalShare((edge(step, -1) - mean) / sigma);
    const share = Math.max(above, below);
    if (share >= CONFIDENCE_SURE && lead < 0) lead = step;
    if (share > best) [best, isAbove, index] = [share, above >= below, step];
  }
  if (best < CONFIDENCE_MIN) return undefined;
  const at = lead < 0 ? index : lead;
  return {
    metricName,
    confidence: best,
    leadMinutes: (at - lateSteps + 1) * stepMinutes,
    isAbove,
    predicted: forecast.mean[at] as number,
    bound: edge(at, isAbove ? 1 : -1),
  };
}

// The distribution function of the standard normal.

/** P(Z <= z). */
function normalShare(z: number): number {
  const tail = Math.exp(logNormalTail(z)) / 2;
  return z < 0 ? tail : 1 - tail;
}
