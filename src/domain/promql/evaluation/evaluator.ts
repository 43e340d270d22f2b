// Evaluates the tree of a query at steps. A part's series are made one by one where the part above takes them so: `sum(rate(x[5m]))` has one series of x in memory at a time.
// Which parts of a query have the same value at every step: those are evaluated once (PreprocessExpr in promql/engine.go of Prometheus).
// Operators between scalars, and between a scalar and series (scalarBinop and VectorscalarBinop in promql/engine.go of Prometheus).
import {
  type AggregateExpression,
  type BinaryExpression,
  type Expression,
  type SubqueryExpression,
  typeOf,
  withoutParens,
} from "../parser/expression.ts";
import { formatShortest } from "../parser/number-text.ts";
import { quote } from "../parser/quoted-text.ts";
import type { BinaryOperator } from "../parser/token.ts";
import { isSetOperator } from "../parser/type-check.ts";
import { QueryError } from "../query-error.ts";
import type { StoredSeries } from "../series-storage.ts";
import { aggregate, isStreaming } from "./aggregation.ts";
import { type ArgumentEvaluator, annotateQuantiles, callScalars, callSeries } from "./call-evaluation.ts";
import { isLabelName } from "./label-functions.ts";
import { arithmeticOf, comparisonOf } from "./operators.ts";
import { type QueryContext, rangeMs } from "./query-context.ts";
import { aggregateQuantiles, countValues, type GroupedInput, rank } from "./ranking.ts";
import { type RangedSeries, type Reference, referenceMs, referenceOf, selectInstants, selectRanges } from "./selection.ts";
import { collect, type Evaluating, type Sliced } from "./sliced-evaluation.ts";
import { hasValues, makeSeries, merge, type StepSeries, seriesBytes } from "./step-series.ts";
import { Steps } from "./steps.ts";
import { combineSets, VectorCombination } from "./vector-matching.ts";

/** Functions of the moment of evaluation, whatever their arguments are. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set([
  "days_in_month",
  "day_of_month",
  "day_of_week",
  "day_of_year",
  "hour",
  "minute",
  "month",
  "year",
  "predict_linear",
  "time",
  "timestamp",
]);

/** Integers that a count of series may be. */
const COUNT_MAX = 2 ** 63;

/** Evaluates parts of one query at the same steps. */
export class Evaluator implements ArgumentEvaluator {
  readonly steps: Steps;
  readonly context: QueryContext;

  constructor(steps: Steps, context: QueryContext) {
    this.steps = steps;
    this.context = context;
  }

  *scalars(expression: Expression): Evaluating<Float64Array> {
    if (this.#isOnceEnough(expression)) {
      const [value] = yield* this.#once().scalars(expression);
      return new Float64Array(this.steps.count).fill(value as number);
    }
    switch (expression.kind) {
      case "number":
        return new Float64Array(this.steps.count).fill(expression.value);
      case "paren":
        return yield* this.scalars(expression.inner);
      case "unary": {
        const values = yield* this.scalars(expression.operand);
        return expression.operator === "-" ? values.map((value) => -value) : values;
      }
      case "binary":
        return combineScalars(expression.operator, yield* this.scalars(expression.left), yield* this.scalars(expression.right));
      case "call":
        return yield* callScalars(expression, this);
      default:
        throw new Error(`${expression.kind} is no scalar`);
    }
  }

  *series(expression: Expression): Evaluating<StepSeries[]> {
    const { budget } = this.context;
    const { bytes } = budget;
    const whole = this.#whole(expression);
    const series = whole === undefined ? yield* collect(this.stream(expression)) : yield* whole;
    budget.settle(bytes + series.length * seriesBytes(this.steps.count));
    return series;
  }

  *stream(expression: Expression): Sliced<StepSeries> {
    this.context.budget.check();
    const whole = this.#whole(expression);
    if (whole !== undefined) {
      yield* yield* whole;
      return;
    }
    switch (expression.kind) {
      case "selector":
        return yield* selectInstants(expression, this.steps, this.context);
      case "paren":
        return yield* this.stream(expression.inner);
      case "unary":
        return yield* this.stream(expression.operand);
      case "call":
        return yield* callSeries(expression, this);
      default:
        throw new Error(`${expression.kind} has no series`);
    }
  }

  /** Of an expression whose series are made together, all of them; asked for before streams are, which take more of the stack a level. */
  #whole(expression: Expression): Evaluating<StepSeries[]> | undefined {
    if (this.#isOnceEnough(expression)) return this.#repeated(expression);
    if (expression.kind === "binary") return this.#binary(expression);
    if (expression.kind === "aggregate") return this.#aggregation(expression);
    return expression.kind === "unary" && expression.operator === "-" ? this.#negated(expression.operand) : undefined;
  }

  *ranges(expression: Expression): Evaluating<RangedSeries> {
    if (expression.kind === "matrix") {
      return selectRanges(expression.selector, rangeMs(expression.range, this.context), this.steps, this.context);
    }
    if (expression.kind === "subquery") return yield* this.subquery(expression);
    throw new Error(`${expression.kind} is no range`);
  }

  /** A subquery's series: its operand at multiples of its step since 1970 that lie in the ranges of all steps. Their samples count as those that are read do. */
  *subquery(expression: SubqueryExpression): Evaluating<RangedSeries> {
    const reference = referenceOf(expression, this.context);
    const range = rangeMs(expression.range, this.context);
    const steps = this.#subquerySteps(expression, reference, range);
    const series: StoredSeries[] = [];
    if (steps.count > 0) {
      for (const one of yield* new Evaluator(steps, this.context).series(expression.operand)) {
        const stored = toStored(one, steps);
        this.context.budget.countSamples(stored.timesMs.length);
        series.push(stored);
      }
    }
    return { series, reference, rangeMs: range };
  }

  #subquerySteps({ step }: SubqueryExpression, reference: Reference, range: number): Steps {
    const stepMs = step === undefined ? this.context.subqueryStepMs : rangeMs(step, this.context);
    const afterMs = referenceMs(reference, this.steps.startMs) - range;
    let startMs = stepMs * Math.trunc(afterMs / stepMs);
    if (startMs <= afterMs) startMs += stepMs;
    return new Steps(startMs, referenceMs(reference, this.steps.endMs), stepMs);
  }

  /** Whether an expression has the same value at all of several steps. */
  #isOnceEnough(expression: Expression): boolean {
    return this.steps.count > 1 && expression.kind !== "number" && isStepInvariant(expression);
  }

  #once(): Evaluator {
    return new Evaluator(this.steps.first(), this.context);
  }

  *#repeated(expression: Expression): Evaluating<StepSeries[]> {
    const series = yield* this.#once().series(expression);
    return series.map(({ labels, values }) => {
      const repeated = makeSeries(labels, this.steps.count, this.context.budget);
      repeated.values.fill(values[0] as number);
      repeated.present.fill(1);
      return repeated;
    });
  }

  *#negated(operand: Expression): Evaluating<StepSeries[]> {
    const series = yield* this.series(operand);
    for (const one of series) {
      one.labels = one.labels.withoutMetricName();
      for (let i = 0; i < one.values.length; i++) one.values[i] = -(one.values[i] as number);
    }
    return merge(series);
  }

  *#binary(expression: BinaryExpression): Evaluating<StepSeries[]> {
    const { operator, left, right, returnsBool } = expression;
    const isScalarLeft = typeOf(left) === "scalar";
    if (isScalarLeft || typeOf(right) === "scalar") {
      const [scalar, vector] = isScalarLeft ? [left, right] : [right, left];
      const series = yield* this.series(vector);
      return combineWithScalar(series, { operator, scalar: yield* this.scalars(scalar), isScalarLeft, returnsBool });
    }
    const sides = [yield* this.series(left), yield* this.series(right)] as const;
    if (isSetOperator(operator)) return combineSets(expression, sides, this.steps.count);
    return new VectorCombination(expression, this.steps.count, this.context.budget).combine(...sides);
  }

  *#aggregation(expression: AggregateExpression): Evaluating<StepSeries[]> {
    const { budget } = this.context;
    if (isStreaming(expression.operator)) return yield* aggregate(expression, this.stream(expression.operand), this.steps.count, budget);
    const parameter = withoutParens(expression.parameter as Expression);
    if (parameter.kind === "string") return yield* this.#countValues(expression, parameter.value);
    const values = yield* this.scalars(parameter);
    if (expression.operator === "quantile") {
      annotateQuantiles(values, parameter.start, this.context);
      return aggregateQuantiles(expression, values, yield* this.#grouped(expression));
    }
    return isAnyRanked(values) ? rank(expression, values, yield* this.#grouped(expression)) : [];
  }

  *#countValues(expression: AggregateExpression, label: string): Evaluating<StepSeries[]> {
    if (!isLabelName(label)) throw new QueryError(`invalid label name ${quote(label)}`);
    return countValues(expression, label, yield* this.#grouped(expression));
  }

  *#grouped({ operand }: AggregateExpression): Evaluating<GroupedInput> {
    return { series: yield* this.series(withoutParens(operand)), steps: this.steps.count, budget: this.context.budget };
  }
}

/** Whether a number of series is asked for at any step. Throws QueryError where it is none. */
function isAnyRanked(sizes: Float64Array): boolean {
  if (sizes.some(Number.isNaN)) throw new QueryError("Parameter value is NaN");
  const most = sizes.reduce((a, b) => Math.max(a, b), -Infinity);
  const least = sizes.reduce((a, b) => Math.min(a, b), Infinity);
  if (most < 1) return false;
  if (least <= -COUNT_MAX) throw new QueryError(`Scalar value ${formatShortest(least)} underflows int64`);
  if (most >= COUNT_MAX) throw new QueryError(`Scalar value ${formatShortest(most)} overflows int64`);
  return true;
}

/** A subquery's series as a stored one. */
function toStored({ labels, values, present }: StepSeries, steps: Steps): StoredSeries {
  const count = present.reduce((sum, one) => sum + one, 0);
  const stored = { labels, timesMs: new Float64Array(count), values: new Float64Array(count) };
  for (let step = 0, to = 0; step < steps.count; step++) {
    if (present[step] === 0) continue;
    stored.timesMs[to] = steps.timeMs(step);
    stored.values[to++] = values[step] as number;
  }
  return stored;
}

/** Whether all of an expression's selectors and subqueries say their own moment. */
function isStepInvariant(expression: Expression): boolean {
  switch (expression.kind) {
    case "number":
    case "string":
      return true;
    case "paren":
      return isStepInvariant(expression.inner);
    case "unary":
      return isStepInvariant(expression.operand);
    case "binary":
      return isStepInvariant(expression.left) && isStepInvariant(expression.right);
    case "aggregate":
      return isStepInvariant(expression.operand) && (expression.parameter === undefined || isStepInvariant(expression.parameter));
    case "call":
      return !OF_THE_MOMENT.has(expression.signature.name) && expression.args.every(isStepInvariant);
    case "matrix":
      return expression.selector.at !== undefined;
    case "selector":
    case "subquery":
      return expression.at !== undefined;
  }
}

/** Both sides are scalars: a number at each step. */
function combineScalars(operator: BinaryOperator, left: Float64Array, right: Float64Array): Float64Array {
  const comparison = comparisonOf(operator);
  const compute = arithmeticOf(operator) ?? ((a: number, b: number) => Number(comparison(a, b)));
  return left.map((value, step) => compute(value, right[step] as number));
}

/** How a scalar meets series. */
interface ScalarOperation {
  readonly operator: BinaryOperator;
  readonly scalar: Float64Array;
  readonly isScalarLeft: boolean;
  readonly returnsBool: boolean;
}

/** One side is a scalar; the series are changed in place. A comparison leaves the values of the series that fulfil it. */
function combineWithScalar(series: readonly StepSeries[], operation: ScalarOperation): StepSeries[] {
  const compute = arithmeticOf(operation.operator);
  for (const one of series) {
    if (compute === undefined) compareWithScalar(one, operation);
    else computeWithScalar(one, operation, compute);
  }
  return compute === undefined && !operation.returnsBool ? series.filter(hasValues) : merge(series);
}

function computeWithScalar(series: StepSeries, { scalar, isScalarLeft }: ScalarOperation, compute: (a: number, b: number) => number): void {
  const { values } = series;
  series.labels = series.labels.withoutMetricName();
  for (let i = 0; i < values.length; i++) {
    const [value, other] = [values[i] as number, scalar[i] as number];
    values[i] = isScalarLeft ? compute(other, value) : compute(value, other);
  }
}

function compareWithScalar(series: StepSeries, { operator, scalar, isScalarLeft, returnsBool }: ScalarOperation): void {
  const { values, present } = series;
  const compare = comparisonOf(operator);
  if (returnsBool) series.labels = series.labels.withoutMetricName();
  for (let i = 0; i < values.length; i++) {
    const [value, other] = [values[i] as number, scalar[i] as number];
    const holds = isScalarLeft ? compare(other, value) : compare(value, other);
    if (returnsBool) values[i] = Number(holds);
    else if (!holds) present[i] = 0;
  }
}
