// From a call to its answer: validation by the endpoint's schema, the handler by name, and what went wrong as a status.
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import { bodySteps } from "../../api/body-parsing.ts";
import type { CoordinatorEndpoint } from "../../api/endpoints.ts";
import { refusalBody } from "../../api/error-answer.ts";
import { parseQuery } from "../../api/query-parsing.ts";
import { ERROR_STATUS, type Outcome, type Refusal, refused } from "../../api/refusal.ts";
import type { QueryCall } from "../../core/protocol/query.ts";
import { jsonTextSteps } from "../../domain/codec/json-text.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import { inSlices } from "../state/slices.ts";
import type { QueryContext, QueryHandlers } from "./query-context.ts";
import { ShareOfTimeError } from "./query-turns.ts";

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

/** Answers a call once its turn has come. Rejects only on a defect of this program. */
export async function answerQuery<Context extends Pick<QueryContext, "pause" | "settle">>(
  nouns: QueryHandlers<Context>,
  context: Context,
  call: QueryCall,
  turn: () => Promise<void>,
): Promise<Answered> {
  if (!Object.hasOwn(nouns.handlers, call.endpoint)) throw new RangeError(`the coordinator does not answer ${call.endpoint}`);
  const outcome = await handle(nouns, context, call.endpoint as CoordinatorEndpoint, call, turn);
  if (!outcome.ok) return refusalAnswer(outcome.refusal);
  const { status: code = 200, value } = outcome;
  return { status: code, body: code === NO_CONTENT ? "" : await inSlices(jsonTextSteps(value), context.pause) };
}

async function handle<N extends CoordinatorEndpoint, Context extends Pick<QueryContext, "pause" | "settle">>(
  { handlers, afterCommit }: QueryHandlers<Context>,
  context: Context,
  endpoint: N,
  call: QueryCall,
  turn: () => Promise<void>,
): Promise<Outcome<unknown>> {
  const query = parseQuery(endpoint, call.query);
  if (!query.ok) return query;
  try {
    const body = await inSlices(bodySteps(endpoint, call.body), context.pause);
    if (!body.ok) return body;
    await turn();
    if (afterCommit.has(endpoint)) await context.settle();
    const { principal, path, requestId, address = null, mediaType = null, ifMatch = null, shares = [] } = call;
    return await handlers[endpoint](context, {
      principal,
      requestId,
      address,
      path,
      query: query.value,
      body: body.value,
      mediaType,
      ifMatch,
      shares,
    });
  } catch (error) {
    if (error instanceof EngineUnavailableError) return refused("overloaded", `${error.message} in time; try again`);
    if (error instanceof ShareOfTimeError) return refused("overloaded", `${error.message} while others ask; try again shortly`);
    if (error instanceof StoreError) return refused("store_unavailable", `the store cannot be read now (${error.code}); try again`);
    throw error;
  }
}
