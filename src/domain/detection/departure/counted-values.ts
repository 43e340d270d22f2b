// Counts of events, and means of so many of them: a rate of few against a rate of few strays as Poisson's does, however still it has been.
import { GROUP_MS, GROUPED_BELOW_MS } from "../rolling/observation-groups.ts";

/** A mean of counts is whole within this, times how many they are. */
export const WHOLE_WITHIN = 1e-6;
/** Share of values of late that are no counts, as after a missed scrape, from which on a series is none of counts; what one of them adds, and what is left of it a value later. */
const FRACTIONS_MAX = 0.3;
const FRACTION_ADDS = 0.2;
const FRACTION_LEFT = 0.98;

/** Standard deviation of how many events there are where hardly any are usual: one of them is three, five equal ones hold together. */
export const ONE_EVENT_SD = 1 / 3;
/** Counts of what hardly ever happens: one of it is no departure. */
export const NOTHING = 0.5;
const DEPARTING_COUNT = 1.5;
/** Terms of a tail that are smaller than this share of it add nothing. */
const NEGLIGIBLE = 1e-9;

/** Counts that an observation of such a series is the mean of; 0 where it has none. */
export function countsEach(isOfCounts: boolean, intervalMs: number): number {
  if (!isOfCounts) return 0;
  return intervalMs > 0 && intervalMs < GROUPED_BELOW_MS ? Math.max(1, Math.round(GROUP_MS / intervalMs)) : 1;
}

/** Share of values that are no counts, with the newest one; of a series of another kind 1 for ever once there was one. */
export function fractionsWith(share: number, value: number, counts: number): number {
  if (counts === 0) return share === 1 || !Number.isInteger(value) ? 1 : 0;
  return isMeanOfCounts(value, counts) ? FRACTION_LEFT * share : Math.min(1, share + FRACTION_ADDS);
}

/** Whether a series with such a share has whole numbers alone. */
export function isWhole(share: number): boolean {
  return share < FRACTIONS_MAX;
}

/** Standard deviation by chance of a mean of so many counts of which each should be `expected`: sqrt(expected / counts), a third of one event at least. */
export function countSd(expected: number, counts: number): number {
  return Math.max(Math.sqrt(Math.max(0, expected) * counts), ONE_EVENT_SD) / counts;
}

/** Probability that Poisson's of this mean, of a few hundred at most, comes to so many or more. */
export function poissonTail(least: number, mean: number): number {
  let term = Math.exp(-mean);
  for (let i = 1; i <= least; i++) term *= mean / i;
  let [sum, next] = [term, least + 1];
  for (; term > NEGLIGIBLE * sum || next <= mean; next++) {
    term *= mean / next;
    sum += term;
  }
  return Math.min(1, sum);
}

/** What a series of hardly any events has shown: counts that a value is the mean of, values, and the mean square of what they strayed by. */
interface HardlyAny {
  readonly counts: number;
  readonly values: number;
  readonly squares: number;
}

/** Whether so many events where hardly any are usual are one, or of counts what comes by chance as often as people may be told for nothing. */
export function areFewByChance(events: number, { counts, values, squares }: HardlyAny, probability: number): boolean {
  if (events < DEPARTING_COUNT || counts === 0) return events < DEPARTING_COUNT;
  const mean = Math.min(NOTHING, Math.max(squares * counts ** 2, 1 / values));
  return poissonTail(events, mean) > probability;
}

/** Whether it is the mean of so many counts, or of fewer: a minute may lack some. */
function isMeanOfCounts(value: number, counts: number): boolean {
  if (value < 0) return false;
  for (let of = counts; of > 0; of--) {
    const sum = value * of;
    if (Math.abs(sum - Math.round(sum)) <= WHOLE_WITHIN * of) return true;
  }
  return false;
}
