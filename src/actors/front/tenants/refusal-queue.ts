// Refusals of requests beyond a rate. The write of an answer is most of what a refusal costs, and whoever keeps to its rate must not stand behind a bunch of
// them. So they wait for the end of their turn of the event loop, and a few are answered a slice. Those of a tenant that is refused more than it is allowed are
// paced besides: a few at each tick of a timer, so that a sender that waits for its answers is slowed down by them (a tarpit), and one that does not gets them
// at an even rate. Memory: what waits is bounded, and beyond that the first is let go.
import type { Refusal } from "../../../api/refusal.ts";
import { BoundedQueue } from "../../../core/collections/bounded-queue.ts";
import {
  PACED_REFUSAL_WAIT_MS,
  PACED_REFUSALS_MAX,
  PACED_REFUSALS_PER_INTERVAL,
  REFUSAL_INTERVAL_MS,
  REFUSALS_PER_SLICE,
} from "../../../core/config/refusal-limits.ts";

/** A request that is to be refused. */
export interface RefusedRequest {
  refuse(refusal: Refusal): void;
}

/** The rate that a request is beyond. */
export interface Exceeded {
  readonly refusal: Refusal;
  isPrompt(nowMs: number): boolean;
}

export interface RefusalTimes {
  readonly monotonicMs: () => number;
  /** Runs its work once, behind everything that has come in by now and ahead of what comes later: setImmediate. */
  readonly immediate: (work: () => void) => void;
  /** Runs its work once, so many ms later or more: setTimeout. */
  readonly after: (work: () => void, ms: number) => void;
}

interface Waiting {
  readonly request: RefusedRequest;
  readonly refusal: Refusal;
}

/** The part of what waits that is answered in one go where more than the usual few wait: 1/16 a slice, and at a tick what makes PACED_REFUSAL_WAIT_MS. */
const PART_PER_SLICE = 1 / 16;
const PART_PER_INTERVAL = REFUSAL_INTERVAL_MS / PACED_REFUSAL_WAIT_MS;

/** First come, first refused: among those that are prompt, and among those that are paced. */
export class RefusalQueue {
  readonly #times: RefusalTimes;
  readonly #prompt: Waiting[] = [];
  readonly #paced = new BoundedQueue<Waiting>(PACED_REFUSALS_MAX);

  constructor(times: RefusalTimes) {
    this.#times = times;
  }

  /** Requests that are still to be answered. */
  get size(): number {
    return this.#prompt.length + this.#paced.length;
  }

  /** Those of them that are paced. */
  get paced(): number {
    return this.#paced.length;
  }

  put(request: RefusedRequest, exceeded: Exceeded): void {
    const waiting = { request, refusal: exceeded.refusal };
    if (exceeded.isPrompt(this.#times.monotonicMs())) this.#putPrompt(waiting);
    else this.#putPaced(waiting);
  }

  #putPrompt(waiting: Waiting): void {
    this.#prompt.push(waiting);
    if (this.#prompt.length === 1) this.#times.immediate(() => this.#answerPrompt());
  }

  #putPaced(waiting: Waiting): void {
    if (!this.#paced.put(waiting)) {
      this.#putPrompt(this.#paced.take() as Waiting);
      this.#paced.put(waiting);
    } else if (this.#paced.length === 1) this.#times.after(() => this.#answerPaced(), REFUSAL_INTERVAL_MS);
  }

  #answerPrompt(): void {
    const first = this.#prompt.splice(0, countOf(this.#prompt, REFUSALS_PER_SLICE, PART_PER_SLICE));
    if (this.#prompt.length > 0) this.#times.immediate(() => this.#answerPrompt());
    for (const { request, refusal } of first) request.refuse(refusal);
  }

  #answerPaced(): void {
    const count = countOf(this.#paced, PACED_REFUSALS_PER_INTERVAL, PART_PER_INTERVAL);
    const first = Array.from({ length: count }, () => this.#paced.take() as Waiting);
    if (this.#paced.length > 0) this.#times.after(() => this.#answerPaced(), REFUSAL_INTERVAL_MS);
    for (const { request, refusal } of first) request.refuse(refusal);
  }
}

/** Number of requests answered now: so many, or that part of all where this is more. */
function countOf({ length }: { readonly length: number }, count: number, part: number): number {
  return Math.min(length, Math.max(count, Math.ceil(length * part)));
}
