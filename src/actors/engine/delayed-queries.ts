// Questions that what was acknowledged before them has to come before, in the order in which they came.
import type { EngineReply, LaneMarkQuery, StreamQuery } from "../../core/protocol/engine-control.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import type { StreamReturns } from "./cold/stream-returns.ts";
import type { Outbox } from "./outbox.ts";
import type { SeriesQueries } from "./series-queries.ts";

export type DelayedQuery = StreamQuery | LaneMarkQuery;

export interface DelayedQueriesDependencies {
  readonly returns: StreamReturns;
  readonly outbox: Outbox;
  readonly queries: SeriesQueries;
  readonly reply: (reply: EngineReply) => void;
}

/** The questions of one engine. */
export class DelayedQueries {
  readonly #dependencies: DelayedQueriesDependencies;
  /** With the end of the rows that each waits for. */
  readonly #waiting: Array<{ readonly query: DelayedQuery; readonly partition: number; readonly end: number }> = [];

  constructor(dependencies: DelayedQueriesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Rows that were acknowledged may wait for a stream: a question about their service waits for them. */
  add(query: DelayedQuery): void {
    const partition = query.type === "series-data" ? partitionOf(query.tenant, query.serviceId) : 0;
    const end = query.type === "series-data" ? this.#dependencies.returns.end(partition) : 0;
    this.#waiting.push({ query, partition, end });
  }

  /** Answers one whose turn it is. Streams on their way to the store are found there once the checkpoint that carries them is written. */
  answerOne(isCarryingStreams: boolean): boolean {
    if (this.#waiting.length === 0 || isCarryingStreams) return false;
    const { outbox, returns, queries, reply } = this.#dependencies;
    // First what left this engine for the store: whoever asks looks there for what the answer no longer holds. A full ring has them wait.
    outbox.flush();
    if (outbox.isCarrying) return false;
    const at = this.#waiting.findIndex(({ partition, end }) => returns.hasPassed(partition, end));
    if (at < 0) return false;
    const [found] = this.#waiting.splice(at, 1);
    if (found !== undefined) reply(found.query.type === "lane-mark" ? found.query : queries.answer(found.query));
    return true;
  }
}
