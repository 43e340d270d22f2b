// Answers to query and query_range.
import { invalid } from "../../api/prometheus/form-parameters.ts";
import { PrometheusError, type Remarks } from "../../api/prometheus/prometheus-envelope.ts";
import { resultBody } from "../../api/prometheus/query-result.ts";
import type { Evaluating } from "../../domain/promql/evaluation/sliced-evaluation.ts";
import type { Steps } from "../../domain/promql/evaluation/steps.ts";
import {
  evaluateInstant,
  evaluateRange,
  type ParsedQuery,
  parseQuery,
  type QueryOptions,
  type QueryResult,
  type QueryValue,
  rangeSteps,
} from "../../domain/promql/query-engine.ts";
import { QueryError } from "../../domain/promql/query-error.ts";
import type { CallAnswer, CallContext } from "./query-call.ts";
import { matchersOf, selectStreams } from "./selected-streams.ts";
import { StoredSeriesStorage } from "./stored-series.ts";

/** Names of metrics that a warning has. */
const METRICS_NAMED_MAX = 5;

/** The value of an expression at a moment. */
export async function answerQuery(context: CallContext): Promise<CallAnswer> {
  const { parameters } = context;
  const { limit } = parameters;
  const timeMs = parameters.time("time", context.wallMs());
  const query = parseQuery(parameters.text("query"));
  return evaluated(context, query, timeMs, limit, (options) => evaluateInstant(query, timeMs, options));
}

/** The values of an expression over a range. */
export async function answerQueryRange(context: CallContext): Promise<CallAnswer> {
  const { parameters } = context;
  const { limit } = parameters;
  const startMs = parameters.neededTime("start");
  const endMs = parameters.neededTime("end");
  if (endMs < startMs) throw invalid("end", "end timestamp must not be before start time");
  const stepMs = parameters.neededDuration("step");
  if (stepMs <= 0) throw invalid("step", "zero or negative query resolution step widths are not accepted. Try a positive integer");
  const steps = stepsOf(startMs, endMs, stepMs);
  const query = parseQuery(parameters.text("query"));
  return evaluated(context, query, endMs, limit, (options) => evaluateRange(query, steps, options));
}

function stepsOf(startMs: number, endMs: number, stepMs: number): Steps {
  try {
    return rangeSteps(startMs, endMs, stepMs);
  } catch (error) {
    if (error instanceof QueryError) throw new PrometheusError("bad_data", error.message);
    throw error;
  }
}

async function evaluated(
  context: CallContext,
  query: ParsedQuery,
  timeMs: number,
  limit: number,
  evaluate: (options: QueryOptions) => Evaluating<QueryResult>,
): Promise<CallAnswer> {
  const { call, parameters, budget, reader, scheduler, monotonicMs } = context;
  const { lookbackMs } = parameters;
  const startMs = monotonicMs();
  const summed = new Set<string>();
  const averaged = new Set<string>();
  const streams = await selectStreams(context, matchersOf(query), budget);
  const preparedMs = monotonicMs();
  const storage = new StoredSeriesStorage({
    reader,
    budget,
    streams,
    summed: (name) => void summed.add(name),
    averaged: (name) => void averaged.add(name),
  });
  const evaluating = evaluate({ storage, budget, ...(lookbackMs !== undefined && { lookbackMs }) });
  const result = await scheduler.run(call, budget, evaluating);
  const stats = parameters.text("stats") === "" ? undefined : statsOf(context, preparedMs - startMs, monotonicMs() - preparedMs);
  const cut = limited(result.value, limit);
  const warnings = [
    ...result.warnings,
    ...sumWarnings(summed),
    ...meanWarnings(averaged),
    ...(cut === result.value ? [] : ["results truncated due to limit"]),
  ];
  const remarks: Remarks = { warnings, infos: result.infos };
  return { status: 200, body: resultBody(cut, timeMs, remarks, stats) };
}

function limited(value: QueryValue, limit: number): QueryValue {
  if (value.type === "vector" && value.samples.length > limit) return { ...value, samples: value.samples.slice(0, limit) };
  if (value.type === "matrix" && value.series.length > limit) return { ...value, series: value.series.slice(0, limit) };
  return value;
}

function meanWarnings(names: ReadonlySet<string>): string[] {
  if (names.size === 0) return [];
  return [`samples past RETENTION_RAW_DAYS are gone: means of hours stand for them (${namesText(names)})`];
}

function namesText(names: ReadonlySet<string>): string {
  return [...names].slice(0, METRICS_NAMED_MAX).join(", ");
}

function sumWarnings(names: ReadonlySet<string>): string[] {
  if (names.size === 0) return [];
  const counters = namesText(names);
  return [`values of an older version are sums of what counters rose by: they say nothing of where counting began (${counters})`];
}

/** Seconds of the parts of a query, and the samples that it read. */
function statsOf({ call, budget }: CallContext, preparedMs: number, evaluatedMs: number) {
  const [queued, prepared, inner] = [call.waitedMs / 1_000, preparedMs / 1_000, evaluatedMs / 1_000];
  return {
    timings: {
      evalTotalTime: prepared + inner,
      resultSortTime: 0,
      queryPreparationTime: prepared,
      innerEvalTime: inner,
      execQueueTime: queued,
      execTotalTime: queued + prepared + inner,
    },
    samples: { totalQueryableSamples: budget.samples, peakSamples: budget.samples },
  };
}
