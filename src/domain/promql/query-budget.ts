// What one query may take of its thread: samples read, bytes of values in memory at once, and time. It may be canceled from elsewhere between two series.
import { PROMQL_QUERY_BYTES_MAX, PROMQL_QUERY_MS_MAX, PROMQL_SAMPLES_MAX } from "../../core/config/promql-limits.ts";
import { QueryError } from "./query-error.ts";
import { QueryMemory } from "./query-memory.ts";

export interface QueryBounds {
  readonly samplesMax: number;
  readonly bytesMax: number;
  readonly durationMsMax: number;
}

const BOUNDS: QueryBounds = { samplesMax: PROMQL_SAMPLES_MAX, bytesMax: PROMQL_QUERY_BYTES_MAX, durationMsMax: PROMQL_QUERY_MS_MAX };

/** Counts what a query takes; each count throws QueryError once it is too much. */
export class QueryBudget {
  readonly #bounds: QueryBounds;
  readonly #nowMs: () => number;
  readonly #deadlineMs: number;
  readonly #isCanceledElsewhere: () => boolean;
  readonly #memory: QueryMemory;
  #isCanceled = false;
  #sliceEndMs = Number.POSITIVE_INFINITY;
  #idleMs = 0;
  #samples = 0;
  #bytes = 0;

  /** `nowMs` is a monotonic clock; `isCanceled` is asked whether somebody else has ended the query; `memory` is shared with others, where there are any. */
  constructor(nowMs: () => number, bounds: Partial<QueryBounds> = {}, isCanceled: () => boolean = () => false, memory?: QueryMemory) {
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#memory = memory ?? new QueryMemory(this.#bounds.bytesMax, 1);
    this.#nowMs = nowMs;
    this.#isCanceledElsewhere = isCanceled;
    this.#deadlineMs = nowMs() + this.#bounds.durationMsMax;
  }

  /** Samples that have been read. */
  get samples(): number {
    return this.#samples;
  }

  /** Bytes of values that are in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins a slice of so many ms, in which the query need not let others go on. */
  beginSlice(ms: number): void {
    this.#sliceEndMs = this.#nowMs() + ms;
  }

  /** Whether the slice at hand is over. */
  get isSliceOver(): boolean {
    return this.#nowMs() > this.#sliceEndMs;
  }

  /** Time in which other queries had the thread. */
  get idleMs(): number {
    return this.#idleMs;
  }

  /** Counts time in which other queries had the thread. */
  countIdle(ms: number): void {
    this.#idleMs += ms;
  }

  /** Ends the query at its next series. */
  cancel(): void {
    this.#isCanceled = true;
  }

  /** Why the query is to end now; undefined where it may go on. */
  get reasonToEnd(): QueryError | undefined {
    if (this.#isCanceled || this.#isCanceledElsewhere()) return new QueryError("query was canceled in expression evaluation", "canceled");
    if (this.#nowMs() > this.#deadlineMs) return new QueryError("query timed out in expression evaluation", "timeout");
    return undefined;
  }

  /** Asked once a series, and once a step where many series are looked at together. */
  check(): void {
    const reason = this.reasonToEnd;
    if (reason !== undefined) throw reason;
  }

  /** Counts samples of a series that is about to be evaluated. */
  countSamples(count: number): void {
    this.check();
    this.#samples += count;
    if (this.#samples <= this.#bounds.samplesMax) return;
    throw new QueryError(
      `query processing would load too many samples into memory in query execution: more than ${this.#bounds.samplesMax}`,
      "too_much",
    );
  }

  /** Counts bytes that are about to be taken. */
  reserve(bytes: number): void {
    this.#bytes += bytes;
    const isFree = this.#memory.change(bytes, this.#bytes);
    const { bytesMax } = this.#bounds;
    if (this.#bytes > bytesMax)
      throw new QueryError(`query processing would take too much memory: more than ${bytesMax} bytes`, "too_much");
    if (isFree) return;
    throw new QueryError(
      `query processing would take too much memory beside other queries: all together more than ${this.#memory.bytesMax} bytes`,
      "too_much",
    );
  }

  /** Sets the count back to what is left after a part of the query is evaluated; to nothing once it is answered. */
  settle(bytes: number): void {
    this.#memory.change(bytes - this.#bytes, bytes);
    this.#bytes = bytes;
  }
}
