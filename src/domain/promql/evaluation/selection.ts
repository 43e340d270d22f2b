// Selectors: instant ones have the last sample of each step, not older than the lookback and not stale; ranges are moved over the samples of a series, one series at a time.
import type { Labels } from "../labels/labels.ts";
import type { VectorSelector } from "../parser/expression.ts";
import type { QueryBudget } from "../query-budget.ts";
import type { StoredSeries } from "../series-storage.ts";
import { isStale } from "../stale-marker.ts";
import { atMs, offsetMs, type QueryContext } from "./query-context.ts";
import { RangeWindow, type WindowFunction } from "./range-window.ts";
import type { Evaluating, Sliced } from "./sliced-evaluation.ts";
import { hasValues, makeSeries, type StepSeries } from "./step-series.ts";
import type { Steps } from "./steps.ts";

/** Where a selector looks at each step: the step's moment or its own, and so much before. */
export interface Reference {
  /** Its own moment; undefined where it is the step's. */
  readonly atMs: number | undefined;
  readonly offsetMs: number;
}

/** The reference of a selector or subquery. */
export function referenceOf({ at, offset }: Pick<VectorSelector, "at" | "offset">, context: QueryContext): Reference {
  return { atMs: atMs(at, context), offsetMs: offsetMs(offset, context) };
}

/** The moment that a reference is of at a step. */
export function referenceMs(reference: Reference, stepMs: number): number {
  return (reference.atMs ?? stepMs) - reference.offsetMs;
}

/** What an instant selector takes of the sample that it finds. */
type Taken = "value" | "time";

/** The series of an instant selector, one by one. */
export function* selectInstants(selector: VectorSelector, steps: Steps, context: QueryContext, taken: Taken = "value"): Sliced<StepSeries> {
  const reference = referenceOf(selector, context);
  const fromMs = referenceMs(reference, steps.startMs) - context.lookbackMs + 1;
  const stored = context.storage.select(selector.matchers, fromMs, referenceMs(reference, steps.endMs));
  for (const series of stored) {
    if (series === undefined || context.budget.isSliceOver) yield;
    if (series === undefined) continue;
    context.budget.countSamples(series.timesMs.length);
    const result = makeSeries(series.labels, steps.count, context.budget);
    fillInstants(series, result, { steps, reference, lookbackMs: context.lookbackMs, taken });
    if (hasValues(result)) yield result;
  }
}

interface InstantFill {
  readonly steps: Steps;
  readonly reference: Reference;
  readonly lookbackMs: number;
  readonly taken: Taken;
}

function fillInstants({ timesMs, values }: StoredSeries, result: StepSeries, { steps, reference, lookbackMs, taken }: InstantFill): void {
  let next = 0;
  for (let step = 0; step < steps.count; step++) {
    const moment = referenceMs(reference, steps.timeMs(step));
    while (next < timesMs.length && (timesMs[next] as number) <= moment) next++;
    const last = next - 1;
    if (last < 0 || (timesMs[last] as number) <= moment - lookbackMs || isStale(values, last)) continue;
    result.present[step] = 1;
    result.values[step] = taken === "value" ? (values[last] as number) : (timesMs[last] as number) / 1_000;
  }
}

/** Samples of a series without stale markers. */
function withoutStale(series: StoredSeries): StoredSeries {
  const { labels, timesMs, values } = series;
  let count = 0;
  for (let i = 0; i < values.length; i++) if (!isStale(values, i)) count++;
  if (count === values.length) return series;
  const left = { labels, timesMs: new Float64Array(count), values: new Float64Array(count) };
  for (let i = 0, to = 0; i < values.length; i++) {
    if (isStale(values, i)) continue;
    left.timesMs[to] = timesMs[i] as number;
    left.values[to++] = values[i] as number;
  }
  return left;
}

/** Series with ranges: stored ones, or those of a subquery. */
export interface RangedSeries {
  readonly series: Sliced<StoredSeries>;
  readonly reference: Reference;
  readonly rangeMs: number;
}

/** The stored series of a selector with a range, without stale markers. */
export function selectRanges(selector: VectorSelector, range: number, steps: Steps, context: QueryContext): RangedSeries {
  const reference = referenceOf(selector, context);
  const fromMs = referenceMs(reference, steps.startMs) - range + 1;
  const toMs = referenceMs(reference, steps.endMs);
  return { series: readSeries(context.storage.select(selector.matchers, fromMs, toMs), context), reference, rangeMs: range };
}

function* readSeries(stored: Sliced<StoredSeries>, { budget }: QueryContext): Sliced<StoredSeries> {
  for (const series of stored) {
    if (series === undefined || budget.isSliceOver) yield;
    if (series === undefined) continue;
    budget.countSamples(series.timesMs.length);
    const left = withoutStale(series);
    if (left.timesMs.length > 0) yield left;
  }
}

/** A function over ranges, with its other argument at each step. */
export interface WindowCall {
  readonly compute: WindowFunction;
  readonly parameter: Float64Array | undefined;
  readonly labelsOf: (labels: Labels) => Labels;
}

/** The results of a function over ranges, series by series. */
export function* overRanges(ranged: RangedSeries, call: WindowCall, steps: Steps, context: QueryContext): Sliced<StepSeries> {
  const window = new RangeWindow(ranged.rangeMs / 1_000);
  for (const series of ranged.series) {
    if (series === undefined || context.budget.isSliceOver) yield;
    if (series === undefined) continue;
    context.budget.check();
    const result = makeSeries(call.labelsOf(series.labels), steps.count, context.budget);
    yield* moveWindow(window, series, { ranged, call, steps, result, budget: context.budget });
    if (hasValues(result)) yield result;
  }
}

interface WindowMove {
  readonly ranged: RangedSeries;
  readonly call: WindowCall;
  readonly steps: Steps;
  readonly result: StepSeries;
  readonly budget: QueryBudget;
}

/** Steps between two looks at the budget: a step may read all of a series. */
const STEPS_UNCHECKED = 64;

function* moveWindow(
  window: RangeWindow,
  { timesMs, values }: StoredSeries,
  { ranged, call, steps, result, budget }: WindowMove,
): Evaluating<void> {
  window.timesMs = timesMs;
  window.values = values;
  let [from, to] = [0, 0];
  for (let step = 0; step < steps.count; step++) {
    window.evaluationMs = steps.timeMs(step);
    window.endMs = referenceMs(ranged.reference, window.evaluationMs);
    window.startMs = window.endMs - ranged.rangeMs;
    while (to < timesMs.length && (timesMs[to] as number) <= window.endMs) to++;
    while (from < to && (timesMs[from] as number) <= window.startMs) from++;
    if (from === to) continue;
    if (step % STEPS_UNCHECKED === 0) {
      budget.check();
      if (budget.isSliceOver) yield;
    }
    window.from = from;
    window.to = to;
    if (call.parameter !== undefined) window.parameter = call.parameter[step] as number;
    if (!call.compute(window)) continue;
    result.values[step] = window.result;
    result.present[step] = 1;
  }
}
