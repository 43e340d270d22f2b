// Whether a rate of few differs from a rate of few: the exact conditional test of two Poisson rates (Przyborowski & Wilenski 1940). Of the events of both, each falls
// into the newer intervals with the share of these among all intervals, where the rate is the same.
import { normalQuantile } from "../tail-probability.ts";

/** Rates beyond which Poisson's noise is far below any other: they are judged by the values' own. */
const RATE_MAX = 50;
/** Events beyond which they are not few. */
const EVENTS_MAX = 10_000;
/** Variance of counts in means from which on they stray as counts do: what strays less is a level, unless its kind says that it counts. */
const DISPERSION_MIN = 0.5;
/** Terms of a tail that are smaller than this share of it add nothing. */
const NEGLIGIBLE = 1e-17;
/** Newest values that the value is taken together with, where they lie on its side. */
const RUN_MAX = 4;

/** Equivalent z of so many events in so many intervals against a baseline; positive where there are more. */
export function countZ(events: number, intervals: number, baseEvents: number, baseIntervals: number): number {
  const total = events + baseEvents;
  const share = intervals / (intervals + baseIntervals);
  const isMore = events * baseIntervals >= baseEvents * intervals;
  const tail = isMore ? upperTail(events, total, share) : upperTail(baseEvents, total, 1 - share);
  return (isMore ? 1 : -1) * normalQuantile(Math.min(0, tail + Math.LN2));
}

/** Equivalent z of a value of counts, with those on its side right before it, against the rest of its window; undefined where these are no counts, or too many. */
export function countZOf(value: number, window: ArrayLike<number>, isOfCounts: boolean): number | undefined {
  if (!isCount(value) || value > EVENTS_MAX || window.length === 0) return undefined;
  let [sum, squares] = [0, 0];
  for (let i = 0; i < window.length; i++) {
    const one = window[i] as number;
    if (!isCount(one)) return undefined;
    sum += one;
    squares += one * one;
  }
  const mean = sum / window.length;
  const variance = squares / window.length - mean * mean;
  const strays = mean > 0 && variance >= DISPERSION_MIN * mean;
  // Of what counts exactly as many each time, fewer are news at once.
  if (mean > RATE_MAX || !(strays || (isOfCounts && value > mean))) return undefined;
  const side = value < mean ? -1 : 1;
  let [events, run] = [value, 0];
  for (; run < Math.min(RUN_MAX, window.length - 1); run++) {
    const before = window[window.length - 1 - run] as number;
    if (side * (before - mean) <= 0) break;
    events += before;
  }
  return countZ(events, run + 1, sum - (events - value), window.length - run);
}

/** log of P(X >= least) of a binomial. */
function upperTail(least: number, total: number, share: number): number {
  if (least <= 0) return 0;
  const odds = share / (1 - share);
  let log = total * Math.log1p(-share);
  for (let i = 1; i <= least; i++) log += Math.log(((total - i + 1) / i) * odds);
  let [sum, term] = [1, 1];
  for (let i = least + 1; i <= total && term > NEGLIGIBLE * sum; i++) {
    term *= ((total - i + 1) / i) * odds;
    sum += term;
  }
  return Math.min(0, log + Math.log(sum));
}

function isCount(value: number): boolean {
  return value >= 0 && Number.isInteger(value);
}
