// One call on its way through a query worker: its parameters, its budget, and what it is refused with.
import { CancelFlag } from "../../adapters/shared-memory/cancel-flag.ts";
import type { LmdbReader } from "../../adapters/storage/lmdb-reader.ts";
import type { FormParameters } from "../../api/prometheus/form-parameters.ts";
import {
  PROMETHEUS_STATUS,
  PrometheusError,
  type PrometheusErrorType,
  prometheusErrorBody,
} from "../../api/prometheus/prometheus-envelope.ts";
import { RULE_GROUP_MS_MAX } from "../../core/config/rule-limits.ts";
import type { MetricFacts, PromqlAnswer, PromqlCall } from "../../core/protocol/query-worker.ts";
import { PatternError } from "../../domain/promql/labels/pattern.ts";
import { ParseError } from "../../domain/promql/parser/position.ts";
import { QueryBudget } from "../../domain/promql/query-budget.ts";
import { QueryError } from "../../domain/promql/query-error.ts";
import type { QueryMemory } from "../../domain/promql/query-memory.ts";
import type { SliceScheduler } from "./slice-scheduler.ts";
import type { StreamSelector } from "./stream-selector.ts";

/** Bounds of every query, from the settings. */
export interface QueryOptions {
  readonly samplesMax: number;
  readonly memoryBytesMax: number;
  readonly timeoutMs: number;
  /** Queries that one worker evaluates at once. */
  readonly runningMax: number;
}

/** What answers are made with. */
export interface CallDependencies {
  readonly options: QueryOptions;
  readonly selector: StreamSelector;
  readonly reader: LmdbReader;
  readonly memory: QueryMemory;
  readonly scheduler: SliceScheduler;
  metadata(tenant: string): Promise<readonly MetricFacts[]>;
  wallMs(): number;
  monotonicMs(): number;
}

/** What an answer is made with, and the call that it is made for. */
export interface CallContext extends CallDependencies {
  readonly call: PromqlCall;
  readonly parameters: FormParameters;
  readonly budget: QueryBudget;
}

/** Status and complete body of an answer. */
export type CallAnswer = Pick<PromqlAnswer, "status" | "body">;

/** The coordinator or an engine does not answer now. */
export class SourceUnavailableError extends Error {
  override readonly name = "SourceUnavailableError";
}

/** The budget of a call: what the settings allow, and a shorter time where the call names one. It began when the call came. Queries of rules have times of their own. */
export function budgetOf(call: PromqlCall, parameters: FormParameters, { options, memory, monotonicMs }: CallDependencies): QueryBudget {
  const own = parameters.duration("timeout") ?? Number.POSITIVE_INFINITY;
  const most = call.work === undefined ? options.timeoutMs : RULE_GROUP_MS_MAX;
  const durationMsMax = Math.max(0, Math.min(own, most) - call.waitedMs);
  const canceled = new CancelFlag(call.cancel);
  const bounds = { samplesMax: options.samplesMax, bytesMax: options.memoryBytesMax, durationMsMax };
  return new QueryBudget(monotonicMs, bounds, () => canceled.isSet, memory);
}

/** The answer to what was thrown; undefined where that is a defect of this program. Time that the client itself has bounded is another thing than that of the settings. */
export function refusalOf(error: unknown, parameters: FormParameters | undefined, { timeoutMs }: QueryOptions): CallAnswer | undefined {
  if (error instanceof PrometheusError) return refusal(error.errorType, error.message);
  if (error instanceof ParseError || error instanceof PatternError)
    return refusal("bad_data", `invalid parameter "query": ${error.message}`);
  if (error instanceof SourceUnavailableError) return refusal("unavailable", error.message);
  if (!(error instanceof QueryError)) return undefined;
  const { kind, message } = error;
  if (kind === "timeout" && (parameters?.duration("timeout") ?? timeoutMs) >= timeoutMs) {
    return refusal("execution", `${message}: more than PROMQL_TIMEOUT_SECONDS=${timeoutMs / 1_000}`);
  }
  return refusal(kind === "timeout" || kind === "canceled" ? kind : "execution", message);
}

/** A refusal as Prometheus writes it. */
export function refusal(errorType: PrometheusErrorType, message: string): CallAnswer {
  return { status: PROMETHEUS_STATUS[errorType], body: new Uint8Array(Buffer.from(prometheusErrorBody(errorType, message))) };
}
