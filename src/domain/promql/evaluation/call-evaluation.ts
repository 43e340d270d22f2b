// Calls of functions: which arguments they evaluate and what becomes of them (FunctionCalls in promql/functions.go of Prometheus).
import { ownMember } from "../../../core/collections/own-member.ts";
import { type Labels, NO_LABELS } from "../labels/labels.ts";
import { type CallExpression, type Expression, withoutParens } from "../parser/expression.ts";
import { QueryError } from "../query-error.ts";
import { type HistogramInput, histogramFractions, histogramQuantiles } from "./histogram-functions.ts";
import { joinLabels, replaceLabels } from "./label-functions.ts";
import { absentLabels, isCounterName } from "./metric-names.ts";
import type { QueryContext } from "./query-context.ts";
import type { WindowFunction } from "./range-window.ts";
import { overRanges, type RangedSeries, selectInstants } from "./selection.ts";
import { hasValues, makeSeries, merge, presentSteps, type StepSeries } from "./step-series.ts";
import type { Steps } from "./steps.ts";
import { datePartOf, MATH_FUNCTIONS } from "./value-functions.ts";
import { WINDOW_FUNCTIONS } from "./window-functions.ts";

/** What evaluates the arguments of a call. */
export interface ArgumentEvaluator {
  readonly steps: Steps;
  readonly context: QueryContext;
  /** A scalar at each step. */
  scalars(expression: Expression): Float64Array;
  /** Series, which belong to the caller. */
  series(expression: Expression): StepSeries[];
  /** Series one by one. */
  stream(expression: Expression): Iterable<StepSeries>;
  /** A range of stored series or of a subquery. */
  ranges(expression: Expression): RangedSeries;
}

type CallFunction = (call: CallExpression, evaluator: ArgumentEvaluator) => Iterable<StepSeries>;

/** The argument at an index, without parentheses. */
function argument({ args }: CallExpression, index: number): Expression {
  return withoutParens(args[index] as Expression);
}

function texts({ args }: CallExpression, from: number): string[] {
  return args.slice(from).map((each) => {
    const text = withoutParens(each);
    return text.kind === "string" ? text.value : "";
  });
}

/** Evaluates a call that returns scalars. */
export function callScalars(call: CallExpression, evaluator: ArgumentEvaluator): Float64Array {
  const values = new Float64Array(evaluator.steps.count);
  if (call.signature.name === "pi") return values.fill(Math.PI);
  if (call.signature.name === "time") return values.map((_, step) => evaluator.steps.timeMs(step) / 1_000);
  return scalarOf(evaluator.series(argument(call, 0)), values);
}

/** scalar(): the value of the only series, NaN where there is none or there are more. */
function scalarOf(series: readonly StepSeries[], values: Float64Array): Float64Array {
  return values.map((_, step) => {
    const there = series.filter(({ present }) => present[step] === 1);
    return there.length === 1 ? ((there[0] as StepSeries).values[step] as number) : Number.NaN;
  });
}

/** Evaluates a call that returns series. */
export function callSeries(call: CallExpression, evaluator: ArgumentEvaluator): Iterable<StepSeries> {
  const { name } = call.signature;
  if (ownMember(WINDOW_FUNCTIONS, name) !== undefined)
    return name === "absent_over_time" ? absentOverTime(call, evaluator) : overTime(call, evaluator);
  const compute = ownMember(MATH_FUNCTIONS, name);
  if (compute !== undefined) return mapValues(evaluator.stream(argument(call, 0)), compute);
  return (ownMember(CALLS, name) ?? datePart)(call, evaluator);
}

function mapValues(series: Iterable<StepSeries>, compute: (value: number, step: number) => number): StepSeries[] {
  return merge(mapEach(series, compute));
}

function* mapEach(series: Iterable<StepSeries>, compute: (value: number, step: number) => number): Iterable<StepSeries> {
  for (const one of series) {
    one.labels = one.labels.withoutMetricName();
    const { values } = one;
    for (let i = 0; i < values.length; i++) values[i] = compute(values[i] as number, i);
    yield one;
  }
}

/** A function over ranges; two series may not have the same labels without their names, even at different steps. */
function* overTime(call: CallExpression, evaluator: ArgumentEvaluator): Iterable<StepSeries> {
  const { name, takes } = call.signature;
  const matrixIndex = takes.indexOf("matrix");
  const ranges = evaluator.ranges(argument(call, matrixIndex));
  const parameter = takes.length > 1 ? evaluator.scalars(argument(call, 1 - matrixIndex)) : undefined;
  // What is absent has no series in the result, so theirs may have any names.
  const keepsName = name === "first_over_time" || name === "last_over_time" || name === "absent_over_time";
  const keys = new Set<string>();
  let metricName = "";
  const labelsOf = (labels: Labels) => {
    metricName = labels.metricName;
    return keepsName ? labels : labels.withoutMetricName();
  };
  const compute = ownMember(WINDOW_FUNCTIONS, name) as WindowFunction;
  for (const series of overRanges(ranges, { compute, parameter, labelsOf }, evaluator.steps, evaluator.context)) {
    if (keys.has(series.labels.key)) throw new QueryError("vector cannot contain metrics with the same labelset");
    keys.add(series.labels.key);
    annotateWindow(call, { metricName, parameter }, evaluator);
    yield series;
  }
}

interface WindowNote {
  readonly metricName: string;
  readonly parameter: Float64Array | undefined;
}

function annotateWindow({ signature, args }: CallExpression, { metricName, parameter }: WindowNote, { context }: ArgumentEvaluator): void {
  const { start } = args[0] as Expression;
  if ((signature.name === "rate" || signature.name === "increase") && metricName !== "" && !isCounterName(metricName)) {
    context.annotations.possibleNonCounter(metricName, start);
  }
  if (signature.name === "quantile_over_time") annotateQuantiles(parameter as Float64Array, start, context);
}

/** Warns of quantiles that are none. */
export function annotateQuantiles(quantiles: Float64Array, start: number, { annotations }: QueryContext): void {
  for (const quantile of quantiles) if (!(quantile >= 0 && quantile <= 1)) annotations.invalidQuantile(quantile, start);
}

function absentOverTime(call: CallExpression, evaluator: ArgumentEvaluator): StepSeries[] {
  return absentSeries(argument(call, 0), [...overTime(call, evaluator)], evaluator);
}

/** One series with the value 1 at the steps at which others have none. */
function absentSeries(of: Expression, series: readonly StepSeries[], { steps, context }: ArgumentEvaluator): StepSeries[] {
  const present = presentSteps(series, steps.count);
  const result = makeSeries(absentLabels(of), steps.count, context.budget);
  for (let i = 0; i < steps.count; i++) result.present[i] = 1 - (present[i] as number);
  result.values.fill(1);
  return hasValues(result) ? [result] : [];
}

/** A series without labels, with a value at each step. */
function constantSeries(values: Float64Array, { steps, context }: ArgumentEvaluator): StepSeries {
  const series = makeSeries(NO_LABELS, steps.count, context.budget);
  series.values.set(values);
  series.present.fill(1);
  return series;
}

function datePart(call: CallExpression, evaluator: ArgumentEvaluator): StepSeries[] {
  const part = datePartOf(call.signature.name) as (seconds: number) => number;
  if (call.args.length > 0) return mapValues(evaluator.stream(argument(call, 0)), part);
  const { steps } = evaluator;
  return [
    constantSeries(
      Float64Array.from({ length: steps.count }, (_, step) => part(Math.trunc(steps.timeMs(step) / 1_000))),
      evaluator,
    ),
  ];
}

/** Values between two bounds; none at steps at which the upper is below the lower. */
function clamp(series: StepSeries[], least: Float64Array | undefined, most: Float64Array | undefined): StepSeries[] {
  const lower = (step: number) => (least === undefined ? -Infinity : (least[step] as number));
  const upper = (step: number) => (most === undefined ? Infinity : (most[step] as number));
  for (const { present } of series) for (let i = 0; i < present.length; i++) if (upper(i) < lower(i)) present[i] = 0;
  return mapValues(series, (value, step) => Math.max(lower(step), Math.min(upper(step), value))).filter(hasValues);
}

function round(call: CallExpression, evaluator: ArgumentEvaluator): StepSeries[] {
  const nearest = call.args.length > 1 ? evaluator.scalars(argument(call, 1)) : undefined;
  return mapValues(evaluator.stream(argument(call, 0)), (value, step) => {
    const inverse = 1 / (nearest === undefined ? 1 : (nearest[step] as number));
    return Math.floor(value * inverse + 0.5) / inverse;
  });
}

/** Orders the series of an instant query by value, NaN last; a range query answers in the order of labels. */
function sort(direction: 1 | -1): CallFunction {
  return (call, evaluator) => {
    const series = evaluator.series(argument(call, 0));
    if (evaluator.steps.count > 1) {
      evaluator.context.annotations.ineffectiveSort(call.start);
      return series;
    }
    const firstValue = ({ values }: StepSeries) => values[0] as number;
    return series.sort(
      (a, b) =>
        Number(Number.isNaN(firstValue(a))) - Number(Number.isNaN(firstValue(b))) || direction * compare(firstValue(a), firstValue(b)),
    );
  };
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The time of the sample that a selector has found, else that of the step. */
function timestamp(call: CallExpression, evaluator: ArgumentEvaluator): StepSeries[] {
  const { steps, context } = evaluator;
  const of = argument(call, 0);
  if (of.kind !== "selector") return mapValues(evaluator.stream(of), (_, step) => steps.timeMs(step) / 1_000);
  return mapValues(selectInstants(of, steps, context, "time"), (seconds) => seconds);
}

function histogramInput(call: CallExpression, index: number, { steps, context, series }: ArgumentEvaluator): HistogramInput {
  const of = argument(call, index);
  return { series: series(of), steps, budget: context.budget, annotations: context.annotations, start: of.start };
}

function histogramQuantile(call: CallExpression, evaluator: ArgumentEvaluator): StepSeries[] {
  const quantiles = evaluator.scalars(argument(call, 0));
  annotateQuantiles(quantiles, argument(call, 0).start, evaluator.context);
  return histogramQuantiles(quantiles, histogramInput(call, 1, evaluator));
}

/** Functions over native histograms: there are none, so they have no result. Their argument is evaluated for its faults. */
const withoutHistograms: CallFunction = (call, evaluator) => {
  evaluator.series(argument(call, 0));
  return [];
};

const CALLS: Readonly<Record<string, CallFunction>> = {
  absent: (call, evaluator) => absentSeries(argument(call, 0), evaluator.series(argument(call, 0)), evaluator),
  clamp: (call, evaluator) =>
    clamp(evaluator.series(argument(call, 0)), evaluator.scalars(argument(call, 1)), evaluator.scalars(argument(call, 2))),
  clamp_max: (call, evaluator) => clamp(evaluator.series(argument(call, 0)), undefined, evaluator.scalars(argument(call, 1))),
  clamp_min: (call, evaluator) => clamp(evaluator.series(argument(call, 0)), evaluator.scalars(argument(call, 1)), undefined),
  histogram_avg: withoutHistograms,
  histogram_count: withoutHistograms,
  histogram_sum: withoutHistograms,
  histogram_stddev: withoutHistograms,
  histogram_stdvar: withoutHistograms,
  histogram_fraction: (call, evaluator) =>
    histogramFractions(evaluator.scalars(argument(call, 0)), evaluator.scalars(argument(call, 1)), histogramInput(call, 2, evaluator)),
  histogram_quantile: histogramQuantile,
  label_join: (call, evaluator) => joinLabels(evaluator.series(argument(call, 0)), texts(call, 1)),
  label_replace: (call, evaluator) => replaceLabels(evaluator.series(argument(call, 0)), texts(call, 1)),
  round,
  sort: sort(1),
  sort_desc: sort(-1),
  timestamp,
  vector: (call, evaluator) => [constantSeries(evaluator.scalars(argument(call, 0)), evaluator)],
};
