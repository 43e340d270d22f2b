// topk, bottomk, quantile and count_values: aggregations that look at all series of a group at each step (aggregationK and aggregationCountValues in promql/engine.go of Prometheus).

import { formatPlain } from "../../../core/text/plain-number.ts";
import type { Labels } from "../labels/labels.ts";
import type { AggregateExpression } from "../parser/expression.ts";
import type { QueryBudget } from "../query-budget.ts";
import { groupLabels } from "./aggregation.ts";
import { quantileOf } from "./quantile.ts";
import { hasValues, makeSeries, type StepSeries } from "./step-series.ts";

interface Group {
  readonly labels: Labels;
  readonly series: StepSeries[];
}

function groupSeries(expression: AggregateExpression, series: readonly StepSeries[]): Group[] {
  const labelsOf = groupLabels(expression);
  const groups = new Map<string, Group>();
  for (const one of series) {
    const labels = labelsOf(one.labels);
    const group = groups.get(labels.key);
    if (group === undefined) groups.set(labels.key, { labels, series: [one] });
    else group.series.push(one);
  }
  return [...groups.values()];
}

/** What an aggregation of all series of a group needs besides them. */
export interface GroupedInput {
  readonly series: readonly StepSeries[];
  readonly steps: number;
  readonly budget: QueryBudget;
}

/** The quantile of each group at each step. */
export function aggregateQuantiles(expression: AggregateExpression, quantiles: Float64Array, input: GroupedInput): StepSeries[] {
  return groupSeries(expression, input.series).map(({ labels, series }) => {
    const result = makeSeries(labels, input.steps, input.budget);
    for (let step = 0; step < input.steps; step++) {
      input.budget.check();
      const values = Float64Array.from(series.filter(({ present }) => present[step] === 1).map(({ values: all }) => all[step] as number));
      if (values.length === 0) continue;
      result.present[step] = 1;
      result.values[step] = quantileOf(quantiles[step] as number, values);
    }
    return result;
  });
}

/** How many series of a group have each value, which becomes a label. */
export function countValues(expression: AggregateExpression, label: string, input: GroupedInput): StepSeries[] {
  const grouping = expression.isWithout ? expression.grouping : [...expression.grouping, label];
  const labelsOf = groupLabels({ grouping, isWithout: expression.isWithout });
  const counts = new Map<string, StepSeries>();
  for (const { labels, values, present } of input.series) {
    for (let step = 0; step < input.steps; step++) {
      if (present[step] === 0) continue;
      const group = labelsOf(labels.with(label, formatPlain(values[step] as number)));
      let count = counts.get(group.key);
      if (count === undefined) {
        count = makeSeries(group, input.steps, input.budget);
        counts.set(group.key, count);
      }
      count.values[step] = (count.values[step] as number) + 1;
      count.present[step] = 1;
    }
  }
  return [...counts.values()];
}

/** Whether `a` gives way to `b`: NaN to everything. */
type IsLess = (a: number, b: number) => boolean;

/** The k greatest or smallest series of each group at each step; of one step alone they come in their order. */
export function rank(expression: AggregateExpression, sizes: Float64Array, input: GroupedInput): StepSeries[] {
  const isTop = expression.operator === "topk";
  const isLess: IsLess = isTop ? (a, b) => Number.isNaN(a) || a < b : (a, b) => Number.isNaN(a) || a > b;
  const results = new Map<StepSeries, StepSeries>();
  for (const group of groupSeries(expression, input.series)) {
    for (let step = 0; step < input.steps; step++) {
      input.budget.check();
      const size = Math.min(Math.trunc(sizes[step] as number), input.series.length);
      if (size < 1) continue;
      for (const series of chosen(group.series, step, { size, isLess })) {
        const result = results.get(series) ?? makeSeries(series.labels, input.steps, input.budget);
        results.set(series, result);
        result.values[step] = series.values[step] as number;
        result.present[step] = 1;
      }
    }
  }
  return [...results.values()].filter(hasValues);
}

interface Choice {
  readonly size: number;
  readonly isLess: IsLess;
}

/** A heap with the one that gives way next at its top, as Go's container/heap keeps it: so ties come out as they do in Prometheus. */
function chosen(series: readonly StepSeries[], step: number, { size, isLess }: Choice): StepSeries[] {
  const heap: StepSeries[] = [];
  const value = (one: StepSeries) => one.values[step] as number;
  const isBelow = (a: number, b: number) => isLess(value(heap[a] as StepSeries), value(heap[b] as StepSeries));
  for (const one of series) {
    if (one.present[step] === 0) continue;
    if (heap.length < size) {
      heap.push(one);
      siftUp(heap, isBelow);
    } else if (givesWay(value(heap[0] as StepSeries), value(one), isLess)) {
      heap[0] = one;
      siftDown(heap, isBelow);
    }
  }
  return heap.sort((a, b) => (isLess(value(b), value(a)) ? (isLess(value(a), value(b)) ? 0 : -1) : isLess(value(a), value(b)) ? 1 : 0));
}

function givesWay(top: number, value: number, isLess: IsLess): boolean {
  return !Number.isNaN(value) && isLess(top, value);
}

type IsBelow = (a: number, b: number) => boolean;

function swap(heap: StepSeries[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b] as StepSeries, heap[a] as StepSeries];
}

function siftUp(heap: StepSeries[], isBelow: IsBelow): void {
  for (let child = heap.length - 1; child > 0; ) {
    const parent = (child - 1) >> 1;
    if (!isBelow(child, parent)) return;
    swap(heap, parent, child);
    child = parent;
  }
}

function siftDown(heap: StepSeries[], isBelow: IsBelow): void {
  for (let parent = 0; ; ) {
    let child = 2 * parent + 1;
    if (child >= heap.length) return;
    if (child + 1 < heap.length && isBelow(child + 1, child)) child++;
    if (!isBelow(child, parent)) return;
    swap(heap, parent, child);
    parent = child;
  }
}
