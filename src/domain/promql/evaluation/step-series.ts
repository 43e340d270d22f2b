// A series of a query's part: a value at each step, or none. It belongs to whoever has asked for it, who may change it in place.
import type { Labels } from "../labels/labels.ts";
import type { QueryBudget } from "../query-budget.ts";
import { QueryError } from "../query-error.ts";
import type { Evaluating, Sliced } from "./sliced-evaluation.ts";

/** `present` is 1 where there is a value. */
export interface StepSeries {
  labels: Labels;
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

/** Bytes of a value and its mark, and of a series besides: its labels and objects. */
const STEP_BYTES = 9;
const SERIES_BYTES = 400;

/** Bytes that a series of so many steps takes. */
export function seriesBytes(steps: number): number {
  return SERIES_BYTES + steps * STEP_BYTES;
}

/** A series without values, counted in the budget. */
export function makeSeries(labels: Labels, steps: number, budget: QueryBudget): StepSeries {
  budget.check();
  budget.reserve(seriesBytes(steps));
  return { labels, values: new Float64Array(steps), present: new Uint8Array(steps) };
}

/** Whether a series has a value at any step. */
export function hasValues({ present }: StepSeries): boolean {
  return present.includes(1);
}

/** The steps at which any of some series has a value. */
export function presentSteps(series: readonly StepSeries[], steps: number): Uint8Array {
  const any = new Uint8Array(steps);
  for (const { present } of series) for (let i = 0; i < steps; i++) any[i] = (any[i] as number) | (present[i] as number);
  return any;
}

/** Brings series together whose labels became the same: at one step only one of them may have a value. */
export class SeriesMerger {
  readonly #byKey = new Map<string, StepSeries>();

  /** Adds a series. Throws QueryError where another with its labels has a value at the same step. */
  add(series: StepSeries): void {
    const known = this.#byKey.get(series.labels.key);
    if (known === undefined) {
      this.#byKey.set(series.labels.key, series);
      return;
    }
    for (let i = 0; i < series.present.length; i++) {
      if (series.present[i] === 0) continue;
      if (known.present[i] === 1) throw new QueryError("vector cannot contain metrics with the same labelset");
      known.values[i] = series.values[i] as number;
      known.present[i] = 1;
    }
  }

  /** What was added, in the order of first appearance. */
  get series(): StepSeries[] {
    return [...this.#byKey.values()];
  }
}

/** Series after their labels have changed. */
export function merge(series: Iterable<StepSeries>): StepSeries[] {
  const merger = new SeriesMerger();
  for (const one of series) merger.add(one);
  return merger.series;
}

/** The same of series that come one by one. */
export function* mergeEach(series: Sliced<StepSeries>): Evaluating<StepSeries[]> {
  const merger = new SeriesMerger();
  for (const one of series) {
    if (one === undefined) yield;
    else merger.add(one);
  }
  return merger.series;
}
