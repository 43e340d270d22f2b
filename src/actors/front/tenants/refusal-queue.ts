// Refusals of requests beyond a rate wait for the end of their turn of the event loop, and a few are answered a turn: the write of an answer is most of what a
// refusal costs, and whoever keeps to its rate must not stand behind a bunch of them. Each open request waits here at most once, so the adapter's limit of
// connections bounds the queue.
import type { Refusal } from "../../../api/refusal.ts";
import { REFUSALS_PER_TURN } from "../../../core/config/limits.ts";

/** A request that is to be refused. */
export interface RefusedRequest {
  refuse(refusal: Refusal): void;
}

interface Waiting {
  readonly request: RefusedRequest;
  readonly refusal: Refusal;
}

/** First come, first refused. */
export class RefusalQueue {
  readonly #endOfTurn: (work: () => void) => void;
  readonly #waiting: Waiting[] = [];

  /** `endOfTurn` runs its work once, behind everything that has come in by now and ahead of what comes later: setImmediate. */
  constructor(endOfTurn: (work: () => void) => void) {
    this.#endOfTurn = endOfTurn;
  }

  /** Requests that are still to be answered. */
  get size(): number {
    return this.#waiting.length;
  }

  put(request: RefusedRequest, refusal: Refusal): void {
    this.#waiting.push({ request, refusal });
    if (this.#waiting.length === 1) this.#endOfTurn(() => this.#answerSome());
  }

  #answerSome(): void {
    const first = this.#waiting.splice(0, REFUSALS_PER_TURN);
    if (this.#waiting.length > 0) this.#endOfTurn(() => this.#answerSome());
    for (const { request, refusal } of first) request.refuse(refusal);
  }
}
