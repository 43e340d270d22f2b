// Questions that what was acknowledged before them has to come before; tenants take turns.
import { FairQueue } from "../../../core/fairness/fair-queue.ts";
import type { EngineReply, LogMarkQuery, StreamQuery } from "../../../core/protocol/engine-control.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import type { StreamReturns } from "../cold/stream-returns.ts";
import type { Outbox } from "../report/outbox.ts";
import type { AnswerScan, SeriesQueries } from "./series-queries.ts";

export type DelayedQuery = StreamQuery | LogMarkQuery;

export interface DelayedQueriesDependencies {
  readonly returns: Pick<StreamReturns, "end" | "hasReached">;
  readonly outbox: Pick<Outbox, "flush" | "isCarrying">;
  readonly queries: Pick<SeriesQueries, "answer">;
  readonly reply: (reply: EngineReply) => void;
  readonly monotonicMs: () => number;
}

/** For slices of answers between two units of work, 0.6 ms each at most. */
const SLICES_MS_MAX = 1.5;
const SLICES_MAX = 64;
/** Slices that leave their answer unfinished: a question that takes more waits for that many units. */
const UNFINISHED_SLICES_MAX = 3;

type SliceOutcome = "none" | "goes on" | "done";

interface Waiting {
  readonly query: DelayedQuery;
  readonly partition: number;
  readonly end: number;
}

/** The questions of one engine. */
export class DelayedQueries {
  readonly #dependencies: DelayedQueriesDependencies;
  /** With the end of the rows that each waits for. */
  readonly #waiting: Waiting[] = [];

  /** Answers on their way, by question: tenants have a step in turn, and of a tenant each of its answers. */
  readonly #scans = new FairQueue<AnswerScan>();

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
    let [slices, unfinished] = [0, 0];
    while (slices < SLICES_MAX && unfinished < UNFINISHED_SLICES_MAX && (slices === 0 || monotonicMs() < endMs)) {
      const outcome = this.#answerOne(isCarryingStreams);
      if (outcome === "none") break;
      slices++;
      if (outcome === "goes on") unfinished++;
    }
    return slices > 0;
  }

  /** Does a step of the answer whose turn it is. Streams on their way to the store are found there once the checkpoint that carries them is written. */
  #answerOne(isCarryingStreams: boolean): SliceOutcome {
    if (this.#waiting.length + this.#scans.size === 0 || isCarryingStreams) return "none";
    const { outbox, reply } = this.#dependencies;
    // First what left this engine for the store: whoever asks looks there for what the answer no longer holds. A full ring has them wait.
    outbox.flush();
    if (outbox.isCarrying) return "none";
    if (this.#waiting.length > 0 && this.#begin()) return "done";
    const next = this.#scans.take();
    if (next === undefined) return "none";
    const step = next.item.next();
    if (step.done) reply(step.value);
    else this.#scans.put(next.tenant, next.key, next.item);
    return step.done ? "done" : "goes on";
  }

  /** Begins the answers of those that wait no longer; true where one of them was the log's mark, which is an answer by itself. */
  #begin(): boolean {
    const { returns, queries, reply } = this.#dependencies;
    for (let at = 0; at < this.#waiting.length; ) {
      const { query, partition, end } = this.#waiting[at] as Waiting;
      if (!returns.hasReached(partition, end)) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      if (query.type === "log-mark") {
        reply(query);
        return true;
      }
      this.#scans.put(query.tenant, String(query.id), queries.answer(query));
    }
    return false;
  }
}
