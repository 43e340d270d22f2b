// Questions that what was acknowledged before them has to come before, in the order in which they came.
import type { EngineReply, LogMarkQuery, StreamQuery } from "../../../core/protocol/engine-control.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import type { StreamReturns } from "../cold/stream-returns.ts";
import type { Outbox } from "../report/outbox.ts";
import type { AnswerScan, SeriesQueries } from "./series-queries.ts";

export type DelayedQuery = StreamQuery | LogMarkQuery;

export interface DelayedQueriesDependencies {
  readonly returns: StreamReturns;
  readonly outbox: Outbox;
  readonly queries: SeriesQueries;
  readonly reply: (reply: EngineReply) => void;
  readonly monotonicMs: () => number;
}

/** For slices of answers between two units of work, 0.6 ms each at most: a question that takes more waits for that many units. */
const SLICES_MS_MAX = 1.5;
const SLICES_MAX = 64;

/** The questions of one engine. */
export class DelayedQueries {
  readonly #dependencies: DelayedQueriesDependencies;
  /** With the end of the rows that each waits for. */
  readonly #waiting: Array<{ readonly query: DelayedQuery; readonly partition: number; readonly end: number }> = [];

  /** Answers on their way; each has a step in turn. */
  readonly #scans: AnswerScan[] = [];

  constructor(dependencies: DelayedQueriesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Rows that were acknowledged may wait for a stream: a question about their service waits for them. */
  add(query: DelayedQuery): void {
    const partition = query.type === "series-data" ? partitionOf(query.tenant, query.serviceId) : 0;
    const end = query.type === "series-data" ? this.#dependencies.returns.end(partition) : 0;
    this.#waiting.push({ query, partition, end });
  }

  /** Does some slices of those whose turn it is; false when there was none. */
  answerSome(isCarryingStreams: boolean): boolean {
    const { monotonicMs } = this.#dependencies;
    const endMs = monotonicMs() + SLICES_MS_MAX;
    let slices = 0;
    while (slices < SLICES_MAX && (slices === 0 || monotonicMs() < endMs) && this.#answerOne(isCarryingStreams)) slices++;
    return slices > 0;
  }

  /** Answers one whose turn it is, or does a step of it. Streams on their way to the store are found there once the checkpoint that carries them is written. */
  #answerOne(isCarryingStreams: boolean): boolean {
    if (this.#waiting.length + this.#scans.length === 0 || isCarryingStreams) return false;
    const { outbox, returns, queries, reply } = this.#dependencies;
    // First what left this engine for the store: whoever asks looks there for what the answer no longer holds. A full ring has them wait.
    outbox.flush();
    if (outbox.isCarrying) return false;
    const at = this.#waiting.findIndex(({ partition, end }) => returns.hasReached(partition, end));
    const [found] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (found?.query.type === "log-mark") reply(found.query);
    else return this.#step(found === undefined ? this.#scans.shift() : queries.answer(found.query));
    return true;
  }

  #step(scan: AnswerScan | undefined): boolean {
    const step = scan?.next();
    if (step?.done) this.#dependencies.reply(step.value);
    else if (scan !== undefined) this.#scans.push(scan);
    return scan !== undefined;
  }
}
