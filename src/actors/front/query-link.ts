// Typed calls to the coordinator and their answers. At most QUERIES_WAITING_MAX wait; the caller answers 503 beyond.
import { BACKTEST_ANSWER_MS_MAX } from "../../core/config/backtest-limits.ts";
import { QUERIES_WAITING_MAX } from "../../core/config/limits.ts";
import type { CoordinatorCommand, QueryAnswer, QueryCall } from "../../core/protocol/query.ts";

type OnQueryAnswer = (status: number, body: string) => void;

/** The longest query reads some 100,000 samples in under a second; engines are given 5 s. */
const ANSWER_MS_MAX = 15_000;

/** Of endpoints that are given more time. */
const ANSWER_MS_MAX_OF: Readonly<Record<string, number>> = { backtest: BACKTEST_ANSWER_MS_MAX };

function lateAnswer(ms: number): Pick<QueryAnswer, "status" | "body"> {
  const message = `the coordinator did not answer within ${ms / 1000} s; try again shortly`;
  return { status: 503, body: JSON.stringify({ status: "error", error: "overloaded", message }) };
}

/** The front's end of the coordinator. */
export class QueryLink {
  readonly #send: (command: CoordinatorCommand) => void;
  readonly #waiting = new Map<number, { onAnswer: OnQueryAnswer; timer: NodeJS.Timeout }>();
  #next = 1;

  constructor(send: (command: CoordinatorCommand) => void) {
    this.#send = send;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Sends a call; false when too many wait. */
  call(call: Omit<QueryCall, "type" | "id">, onAnswer: OnQueryAnswer): boolean {
    if (this.#waiting.size >= QUERIES_WAITING_MAX) return false;
    const id = this.#next++;
    const ms = ANSWER_MS_MAX_OF[call.endpoint] ?? ANSWER_MS_MAX;
    this.#waiting.set(id, { onAnswer, timer: setTimeout(() => this.answer({ type: "answer", id, ...lateAnswer(ms) }), ms) });
    this.#send({ type: "query", id, ...call });
    return true;
  }

  answer(answer: QueryAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    this.#waiting.delete(answer.id);
    clearTimeout(waiting.timer);
    waiting.onAnswer(answer.status, answer.body);
  }
}
