// Services that move with a service: those that calls join with it, and those whose series follow or lead its own.
//
// Direction is that of damage: `downstream` is affected by the service (its callers, or what follows it in time), `upstream` is what it depends on. Lag
// above 0: the related service follows. The score is six parts correlation and four parts share of calls, where both are known.

import { MINUTE_MS } from "../../core/time/durations.ts";
import type { GraphCall } from "../topology/blast-radius.ts";
import { calleesOf, callersOf } from "../topology/reach.ts";
import { type GridSeries, laggedCorrelation, onGrid, whitened, withoutCommon } from "./lagged-correlation.ts";

/** The newest values of a series that stands for a service. */
export interface ServiceSeries {
  readonly serviceId: string;
  readonly metricName: string;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

export interface RelatedService {
  readonly serviceId: string;
  readonly score: number;
  readonly lagMinutes: number;
  readonly direction: "downstream" | "upstream";
}

const LAG_MINUTES_MAX = 30;
const STEP_MS_MIN = 10_000;
const STEPS_MAX = 360;
const WEIGHT_OF_SERIES = 0.6;
const WEIGHT_OF_CALLS = 0.4;
/** Least correlation, of either sign, that counts between services that no call joins. */
const CORRELATION_MIN = 0.3;
/** Fewer services have no common load that could be distinguished. */
const COMMON_MIN = 5;
const RELATED_MAX = 100;

/** Related services, the closest first. */
export function relatedServices(
  origin: string,
  depth: number,
  calls: readonly GraphCall[],
  series: readonly ServiceSeries[],
): RelatedService[] {
  const edges = calls.map(({ caller, callee }) => [caller, callee] as const);
  const downstream = callersOf(edges, origin, depth);
  const upstream = calleesOf(edges, origin, depth);
  const correlations = correlationsWith(origin, series);
  const found: RelatedService[] = [];
  for (const serviceId of new Set([...downstream.keys(), ...upstream.keys(), ...correlations.keys()])) {
    const hops = Math.min(downstream.get(serviceId) ?? Number.POSITIVE_INFINITY, upstream.get(serviceId) ?? Number.POSITIVE_INFINITY);
    const correlation = correlations.get(serviceId);
    const isJoined = Number.isFinite(hops);
    if (!isJoined && (correlation === undefined || Math.abs(correlation.r) < CORRELATION_MIN)) continue;
    const coupling = isJoined ? couplingOf(calls, origin, serviceId) ** hops : 0;
    const r = Math.abs(correlation?.r ?? 0);
    const score = correlation === undefined ? coupling : isJoined ? WEIGHT_OF_SERIES * r + WEIGHT_OF_CALLS * coupling : r;
    const lagMinutes = correlation === undefined ? 0 : Math.round(correlation.lagMs / MINUTE_MS);
    const calledBy = (downstream.get(serviceId) ?? Number.POSITIVE_INFINITY) <= (upstream.get(serviceId) ?? Number.POSITIVE_INFINITY);
    const direction = isJoined ? (calledBy ? "downstream" : "upstream") : (correlation?.lagMs ?? 0) >= 0 ? "downstream" : "upstream";
    found.push({ serviceId, score, lagMinutes, direction });
  }
  return found.sort((a, b) => b.score - a.score || (a.serviceId < b.serviceId ? -1 : 1)).slice(0, RELATED_MAX);
}

/** Share of the calls of the two that are between them; between those that do not call each other the middle. */
function couplingOf(calls: readonly GraphCall[], origin: string, related: string): number {
  let between = 0;
  let ofRelated = 0;
  for (const { caller, callee, calls: count } of calls) {
    const isBetween = (caller === origin && callee === related) || (caller === related && callee === origin);
    if (isBetween) between += count;
    if (caller === related || callee === related) ofRelated += count;
  }
  return ofRelated === 0 || between === 0 ? 0.5 : Math.max(0.5, between / ofRelated);
}

function correlationsWith(origin: string, series: readonly ServiceSeries[]): Map<string, { r: number; lagMs: number }> {
  const own = series.filter(({ serviceId }) => serviceId === origin);
  const best = new Map<string, { r: number; lagMs: number }>();
  if (own.length === 0) return best;
  const { whitened: all, stepMs } = gridOf(series);
  for (const [i, one] of series.entries()) {
    if (one.serviceId !== origin) continue;
    for (const [k, other] of series.entries()) {
      if (other.serviceId === origin) continue;
      const found = laggedCorrelation(all[i]!, all[k]!, Math.floor((LAG_MINUTES_MAX * MINUTE_MS) / stepMs));
      if (found?.isSignificant !== true || Math.abs(found.r) <= Math.abs(best.get(other.serviceId)?.r ?? 0)) continue;
      best.set(other.serviceId, { r: found.r, lagMs: found.lag * stepMs });
    }
  }
  return best;
}

/** All series on one grid, as wide as their usual interval. */
function gridOf(series: readonly ServiceSeries[]): { readonly whitened: GridSeries[]; readonly stepMs: number } {
  const intervals = series
    .map(({ times }) => (times.length < 2 ? STEP_MS_MIN : (times.at(-1)! - times[0]!) / (times.length - 1)))
    .sort((a, b) => a - b);
  const stepMs = Math.max(STEP_MS_MIN, intervals[Math.floor(intervals.length / 2)] ?? STEP_MS_MIN);
  const toMs = series.reduce((newest, { times }) => Math.max(newest, times.at(-1) ?? 0), 0);
  const fromMs = series.reduce((oldest, { times }) => Math.min(oldest, times[0] ?? oldest), toMs);
  const steps = Math.min(STEPS_MAX, Math.floor((toMs - fromMs) / stepMs) + 1);
  const grid = series.map(({ times, values }) => whitened(onGrid(times, values, toMs - (steps - 1) * stepMs, stepMs, steps)));
  const services = new Set(series.map(({ serviceId }) => serviceId));
  return { whitened: services.size < COMMON_MIN ? grid : withoutCommon(grid), stepMs };
}
