/** Every maximum and every time limit of the HTTP adapters, with its reason. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Bounds of one HTTP server; what an adapter cannot set is said with the field. */
export interface HttpLimits {
  /** Names and values of all headers together. */
  readonly headerBytesMax: number;
  readonly headerCountMax: number;
  /** From the first byte, or from the opening of the connection, to the end of the head. uws: fixed, 8 to 12 s. */
  readonly headerTimeoutMs: number;
  /** From collectBody to the last byte. uws closes without an answer, in 8 to 12 s, what falls below 16 KiB/s before that. */
  readonly bodyTimeoutMs: number;
  /** In each such time a body that is not whole must bring bodyWindowBytesMin, else 408. uws: the above. */
  readonly bodyWindowMs: number;
  readonly bodyWindowBytesMin: number;
  /** Time that a keep-alive connection may rest between requests. uws: fixed, 8 to 12 s. */
  readonly idleTimeoutMs: number;
  /** Time in which a reader may take nothing of an answer that waits for it. uws: fixed, 8 to 12 s. */
  readonly writeStallTimeoutMs: number;
  /** Time in which the rest of an unwanted body is read and dropped, so that the client can read the answer before the connection closes. */
  readonly lingerMs: number;
  readonly connectionsMax: number;
  /** Requests of one connection that may wait for the one before them; a client with more loses its connection. Node only. */
  readonly pipelinedMax: number;
  /** A longer answer is a programming error. */
  readonly answerBytesMax: number;
  /** Bytes of empty buffers kept for the next bodies. */
  readonly bodyBytesRetainedMax: number;
}

/** The bounds in production. */
const HTTP_LIMITS: HttpLimits = {
  headerBytesMax: 16 * KIB, // node's own default; a bearer token with claims is 2 KiB
  headerCountMax: 100, // the uws parser has room for 99
  headerTimeoutMs: 10_000, // what uws has built in
  bodyTimeoutMs: 30_000, // 16 MiB in 30 s is 4.5 Mbit/s, a bad uplink
  bodyWindowMs: 5_000,
  bodyWindowBytesMin: 80 * KIB, // 16 KiB/s, as uws has
  idleTimeoutMs: 65_000, // longer than the 60 s of common proxies, so that the proxy and not the server closes first
  writeStallTimeoutMs: 10_000, // what uws has built in
  lingerMs: 250, // 16 MiB over loopback takes 10 ms, a few round trips take 200
  connectionsMax: 10_240, // 10,000 clients and room for operators; about 10 KiB each without a request
  pipelinedMax: 64, // clients that pipeline at all send a handful
  answerBytesMax: 64 * MIB, // 1,000 rows of 64 KiB
  bodyBytesRetainedMax: 64 * MIB, // 4 of the largest kind
};

/** Smallest pooled buffer: most bodies are posts of single records. */
export const BODY_BUFFER_BYTES_MIN = 16 * KIB;

/** Largest piece in which a body waits until it is whole: an eighth of the largest body. */
export const BODY_PIECE_BYTES_MAX = 2 * MIB;

/**
 * Bytes of a held body after which the connection is read no more: what a kernel's buffer holds anyway. One piece more may come, uws reads up to
 * 512 KiB at a time.
 */
export const BUFFERED_BODY_BYTES_MAX = 64 * KIB;

/**
 * Bytes of last pieces of uws bodies that wait for the end of the turn, of which no share is taken: eight of the 512 KiB that uws reads at a time. What
 * ends beyond that is handed over at once.
 */
export const UWS_ENDING_BYTES_MAX = 4 * MIB;

/** Below this an uws answer goes out in one `end()`, which copies; above, from our buffer in steps as the reader takes it. */
export const UWS_WHOLE_ANSWER_BYTES_MAX = 64 * KIB;

/**
 * Piece of a stream given to uws at a time. A socket counts as writable when a third of its send buffer is free, at least 28 KiB, so with
 * pieces below that the part buffered inside uws, which cannot be asked for, never grows beyond one piece.
 */
export const UWS_STREAM_PIECE_BYTES = 16 * KIB;

/** The production bounds with some of them replaced. */
export function httpLimits(replaced: Partial<HttpLimits> | undefined): HttpLimits {
  return { ...HTTP_LIMITS, ...replaced };
}
