// Questions of query workers about the streams of a tenant: which there are by their labels, and what engines hold of them that is in no stored block.
import type { StreamName } from "./coordinator-frame.ts";

/** A condition on a label, as a selector of PromQL has it. */
export interface LabelCondition {
  readonly name: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

/** Position of a walk over an engine's streams: behind the streams of this service up to a number of their hashes. */
export interface StreamCursor {
  readonly serviceId: string;
  readonly after: number;
}

/** Asks for a page of the streams that fulfil conditions, service by service. */
export interface StreamPageQuery {
  readonly type: "stream-page";
  readonly id: number;
  readonly tenant: string;
  /** The one service to be looked at; null for all. */
  readonly serviceId: string | null;
  readonly conditions: readonly LabelCondition[];
  /** Whether their values are wanted too. */
  readonly withValues: boolean;
  readonly after: StreamCursor | null;
  /** Streams of the page; a few more may come. */
  readonly limit: number;
}

/** A stream of a page. */
export interface PagedStream extends StreamName {
  /** What named its service, as SR_SERVICE_LABEL has it. */
  readonly serviceLabel: number;
  readonly isCounter: boolean;
  /** Null where it is not known. */
  readonly firstTimeMs: number | null;
  readonly lastTimeMs: number | null;
}

/** Chunks that are in no stored block, each with the index of its stream, in order of time for each stream. */
export interface WaitingChunks {
  readonly owners: readonly number[];
  readonly chunks: readonly Uint8Array[];
}

/** A page of streams, column by column. */
export interface StreamPageAnswer {
  readonly type: "stream-page";
  readonly id: number;
  /** JSON arrays of PagedStream. */
  readonly rows: readonly string[];
  /** Identity hashes, 16 bytes a stream. */
  readonly streamIds: Uint8Array;
  /** Chunks of each stream, and behind them what is in none yet as one more; empty where no values are wanted. */
  readonly waiting: WaitingChunks;
  /** Where the next page begins; null behind the last. */
  readonly next: StreamCursor | null;
}

/** Asks for the chunks of streams of one partition, in memory or not, that are in no stored block. */
export interface WaitingChunksQuery {
  readonly type: "waiting-chunks";
  readonly id: number;
  readonly partition: number;
  /** Identity hashes, 16 bytes a stream. */
  readonly streamIds: Uint8Array;
}

/** The chunks that were asked for. */
export interface WaitingChunksAnswer extends WaitingChunks {
  readonly type: "waiting-chunks";
  readonly id: number;
}
