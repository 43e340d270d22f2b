// Evaluates whole queries, at one moment or over a range (promql/engine.go of Prometheus): what the HTTP API, rules and commands ask.
import { PROMQL_LOOKBACK_MS, PROMQL_STEPS_MAX, PROMQL_SUBQUERY_STEP_MS } from "../../core/config/promql-limits.ts";
import { Annotations } from "./annotations.ts";
import { Evaluator } from "./evaluation/evaluator.ts";
import type { QueryContext } from "./evaluation/query-context.ts";
import { collect, type Evaluating, finish } from "./evaluation/sliced-evaluation.ts";
import { hasValues, type StepSeries } from "./evaluation/step-series.ts";
import { Steps } from "./evaluation/steps.ts";
import { Labels, NO_LABELS } from "./labels/labels.ts";
import { type Expression, typeOf, withoutParens } from "./parser/expression.ts";
import { parseExpression } from "./parser/parser.ts";
import type { QueryBudget } from "./query-budget.ts";
import { QueryError } from "./query-error.ts";
import type { SeriesStorage, StoredSeries } from "./series-storage.ts";

/** What a query is evaluated over. */
export interface QueryOptions {
  readonly storage: SeriesStorage;
  readonly budget: QueryBudget;
  readonly lookbackMs?: number;
  /** Step of subqueries that name none. */
  readonly subqueryStepMs?: number;
}

/** A sample of an instant query. */
export interface VectorSample {
  readonly labels: Labels;
  readonly value: number;
}

/** The value of a query: samples of one moment in their order, series, a number or a text. */
export type QueryValue =
  | { readonly type: "vector"; readonly samples: readonly VectorSample[] }
  | { readonly type: "matrix"; readonly series: readonly StoredSeries[] }
  | { readonly type: "scalar"; readonly value: number }
  | { readonly type: "string"; readonly value: string };

/** A value with what is to be told about it. */
export interface QueryResult {
  readonly value: QueryValue;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

/** A query that has been read: whoever asks it often, or for its selectors too, reads it once. */
export interface ParsedQuery {
  readonly text: string;
  readonly expression: Expression;
}

/** Reads a query. Throws ParseError. */
export function parseQuery(text: string): ParsedQuery {
  return { text, expression: parseExpression(text) };
}

const DOCUMENTED = { string: "string", matrix: "range vector" } as const;

/** Evaluates a query at a moment. Throws ParseError and QueryError. */
export function queryInstant(query: string | ParsedQuery, timeMs: number, options: QueryOptions): QueryResult {
  return finish(evaluateInstant(query, timeMs, options));
}

/** The same in slices: others may go on in between. */
export function* evaluateInstant(query: string | ParsedQuery, timeMs: number, options: QueryOptions): Evaluating<QueryResult> {
  const { text, expression } = parsed(query);
  const context = contextOf(new Steps(timeMs, timeMs, 1), false, options);
  return resultOf(text, yield* instantValue(expression, new Evaluator(context.steps, context)), context);
}

/** The steps of a range query. Throws QueryError where they are too many, or none. */
export function rangeSteps(startMs: number, endMs: number, stepMs: number): Steps {
  if (!(stepMs > 0)) throw new QueryError("zero or negative query resolution step widths are not accepted. Try a positive integer");
  if (endMs < startMs) throw new QueryError("end timestamp must not be before start time");
  const steps = new Steps(startMs, endMs, stepMs);
  if (steps.count <= PROMQL_STEPS_MAX) return steps;
  throw new QueryError(
    `exceeded maximum resolution of ${PROMQL_STEPS_MAX.toLocaleString("en-US")} points per timeseries. Try decreasing the query resolution (?step=XX)`,
  );
}

/** Evaluates a query at each step of a range, in slices: others may go on in between. Throws ParseError and QueryError. */
export function* evaluateRange(query: string | ParsedQuery, steps: Steps, options: QueryOptions): Evaluating<QueryResult> {
  const { text, expression } = parsed(query);
  const type = typeOf(expression);
  if (type === "string" || type === "matrix") {
    throw new QueryError(`invalid expression type "${DOCUMENTED[type]}" for range query, must be Scalar or instant Vector`);
  }
  const context = contextOf(steps, true, options);
  const evaluator = new Evaluator(steps, context);
  const series =
    type === "scalar" ? [scalarSeries(yield* evaluator.scalars(expression))] : (yield* evaluator.series(expression)).filter(hasValues);
  series.sort((a, b) => Labels.compare(a.labels, b.labels));
  const sampled = new SampledSteps(steps);
  return resultOf(text, { type: "matrix", series: series.map((one) => sampled.samplesOf(one)) }, context);
}

function parsed(query: string | ParsedQuery): ParsedQuery {
  return typeof query === "string" ? parseQuery(query) : query;
}

function contextOf(steps: Steps, isRange: boolean, { storage, budget, lookbackMs, subqueryStepMs }: QueryOptions): QueryContext {
  return {
    storage,
    budget,
    annotations: new Annotations(),
    steps,
    isRange,
    lookbackMs: lookbackMs ?? PROMQL_LOOKBACK_MS,
    subqueryStepMs: subqueryStepMs ?? PROMQL_SUBQUERY_STEP_MS,
  };
}

function resultOf(query: string, value: QueryValue, { annotations }: QueryContext): QueryResult {
  return { value, warnings: annotations.warnings(query), infos: annotations.infos(query) };
}

function* instantValue(expression: Expression, evaluator: Evaluator): Evaluating<QueryValue> {
  const bare = withoutParens(expression);
  if (bare.kind === "string") return { type: "string", value: bare.value };
  const type = typeOf(bare);
  if (type === "scalar") return { type, value: (yield* evaluator.scalars(bare))[0] as number };
  if (type === "matrix") return { type, series: yield* rangeOf(bare, evaluator) };
  const samples = (yield* evaluator.series(bare)).filter(hasValues);
  return { type: "vector", samples: samples.map(({ labels, values }) => ({ labels, value: values[0] as number })) };
}

/** The samples themselves of a range at the top of a query. */
function* rangeOf(expression: Expression, evaluator: Evaluator): Evaluating<StoredSeries[]> {
  const { series } = yield* evaluator.ranges(expression);
  return (yield* collect(series)).filter(({ timesMs }) => timesMs.length > 0).sort((a, b) => Labels.compare(a.labels, b.labels));
}

function scalarSeries(values: Float64Array): StepSeries {
  return { labels: NO_LABELS, values, present: new Uint8Array(values.length).fill(1) };
}

/** Makes samples of series: those that have values at the same steps have one array of times. */
class SampledSteps {
  readonly #steps: Steps;
  #present: Uint8Array = new Uint8Array(0);
  #timesMs = new Float64Array(0);

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  samplesOf({ labels, values, present }: StepSeries): StoredSeries {
    if (!isSame(present, this.#present)) this.#setPresent(present);
    const timesMs = this.#timesMs;
    if (timesMs.length === present.length) return { labels, timesMs, values };
    const samples = { labels, timesMs, values: new Float64Array(timesMs.length) };
    for (let step = 0, to = 0; step < present.length; step++) if (present[step] === 1) samples.values[to++] = values[step] as number;
    return samples;
  }

  #setPresent(present: Uint8Array): void {
    this.#present = present;
    const there = [...present.keys()].filter((step) => present[step] === 1);
    this.#timesMs = Float64Array.from(there, (step) => this.#steps.timeMs(step));
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
