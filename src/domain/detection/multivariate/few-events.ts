// Whether what a metric of a service counts is no more, and no less, than comes by chance where so many are usual: a rate of few against a rate of few.
import { poissonTail, WHOLE_WITHIN } from "../departure/counted-values.ts";

/** Of a metric that is not known to count, one may be a share of all, and more than these are not few. */
const FEW_EVENTS_MIN = 2;
const FEW_EVENTS_MAX = 10;
/** Of one that counts: beyond so many usual events Poisson's noise is far below any other. */
const USUAL_MAX = 50;
/** So many come by chance with this probability. */
const FEW_CHANCE = 1e-4;
/** Events that may come in a vector where none has come so far: two of them are none to hear of by the service, three are. Its metric is judged by itself too. */
const USUAL_MIN = 0.02;

/** Whether the newest values of a metric, newest first, stray by chance from what fits the others, of which each is the mean of `counts` counts, or of no known ones for 0. */
export function areFewEvents(values: readonly number[], usual: readonly number[], counts: number): boolean {
  return counts === 0 ? areFewWhole(values, usual) : areFewCounts(values, usual, counts);
}

/** Each of them, and all together: what is nothing special in one vector is in three in a row. What stands in the place of a missing value is no count, and says nothing. */
function areFewCounts(values: readonly number[], usual: readonly number[], counts: number): boolean {
  let [events, expected] = [0, 0];
  for (const [i, value] of values.entries()) {
    const [count, mean] = [value * counts, Math.max(USUAL_MIN, (usual[i] as number) * counts)];
    if (mean > USUAL_MAX || count < 0) return false;
    if (Math.abs(count - Math.round(count)) > WHOLE_WITHIN * counts) {
      if (Math.abs(count - mean) >= 1) return false;
      continue;
    }
    if (!isByChance(Math.round(count), mean)) return false;
    events += Math.round(count);
    expected += mean;
  }
  return isByChance(events, expected);
}

function isByChance(count: number, mean: number): boolean {
  return chanceOf(count, mean) > FEW_CHANCE;
}

/** Probability of so many events or a count farther out to their side. */
function chanceOf(count: number, mean: number): number {
  return count >= mean ? poissonTail(count, mean) : 1 - poissonTail(count + 1, mean);
}

function areFewWhole(values: readonly number[], usual: readonly number[]): boolean {
  let few = 0;
  for (const [i, count] of values.entries()) {
    const mean = usual[i] as number;
    if (isOfFewWhole(count, mean)) few++;
    else if (Math.abs(count - mean) >= 1) return false;
  }
  return few > 0;
}

function isOfFewWhole(count: number, usual: number): boolean {
  const areFew = Number.isInteger(count) && count >= FEW_EVENTS_MIN && count <= FEW_EVENTS_MAX;
  return areFew && count > usual && poissonTail(count, usual) > FEW_CHANCE;
}
