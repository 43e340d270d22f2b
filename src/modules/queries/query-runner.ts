// Takes queries: each has a place, its tenant's share of the coordinator's time and of the engines', and an answer.
import type { Clock } from "../../adapters/platform/clock.ts";
import { answerFault, type Home } from "../../core/faults/guard.ts";
import type { CoordinatorMessage, QueryCall } from "../../core/protocol/query.ts";
import { errorFields } from "../../core/telemetry/log-event.ts";
import { EngineAsks } from "../engines/engine-asks.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { Slices } from "../state/slices.ts";
import { TurnClock } from "../state/turn-clock.ts";
import { type Answered, answerQuery, refusalAnswer } from "./answer-query.ts";
import type { QueryHandlers, Using } from "./query-context.ts";
import { type QueryTicket, QueryTurns } from "./query-turns.ts";

/** Members that every query uses, whatever its noun. */
type AnyContext = Using<"engines" | "pause" | "settle" | "yieldTurn">;

export interface QueryRunnerDependencies<Context> extends Pick<Clock, "monotonicMs"> {
  readonly nouns: QueryHandlers<Context>;
  readonly context: Context;
  readonly counters: Pick<CoordinatorCounters, "add" | "turn">;
  emit(message: CoordinatorMessage): void;
}

/** Queries that take long whoever else asks, and are bounded in another way. */
const PATIENT = new Set(["alertWebhook", "backtest", "importCatalog", "importConfiguration", "promoteModel", "setServiceMap"]);

/** A defect of an answer: whoever asked is answered 500. */
const QUERY: Home = { where: "request", name: "a query" };

export class QueryRunner<Context extends AnyContext> {
  readonly #dependencies: QueryRunnerDependencies<Context>;
  readonly #turns: QueryTurns;
  readonly #asks = new EngineAsks();
  readonly #clock: TurnClock;

  constructor(dependencies: QueryRunnerDependencies<Context>) {
    const { monotonicMs, context, counters } = dependencies;
    const yieldTurn = () => context.yieldTurn();
    this.#dependencies = dependencies;
    this.#turns = new QueryTurns({ monotonicMs, yieldTurn });
    this.#clock = new TurnClock({ counters, monotonicMs, yieldTurn });
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
    const ticket = this.#turns.begin(tenant, !PATIENT.has(call.endpoint));
    try {
      this.#clock.begin();
      return await answerQuery(nouns, this.#shared(ticket), call, () => this.#turn(ticket, false));
    } catch (error) {
      answerFault(QUERY, error);
      const fields = { endpoint: call.endpoint, request_id: call.requestId, ...errorFields(error) };
      emit({ type: "log", level: "error", component: "queries", msg: "a query failed", fields });
      return refusalAnswer({
        code: "internal_error",
        message: "the server failed on this query; its log has the reason under this request_id",
      });
    } finally {
      this.#turns.end(ticket);
      places.give(tenant);
    }
  }

  async #turn(ticket: QueryTicket, yields: boolean): Promise<void> {
    await this.#turns.turn(ticket, yields);
    this.#clock.begin();
  }

  /** The context of one query: whatever it waits for, it goes on when its tenant has its turn. */
  #shared(ticket: QueryTicket): Context {
    const { context, monotonicMs } = this.#dependencies;
    const slices = new Slices({ monotonicMs, turn: () => this.#turn(ticket, true) });
    const goOn = async <T>(waits: Promise<T>): Promise<T> => {
      const value = await waits;
      await this.#turn(ticket, false);
      slices.restart();
      return value;
    };
    return {
      ...context,
      engines: context.engines.through((engine, ask) => goOn(this.#asks.one(engine, ticket.tenant, ask))),
      yieldTurn: () => this.#turn(ticket, true),
      pause: slices.pause,
      settle: () => goOn(context.settle()),
    };
  }
}
