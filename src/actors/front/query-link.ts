// Typed calls to the coordinator and their answers. At most QUERIES_WAITING_MAX wait; the caller answers 503 beyond.
import { QUERIES_WAITING_MAX } from "../../core/config/limits.ts";
import type { CoordinatorCommand, QueryAnswer, QueryCall } from "../../core/protocol/query.ts";

type OnQueryAnswer = (status: number, body: string) => void;

/** The front's end of the coordinator. */
export class QueryLink {
  readonly #send: (command: CoordinatorCommand) => void;
  readonly #waiting = new Map<number, OnQueryAnswer>();
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
    this.#waiting.set(id, onAnswer);
    this.#send({ type: "query", id, ...call });
    return true;
  }

  answer(answer: QueryAnswer): void {
    const onAnswer = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    onAnswer?.(answer.status, answer.body);
  }
}
