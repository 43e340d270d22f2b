// Calls of functions: which arguments they evaluate and what becomes of them (FunctionCalls in promql/functions.go of Prometheus).
// What a query's text says of its metrics: whether a name is a counter's, and the labels that a missing series would have had.
// Functions of one value: mathematics and the parts of a date (simpleFloatFunc and dateWrapper in promql/functions.go of Prometheus).
import { ownMember } from "../../../core/collections/own-member.ts";
import { DAY_MS } from "../../../core/time/durations.ts";
import { Labels, METRIC_NAME, NO_LABELS } from "../labels/labels.ts";
import { type CallExpression, type Expression, withoutParens } from "../parser/expression.ts";
import { QueryError } from "../query-error.ts";
import { type HistogramInput, histogramFractions, histogramQuantiles } from "./histogram-functions.ts";
import { joinLabels, replaceLabels } from "./label-functions.ts";
import type { QueryContext } from "./query-context.ts";
import type { WindowFunction } from "./range-window.ts";
import { overRanges, type RangedSeries, selectInstants } from "./selection.ts";
import { collect, type Evaluating, type Sliced } from "./sliced-evaluation.ts";
import { hasValues, makeSeries, mergeEach, presentSteps, type StepSeries } from "./step-series.ts";
import type { Steps } from "./steps.ts";
import { WINDOW_FUNCTIONS } from "./window-functions.ts";

/** Mathematics by name. */
const MATH_FUNCTIONS: Readonly<Record<string, ValueFunction>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  exp: Math.exp,
  sqrt: Math.sqrt,
  ln: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  rad: (value) => (value * Math.PI) / 180,
  deg: (value) => (value * 180) / Math.PI,
  sgn: (value) => (value < 0 ? -1 : value > 0 ? 1 : value),
};
const DATE_PARTS: Readonly<Record<string, (date: Date) => number>> = {
  days_in_month: (date) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  day_of_month: (date) => date.getUTCDate(),
  day_of_week: (date) => date.getUTCDay(),
  day_of_year: dayOfYear,
  hour: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  month: (date) => date.getUTCMonth() + 1,
  year: (date) => date.getUTCFullYear(),
};

/** What evaluates the arguments of a call. */
export interface ArgumentEvaluator {
  readonly steps: Steps;
  readonly context: QueryContext;
  /** A scalar at each step. */
  scalars(expression: Expression): Evaluating<Float64Array>;
  /** Series, which belong to the caller. */
  series(expression: Expression): Evaluating<StepSeries[]>;
  stream(expression: Expression): Sliced<StepSeries>;
  /** A range of stored series or of a subquery. */
  ranges(expression: Expression): Evaluating<RangedSeries>;
}

type CallFunction = (call: CallExpression, evaluator: ArgumentEvaluator) => Evaluating<StepSeries[]>;

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
export function* callScalars(call: CallExpression, evaluator: ArgumentEvaluator): Evaluating<Float64Array> {
  const values = new Float64Array(evaluator.steps.count);
  if (call.signature.name === "pi") return values.fill(Math.PI);
  if (call.signature.name === "time") return values.map((_, step) => evaluator.steps.timeMs(step) / 1_000);
  return scalarOf(yield* evaluator.series(argument(call, 0)), values);
}

/** scalar(): the value of the only series, NaN where there is none or there are more. */
function scalarOf(series: readonly StepSeries[], values: Float64Array): Float64Array {
  return values.map((_, step) => {
    const there = series.filter(({ present }) => present[step] === 1);
    return there.length === 1 ? ((there[0] as StepSeries).values[step] as number) : Number.NaN;
  });
}

/** Evaluates a call that returns series. */
export function* callSeries(call: CallExpression, evaluator: ArgumentEvaluator): Sliced<StepSeries> {
  const { name } = call.signature;
  if (name !== "absent_over_time" && ownMember(WINDOW_FUNCTIONS, name) !== undefined) {
    yield* overTime(call, evaluator);
    return;
  }
  const compute = ownMember(MATH_FUNCTIONS, name);
  if (compute !== undefined) yield* yield* mapValues(evaluator.stream(argument(call, 0)), compute);
  else yield* yield* (ownMember(CALLS, name) ?? datePart)(call, evaluator);
}

function mapValues(series: Sliced<StepSeries>, compute: (value: number, step: number) => number): Evaluating<StepSeries[]> {
  return mergeEach(mapEach(series, compute));
}

function* mapEach(series: Sliced<StepSeries>, compute: (value: number, step: number) => number): Sliced<StepSeries> {
  for (const one of series) {
    if (one === undefined) {
      yield;
      continue;
    }
    one.labels = one.labels.withoutMetricName();
    const { values } = one;
    for (let i = 0; i < values.length; i++) values[i] = compute(values[i] as number, i);
    yield one;
  }
}

/** A function over ranges; two series may not have the same labels without their names, even at different steps. */
function* overTime(call: CallExpression, evaluator: ArgumentEvaluator): Sliced<StepSeries> {
  const { name, takes } = call.signature;
  const matrixIndex = takes.indexOf("matrix");
  const ranges = yield* evaluator.ranges(argument(call, matrixIndex));
  const parameter = takes.length > 1 ? yield* evaluator.scalars(argument(call, 1 - matrixIndex)) : undefined;
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
    if (series === undefined) {
      yield;
      continue;
    }
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

function* absentOverTime(call: CallExpression, evaluator: ArgumentEvaluator): Evaluating<StepSeries[]> {
  return absentSeries(argument(call, 0), yield* collect(overTime(call, evaluator)), evaluator);
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

function* datePart(call: CallExpression, evaluator: ArgumentEvaluator): Evaluating<StepSeries[]> {
  const part = datePartOf(call.signature.name) as (seconds: number) => number;
  if (call.args.length > 0) return yield* mapValues(evaluator.stream(argument(call, 0)), part);
  const { steps } = evaluator;
  return [
    constantSeries(
      Float64Array.from({ length: steps.count }, (_, step) => part(Math.trunc(steps.timeMs(step) / 1_000))),
      evaluator,
    ),
  ];
}

/** Values between two bounds; none at steps at which the upper is below the lower. */
function* clamp(series: StepSeries[], least: Float64Array | undefined, most: Float64Array | undefined): Evaluating<StepSeries[]> {
  const lower = (step: number) => (least === undefined ? -Infinity : (least[step] as number));
  const upper = (step: number) => (most === undefined ? Infinity : (most[step] as number));
  for (const { present } of series) for (let i = 0; i < present.length; i++) if (upper(i) < lower(i)) present[i] = 0;
  const clamped = yield* mapValues(series, (value, step) => Math.max(lower(step), Math.min(upper(step), value)));
  return clamped.filter(hasValues);
}

function* round(call: CallExpression, evaluator: ArgumentEvaluator): Evaluating<StepSeries[]> {
  const nearest = call.args.length > 1 ? yield* evaluator.scalars(argument(call, 1)) : undefined;
  return yield* mapValues(evaluator.stream(argument(call, 0)), (value, step) => {
    const inverse = 1 / (nearest === undefined ? 1 : (nearest[step] as number));
    return Math.floor(value * inverse + 0.5) / inverse;
  });
}

/** Orders the series of an instant query by value, NaN last; a range query answers in the order of labels. */
function sort(direction: 1 | -1): CallFunction {
  return function* (call, evaluator) {
    const series = yield* evaluator.series(argument(call, 0));
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
function timestamp(call: CallExpression, evaluator: ArgumentEvaluator): Evaluating<StepSeries[]> {
  const { steps, context } = evaluator;
  const of = argument(call, 0);
  if (of.kind !== "selector") return mapValues(evaluator.stream(of), (_, step) => steps.timeMs(step) / 1_000);
  return mapValues(selectInstants(of, steps, context, "time"), (seconds) => seconds);
}

function* histogramInput(call: CallExpression, index: number, evaluator: ArgumentEvaluator): Evaluating<HistogramInput> {
  const { steps, context } = evaluator;
  const of = argument(call, index);
  const series = yield* evaluator.series(of);
  return { series, steps, budget: context.budget, annotations: context.annotations, start: of.start };
}

function* histogramQuantile(call: CallExpression, evaluator: ArgumentEvaluator): Evaluating<StepSeries[]> {
  const quantiles = yield* evaluator.scalars(argument(call, 0));
  annotateQuantiles(quantiles, argument(call, 0).start, evaluator.context);
  return histogramQuantiles(quantiles, yield* histogramInput(call, 1, evaluator));
}

/** Functions over native histograms: there are none, so they have no result. Their argument is evaluated for its faults. */
const withoutHistograms: CallFunction = function* (call, evaluator) {
  yield* evaluator.series(argument(call, 0));
  return [];
};

const CALLS: Readonly<Record<string, CallFunction>> = {
  *absent(call, evaluator) {
    return absentSeries(argument(call, 0), yield* evaluator.series(argument(call, 0)), evaluator);
  },
  absent_over_time: absentOverTime,
  *clamp(call, evaluator) {
    const series = yield* evaluator.series(argument(call, 0));
    return yield* clamp(series, yield* evaluator.scalars(argument(call, 1)), yield* evaluator.scalars(argument(call, 2)));
  },
  *clamp_max(call, evaluator) {
    return yield* clamp(yield* evaluator.series(argument(call, 0)), undefined, yield* evaluator.scalars(argument(call, 1)));
  },
  *clamp_min(call, evaluator) {
    return yield* clamp(yield* evaluator.series(argument(call, 0)), yield* evaluator.scalars(argument(call, 1)), undefined);
  },
  histogram_avg: withoutHistograms,
  histogram_count: withoutHistograms,
  histogram_sum: withoutHistograms,
  histogram_stddev: withoutHistograms,
  histogram_stdvar: withoutHistograms,
  *histogram_fraction(call, evaluator) {
    const lower = yield* evaluator.scalars(argument(call, 0));
    return histogramFractions(lower, yield* evaluator.scalars(argument(call, 1)), yield* histogramInput(call, 2, evaluator));
  },
  histogram_quantile: histogramQuantile,
  *label_join(call, evaluator) {
    return joinLabels(yield* evaluator.series(argument(call, 0)), texts(call, 1));
  },
  *label_replace(call, evaluator) {
    return yield* replaceLabels(yield* evaluator.series(argument(call, 0)), texts(call, 1), evaluator.context.budget);
  },
  round,
  sort: sort(1),
  sort_desc: sort(-1),
  timestamp,
  *vector(call, evaluator) {
    return [constantSeries(yield* evaluator.scalars(argument(call, 0)), evaluator)];
  },
};

/** Whether a name ends as those of counters do. */
function isCounterName(name: string): boolean {
  return /_(?:total|sum|count|bucket)$/.test(name);
}

/** Labels that a selector says with `=`; one that it says in several ways is left out (createLabelsForAbsentFunction in promql/functions.go of Prometheus). */
function absentLabels(expression: Expression): Labels {
  const selector = expression.kind === "matrix" ? expression.selector : expression;
  if (selector.kind !== "selector") return NO_LABELS;
  const labels = new Map<string, string>();
  for (const { name, operator, value } of selector.matchers) {
    if (name === METRIC_NAME) continue;
    labels.set(name, operator === "=" && !labels.has(name) ? value : "");
  }
  return Labels.of(labels);
}

type ValueFunction = (value: number) => number;

function dayOfYear(date: Date): number {
  const midnight = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return (midnight - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS + 1;
}

/** The part of a date that a function names, of seconds since 1970 in UTC; undefined for other functions. */
function datePartOf(name: string): ValueFunction | undefined {
  const part = ownMember(DATE_PARTS, name);
  return part === undefined ? undefined : (seconds) => part(new Date(Math.trunc(seconds) * 1_000));
}
