// Aggregations that need no series but the one that is being added: groups are arrays over the steps (aggregation in promql/engine.go of Prometheus).
import type { Labels } from "../labels/labels.ts";
import { METRIC_NAME } from "../labels/labels.ts";
import type { AggregateExpression } from "../parser/expression.ts";
import type { Aggregator } from "../parser/token.ts";
import type { QueryBudget } from "../query-budget.ts";
import type { Evaluating, Sliced } from "./sliced-evaluation.ts";
import { makeSeries, type StepSeries } from "./step-series.ts";

/** The labels of a series' group. */
export function groupLabels({ grouping, isWithout }: Pick<AggregateExpression, "grouping" | "isWithout">): (of: Labels) => Labels {
  const names = new Set(isWithout ? [...grouping, METRIC_NAME] : grouping);
  return (of) => (isWithout ? of.without(names) : of.only(names));
}

/** One group: takes series one by one, and then has its values. */
interface Accumulator {
  readonly result: StepSeries;
  add(series: StepSeries): void;
  finish(): void;
}

/** Takes each present value of a series: `isFirst` of its step. */
type TakeValue = (step: number, value: number, isFirst: boolean) => void;

function addEach({ present, values }: StepSeries, result: StepSeries, take: TakeValue): void {
  for (let i = 0; i < values.length; i++) {
    if (present[i] === 0) continue;
    const isFirst = result.present[i] === 0;
    result.present[i] = 1;
    take(i, values[i] as number, isFirst);
  }
}

/** Sums with compensation, see summation.ts: there for one sum, here for one a step. */
class SumAccumulator implements Accumulator {
  readonly result: StepSeries;
  readonly #compensations: Float64Array;

  constructor(result: StepSeries) {
    this.result = result;
    this.#compensations = new Float64Array(result.values.length);
  }

  add(series: StepSeries): void {
    const { values: sums } = this.result;
    addEach(series, this.result, (step, value, isFirst) => {
      if (isFirst) sums[step] = value;
      else addCompensated(sums, this.#compensations, step, value);
    });
  }

  finish(): void {
    const { values: sums } = this.result;
    for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + (this.#compensations[i] as number);
  }
}

/** One step of Kahan's and Neumaier's sum. */
function addCompensated(sums: Float64Array, compensations: Float64Array, step: number, value: number): void {
  const sum = sums[step] as number;
  const total = sum + value;
  if (total === Infinity || total === -Infinity) compensations[step] = 0;
  else {
    const lost = Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
    compensations[step] = (compensations[step] as number) + lost;
  }
  sums[step] = total;
}

/** Means as summation.ts computes them: from the step on at which a sum would overflow, as a mean that is moved. */
class MeanAccumulator implements Accumulator {
  readonly result: StepSeries;
  readonly #compensations: Float64Array;
  readonly #counts: Float64Array;
  readonly #isIncremental: Uint8Array;

  constructor(result: StepSeries) {
    const steps = result.values.length;
    this.result = result;
    this.#compensations = new Float64Array(steps);
    this.#counts = new Float64Array(steps);
    this.#isIncremental = new Uint8Array(steps);
  }

  add(series: StepSeries): void {
    addEach(series, this.result, (step, value, isFirst) => {
      this.#counts[step] = (this.#counts[step] as number) + 1;
      if (isFirst) this.result.values[step] = value;
      else this.#addValue(step, value);
    });
  }

  #addValue(step: number, value: number): void {
    const { values: sums } = this.result;
    const compensations = this.#compensations;
    const count = this.#counts[step] as number;
    if (this.#isIncremental[step] === 0) {
      const [sum, compensation] = [sums[step] as number, compensations[step] as number];
      addCompensated(sums, compensations, step, value);
      if (Math.abs(sums[step] as number) !== Infinity) return;
      sums[step] = sum / (count - 1);
      compensations[step] = compensation / (count - 1);
      this.#isIncremental[step] = 1;
    }
    const share = (count - 1) / count;
    sums[step] = share * (sums[step] as number);
    compensations[step] = share * (compensations[step] as number);
    addCompensated(sums, compensations, step, value / count);
  }

  finish(): void {
    const { values: sums } = this.result;
    for (let i = 0; i < sums.length; i++) {
      const divisor = this.#isIncremental[i] === 1 ? 1 : (this.#counts[i] as number);
      sums[i] = (sums[i] as number) / divisor + (this.#compensations[i] as number) / divisor;
    }
  }
}

/** Welford's variance; NaN where the first value of a step is no finite number. */
class VarianceAccumulator implements Accumulator {
  readonly result: StepSeries;
  readonly #isDeviation: boolean;
  readonly #means: Float64Array;
  readonly #counts: Float64Array;

  constructor(result: StepSeries, isDeviation: boolean) {
    this.result = result;
    this.#isDeviation = isDeviation;
    this.#means = new Float64Array(result.values.length);
    this.#counts = new Float64Array(result.values.length);
  }

  add(series: StepSeries): void {
    const { values: squares } = this.result;
    addEach(series, this.result, (step, value, isFirst) => {
      const count = (this.#counts[step] as number) + 1;
      this.#counts[step] = count;
      if (isFirst) {
        this.#means[step] = value;
        squares[step] = Number.isFinite(value) ? 0 : Number.NaN;
        return;
      }
      const difference = value - (this.#means[step] as number);
      const mean = (this.#means[step] as number) + difference / count;
      this.#means[step] = mean;
      squares[step] = (squares[step] as number) + difference * (value - mean);
    });
  }

  finish(): void {
    const { values } = this.result;
    for (let i = 0; i < values.length; i++) {
      const variance = (values[i] as number) / (this.#counts[i] as number);
      values[i] = this.#isDeviation ? Math.sqrt(variance) : variance;
    }
  }
}

/** Folds each further value of a step into the one that is there. */
class ReducingAccumulator implements Accumulator {
  readonly result: StepSeries;
  readonly #first: (value: number) => number;
  readonly #next: (before: number, value: number) => number;

  constructor(result: StepSeries, first: (value: number) => number, next: (before: number, value: number) => number) {
    this.result = result;
    this.#first = first;
    this.#next = next;
  }

  add(series: StepSeries): void {
    const { values } = this.result;
    addEach(series, this.result, (step, value, isFirst) => {
      values[step] = isFirst ? this.#first(value) : this.#next(values[step] as number, value);
    });
  }

  finish(): void {}
}

const same = (value: number) => value;

/** Aggregations by operator; NaN gives way to any number in max and min. */
const ACCUMULATORS: Partial<Record<Aggregator, (result: StepSeries) => Accumulator>> = {
  sum: (result) => new SumAccumulator(result),
  avg: (result) => new MeanAccumulator(result),
  count: (result) =>
    new ReducingAccumulator(
      result,
      () => 1,
      (count) => count + 1,
    ),
  group: (result) => new ReducingAccumulator(result, () => 1, same),
  max: (result) => new ReducingAccumulator(result, same, (most, value) => (most < value || Number.isNaN(most) ? value : most)),
  min: (result) => new ReducingAccumulator(result, same, (most, value) => (most > value || Number.isNaN(most) ? value : most)),
  stdvar: (result) => new VarianceAccumulator(result, false),
  stddev: (result) => new VarianceAccumulator(result, true),
};

/** Whether an aggregation takes series one by one. */
export function isStreaming(operator: Aggregator): boolean {
  return ACCUMULATORS[operator] !== undefined;
}

/** Aggregates series as they come. */
export function* aggregate(
  expression: AggregateExpression,
  series: Sliced<StepSeries>,
  steps: number,
  budget: QueryBudget,
): Evaluating<StepSeries[]> {
  const labelsOf = groupLabels(expression);
  const make = ACCUMULATORS[expression.operator] as (result: StepSeries) => Accumulator;
  const groups = new Map<string, Accumulator>();
  let bytes = budget.bytes;
  for (const one of series) {
    if (one === undefined) {
      yield;
      continue;
    }
    // What the series took is free again once it has been added.
    budget.settle(bytes);
    const labels = labelsOf(one.labels);
    let group = groups.get(labels.key);
    if (group === undefined) {
      group = make(makeSeries(labels, steps, budget));
      groups.set(labels.key, group);
      bytes = budget.bytes;
    }
    group.add(one);
  }
  for (const group of groups.values()) group.finish();
  return [...groups.values()].map(({ result }) => result);
}
