// Questions of query workers about the streams of a tenant: which there are, which came and went since, and what engines hold of some that is in no stored block.
import type { StreamName } from "./coordinator-frame.ts";

/** Position of a scan over an engine's streams: behind the streams of this service up to a number of their hashes. */
export interface StreamCursor {
  readonly serviceId: string;
  readonly after: number;
}

/** Asks for a page of the streams in an engine's memory, service by service. */
export interface StreamPageQuery {
  readonly type: "stream-page";
  readonly id: number;
  readonly tenant: string;
  readonly after: StreamCursor | null;
  /** Streams of the page; a few more may come. */
  readonly limit: number;
}

export interface PagedStream extends StreamName {
  /** What named its service, as SR_SERVICE_LABEL has it. */
  readonly serviceLabel: number;
  /** Null where it is not known. */
  readonly firstTimeMs: number | null;
  readonly lastTimeMs: number | null;
}

/** Names of streams as text that engines make in slices, beside their hashes. */
export interface NamedStreams {
  /** JSON arrays of PagedStream. */
  readonly rows: readonly string[];
  /** Identity hashes, 16 bytes a stream. */
  readonly streamIds: Uint8Array;
}

/** A page: streams of some services, in the order of the scan. */
export interface StreamPageAnswer extends NamedStreams {
  readonly type: "stream-page";
  readonly id: number;
  /** Where the next page begins; null behind the last. */
  readonly next: StreamCursor | null;
}

/** Asks which streams of a tenant came into an engine's memory and left it since a number of changes. */
export interface StreamChangesQuery {
  readonly type: "stream-changes";
  readonly id: number;
  readonly tenant: string;
  /** Null for whoever is about to read all streams page by page: of these the answer has none. */
  readonly after: number | null;
}

/** What has changed, each stream once, as it is now. */
export interface StreamChangesAnswer extends NamedStreams {
  readonly type: "stream-changes";
  readonly id: number;
  /** Identity hashes of streams that have left memory for the store, and the first and last time of each in ms, 0 where it is not known. */
  readonly leftIds: Uint8Array;
  readonly leftTimes: Float64Array;
  /** Identity hashes of streams that the store has dropped, of any tenant. */
  readonly forgottenIds: Uint8Array;
  /** What to ask behind next; null where changes since have been lost, so that all streams have to be read. */
  readonly next: number | null;
}

/** Asks what is known of streams now, and for their chunks that are in no stored block; they may have left memory. */
export interface StreamValuesQuery {
  readonly type: "stream-values";
  readonly id: number;
  readonly tenant: string;
  /** Identity hashes, 16 bytes a stream; those of a partition one behind the other. */
  readonly streamIds: Uint8Array;
  readonly partitions: Uint8Array;
  readonly withChunks: boolean;
}

/** Chunks one behind the other: each is of the stream with the index in `owners`, and ends before `ends`. */
export interface PackedChunks {
  readonly owners: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Of a stream of an answer: it is in memory. */
export const VALUES_IN_MEMORY = 1;
/** It is a counter, as it is now. */
export const VALUES_COUNTER = 2;

/** What is known of streams, in the order of the question. */
export interface StreamValuesAnswer {
  readonly type: "stream-values";
  readonly id: number;
  readonly flags: Uint8Array;
  /** First and last time of each in ms; 0 where it is not known, or the stream is not in memory. */
  readonly times: Float64Array;
  /** Chunks that wait for a block, in order of time for each stream, and behind them what is in none yet as one more. */
  readonly chunks: PackedChunks;
}
