// From a call to its answer: validation by the endpoint's schema, the handler by name, and what went wrong as a status.
import { StoreError } from "../../../adapters/storage/key-value-store.ts";
import type { CoordinatorEndpoint } from "../../../api/endpoints.ts";
import { refusalBody } from "../../../api/error-answer.ts";
import { parseQuery } from "../../../api/query-parsing.ts";
import { ERROR_STATUS, type Outcome, type Refusal, refused } from "../../../api/refusal.ts";
import type { QueryCall } from "../../../core/protocol/query.ts";
import { EngineUnavailableError } from "../engine-client.ts";
import { listAnomalies, oneAnomaly } from "./anomalies.ts";
import { callGraph } from "./call-graph.ts";
import { correctDeadLetter, deleteDeadLetter, listDeadLetters, oneDeadLetter } from "./dlq/dead-letters.ts";
import { replayDeadLetters, replayJob } from "./dlq/dlq-replay.ts";
import { dlqStats } from "./dlq/dlq-stats.ts";
import type { QueryContext, QueryHandler } from "./query-context.ts";
import { listRecords } from "./records.ts";
import { listSeries } from "./series.ts";
import { seriesData } from "./series-data.ts";
import { status } from "./status.ts";

const HANDLERS: { readonly [N in CoordinatorEndpoint]: QueryHandler<N> } = {
  status,
  dlqStats,
  anomalies: listAnomalies,
  anomaly: oneAnomaly,
  series: listSeries,
  seriesData,
  records: listRecords,
  deadLetters: listDeadLetters,
  deadLetter: oneDeadLetter,
  correctDeadLetter,
  deleteDeadLetter,
  replayDeadLetters,
  replayJob,
  callGraph,
};

const DLQ = ["dlqStats", "deadLetters", "deadLetter", "correctDeadLetter", "deleteDeadLetter", "replayDeadLetters", "replayJob"] as const;
/** Answers that show what is stored: first what the engines have sent is committed, so that a sender finds what it was answered for. */
const AFTER_COMMIT: ReadonlySet<CoordinatorEndpoint> = new Set<CoordinatorEndpoint>([
  "anomalies",
  "anomaly",
  "records",
  "callGraph",
  ...DLQ,
]);

const NO_CONTENT = 204;

/** Status and body of an answer. */
export interface Answered {
  readonly status: number;
  readonly body: string;
}

/** The answer to a refusal; the front completes it with the request's id. */
export function refusalAnswer(refusal: Refusal): Answered {
  return { status: ERROR_STATUS[refusal.code], body: refusalBody(refusal) };
}

/** Answers a call. Rejects only on a defect of this program. */
export async function answerQuery(context: QueryContext, call: QueryCall): Promise<Answered> {
  if (!Object.hasOwn(HANDLERS, call.endpoint)) throw new RangeError(`the coordinator does not answer ${call.endpoint}`);
  const outcome = await handle(context, call.endpoint as CoordinatorEndpoint, call);
  if (!outcome.ok) return refusalAnswer(outcome.refusal);
  const { status: code = 200, value } = outcome;
  return { status: code, body: code === NO_CONTENT ? "" : JSON.stringify(value) };
}

async function handle<N extends CoordinatorEndpoint>(context: QueryContext, endpoint: N, call: QueryCall): Promise<Outcome<unknown>> {
  const query = parseQuery(endpoint, call.query);
  if (!query.ok) return query;
  try {
    if (AFTER_COMMIT.has(endpoint)) await context.settle();
    return await HANDLERS[endpoint](context, { principal: call.principal, path: call.path, query: query.value, body: call.body });
  } catch (error) {
    if (error instanceof EngineUnavailableError) return refused("overloaded", `${error.message} in time; try again`);
    if (error instanceof StoreError) return refused("store_unavailable", `the store cannot be read now (${error.code}); try again`);
    throw error;
  }
}
