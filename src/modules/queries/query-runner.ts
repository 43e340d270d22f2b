// Takes queries: each has a place, its tenant's share of the coordinator's time and of the engines', and an answer.
// How long one turn of the coordinator's thread takes at a time, whatever worked in it: nobody else is served meanwhile.
// From a call to its answer: validation by the endpoint's schema, the handler by name, and what went wrong as a status.
import type { Clock } from "../../adapters/platform/clock.ts";
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import { bodySteps } from "../../api/body-parsing.ts";
import type { CoordinatorEndpoint } from "../../api/endpoints.ts";
import { endpointNamed, isPatientEndpoint } from "../../api/endpoints.ts";
import { refusalBody } from "../../api/error-answer.ts";
import { parseQuery } from "../../api/query-parsing.ts";
import { ERROR_STATUS, type Outcome, type Refusal, refused } from "../../api/refusal.ts";
import { answerFault, background, type Home, task } from "../../core/faults/guard.ts";
import type { CoordinatorMessage, QueryCall } from "../../core/protocol/query.ts";
import { errorFields } from "../../core/telemetry/log-event.ts";
import { jsonTextSteps } from "../../domain/codec/json-text.ts";
import { EngineAsks, EngineUnavailableError } from "../engines/engine-client.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { inSlices, Slices } from "../state/slices.ts";
import type { QueryContext, QueryHandlers, Using } from "./query-context.ts";
import { QueryScheduler, type QueryTicket, ShareOfTimeError } from "./query-scheduler.ts";

const NO_CONTENT = 204;

/** Members that every query uses, whatever its noun. */
type AnyContext = Using<"engines" | "pause" | "settle" | "yieldToLoop">;

export interface QueryRunnerDependencies<Context> extends Pick<Clock, "monotonicMs"> {
  readonly nouns: QueryHandlers<Context>;
  readonly context: Context;
  readonly counters: Pick<CoordinatorCounters, "add" | "turn">;
  emit(message: CoordinatorMessage): void;
}

/** A defect of an answer: whoever asked is answered 500. */
const QUERY: Home = { where: "request", name: "a query" };

export class QueryRunner<Context extends AnyContext> {
  readonly #dependencies: QueryRunnerDependencies<Context>;
  readonly #scheduler: QueryScheduler;
  readonly #asks = new EngineAsks();
  readonly #clock: LoopClock;

  constructor(dependencies: QueryRunnerDependencies<Context>) {
    const { monotonicMs, context, counters } = dependencies;
    const yieldToLoop = () => context.yieldToLoop();
    this.#dependencies = dependencies;
    this.#scheduler = new QueryScheduler({ monotonicMs, yieldToLoop });
    this.#clock = new LoopClock({ counters, monotonicMs, yieldToLoop });
  }

  /** Answers a call. A defect in one answer ends neither the coordinator nor the others' answers. */
  async answer(call: QueryCall): Promise<Answered> {
    const { nouns, context, counters, emit } = this.#dependencies;
    const { tenant } = call.principal;
    const places = context.state.shares.ledger("queries_running");
    if (!places.take(tenant)) {
      return refusalAnswer({ code: "overloaded", message: `${places.taken} queries are waiting already; try again` });
    }
    counters.add("queries", 1);
    const ticket = this.#scheduler.begin(tenant, !isPatientEndpoint(call.endpoint));
    try {
      this.#clock.begin();
      return await answerQuery(nouns, this.#shared(ticket), call, () => this.#resume(ticket, false));
    } catch (error) {
      answerFault(QUERY, error);
      const fields = { endpoint: call.endpoint, request_id: call.requestId, ...errorFields(error) };
      emit({ type: "log", level: "error", component: "queries", msg: "a query failed", fields });
      return refusalAnswer({
        code: "internal_error",
        message: "the server failed on this query; its log has the reason under this request_id",
      });
    } finally {
      this.#scheduler.end(ticket);
      places.give(tenant);
    }
  }

  async #resume(ticket: QueryTicket, yields: boolean): Promise<void> {
    await this.#scheduler.resume(ticket, yields);
    this.#clock.begin();
  }

  /** The context of one query: whatever it waits for, it goes on when its tenant has its turn. */
  #shared(ticket: QueryTicket): Context {
    const { context, monotonicMs } = this.#dependencies;
    const slices = new Slices({ monotonicMs, resume: () => this.#resume(ticket, true) });
    const goOn = async <T>(waits: Promise<T>): Promise<T> => {
      const value = await waits;
      await this.#resume(ticket, false);
      slices.restart();
      return value;
    };
    return {
      ...context,
      engines: context.engines.through((engine, ask) => goOn(this.#asks.one(engine, ticket.tenant, ask))),
      yieldToLoop: () => this.#resume(ticket, true),
      pause: slices.pause,
      settle: () => goOn(context.settle()),
    };
  }
}

interface LoopClockDependencies {
  readonly counters: { turn(seconds: number): void };
  monotonicMs(): number;
  /** Resolves after a turn of the event loop. */
  yieldToLoop(): Promise<void>;
}

/** Measures the turns in which queries and changes work. */
export class LoopClock {
  readonly #dependencies: LoopClockDependencies;
  #isRunning = false;

  constructor(dependencies: LoopClockDependencies) {
    this.#dependencies = dependencies;
  }

  /** Work begins or goes on in this turn; all of it is one measurement. */
  begin(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { counters, monotonicMs, yieldToLoop } = this.#dependencies;
    const startMs = monotonicMs();
    const ended = yieldToLoop().then(() => {
      this.#isRunning = false;
      counters.turn((monotonicMs() - startMs) / 1_000);
    });
    background(task("the measure of turns"), ended);
  }
}

/** Status and body of an answer. */
interface Answered {
  readonly status: number;
  readonly body: string;
}

/** The answer to a refusal; the front completes it with the request's id. */
function refusalAnswer(refusal: Refusal): Answered {
  return { status: ERROR_STATUS[refusal.code], body: refusalBody(refusal) };
}

/** Answers a call once its turn has come. Rejects only on a defect of this program. */
async function answerQuery<Context extends Pick<QueryContext, "pause" | "settle">>(
  handlers: QueryHandlers<Context>,
  context: Context,
  call: QueryCall,
  resume: () => Promise<void>,
): Promise<Answered> {
  if (!Object.hasOwn(handlers, call.endpoint)) throw new RangeError(`the coordinator does not answer ${call.endpoint}`);
  const outcome = await handle(handlers, context, call.endpoint as CoordinatorEndpoint, call, resume);
  if (!outcome.ok) return refusalAnswer(outcome.refusal);
  const { status: code = 200, value } = outcome;
  return { status: code, body: code === NO_CONTENT ? "" : await inSlices(jsonTextSteps(value), context.pause) };
}

async function handle<N extends CoordinatorEndpoint, Context extends Pick<QueryContext, "pause" | "settle">>(
  handlers: QueryHandlers<Context>,
  context: Context,
  endpoint: N,
  call: QueryCall,
  resume: () => Promise<void>,
): Promise<Outcome<unknown>> {
  const query = parseQuery(endpoint, call.query);
  if (!query.ok) return query;
  try {
    const body = await inSlices(bodySteps(endpoint, call.body), context.pause);
    if (!body.ok) return body;
    await resume();
    if (endpointNamed(endpoint).answersCommitted === true) await context.settle();
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
