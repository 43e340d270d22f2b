/**
 * Puts the chunks of one body together. What has come waits in pooled pieces that fit it, so memory grows by what came and not by what was announced; the whole
 * is copied into one buffer when it is handed over, in the turn in which its last chunk came.
 */
import type { BodyPool } from "./body-pool.ts";
import type { BodyAccount } from "./body-shares.ts";
import { BODY_BUFFER_BYTES_MIN, BODY_PIECE_BYTES_MAX } from "./http-limits.ts";
import type { BodyReceiver, RefusalCode } from "./http-server.ts";

/** Outcome for a chunk. */
export type AppendOutcome = "taken" | "too-long" | "no-memory";

/** The refusal of a body that was not taken: status, code, message. */
export function bodyRefusal(outcome: Exclude<AppendOutcome, "taken">, maxBytes: number): readonly [number, RefusalCode, string] {
  return outcome === "too-long"
    ? [413, "body_too_large", `the body is longer than ${maxBytes} bytes; send smaller requests`]
    : [503, "overloaded", "too many bodies of this sender are on their way; send fewer at once, or smaller ones"];
}

export interface BodyCollectorOptions {
  readonly maxBytes: number;
  readonly onBody: BodyReceiver;
  /** The first bytes are counted too: of adapters whose connections carry many bodies at once. */
  readonly countsFirst?: boolean;
}

/** One body being collected; ends with `deliver` or `discard`, both of which give its memory back. */
export class BodyCollector {
  readonly #pool: BodyPool;
  readonly #account: BodyAccount;
  readonly maxBytes: number;
  readonly #onBody: BodyReceiver;
  readonly #countsFirst: boolean;
  /** Pieces that are full, in order; most bodies have none. */
  #full: Buffer[] | undefined;
  /** The piece that is being filled. */
  #last: Buffer | undefined;
  #length = 0;
  /** Bytes that the last piece has room for. */
  #freeBytes = 0;

  constructor(
    { maxBytes, onBody, countsFirst = false }: BodyCollectorOptions,
    { pool, account }: { pool: BodyPool; account: BodyAccount },
  ) {
    this.#pool = pool;
    this.#account = account;
    this.maxBytes = maxBytes;
    this.#onBody = onBody;
    this.#countsFirst = countsFirst;
  }

  /** Bytes that have come. */
  get length(): number {
    return this.#length;
  }

  /** Copies a chunk. `isLast`: the body is handed over in this turn, so its memory is not counted. */
  append(chunk: Uint8Array, isLast: boolean): AppendOutcome {
    if (this.#length + chunk.length > this.maxBytes) return "too-long";
    for (let at = 0; at < chunk.length; ) {
      if (this.#freeBytes === 0 && !this.#grow(chunk.length - at, isLast)) return "no-memory";
      at += this.#fill(at === 0 && chunk.length <= this.#freeBytes ? chunk : chunk.subarray(at, at + this.#freeBytes));
    }
    return "taken";
  }

  /** Hands the body over and takes its memory back, also when the receiver throws. */
  deliver(): void {
    const joined = this.#full === undefined ? undefined : this.#joined([...this.#full, this.#last as Buffer]);
    const whole = joined ?? this.#last;
    try {
      this.#onBody(whole === undefined ? Buffer.alloc(0) : whole.subarray(0, this.#length));
    } finally {
      if (joined !== undefined) this.#pool.release(joined);
      this.discard();
    }
  }

  /** Gives its memory back. */
  discard(): void {
    this.#release();
    this.#length = 0;
    this.#freeBytes = 0;
  }

  #fill(bytes: Uint8Array): number {
    const piece = this.#last as Buffer;
    piece.set(bytes, piece.length - this.#freeBytes);
    this.#freeBytes -= bytes.length;
    this.#length += bytes.length;
    return bytes.length;
  }

  /** Adds a piece: for all of the rest where that is the last, else one that the rest fills, or of an eighth of what has come. */
  #grow(rest: number, isLast: boolean): boolean {
    const isFree = isLast || (this.#length === 0 && rest <= BODY_BUFFER_BYTES_MIN && !this.#countsFirst);
    const bytes = isLast ? rest : Math.min(BODY_PIECE_BYTES_MAX, powerBelow(Math.max(rest, this.#length / 8, BODY_BUFFER_BYTES_MIN)));
    if (!isFree && !this.#account.take(bytes)) return false;
    if (this.#last !== undefined) {
      this.#full ??= [];
      this.#full.push(this.#last);
    }
    this.#last = this.#pool.acquire(bytes);
    this.#freeBytes = this.#last.length;
    return true;
  }

  /** All pieces in one buffer; they are given back before it is handed over. */
  #joined(pieces: readonly Buffer[]): Buffer {
    const whole = this.#pool.acquire(this.#length);
    let at = 0;
    for (const piece of pieces) {
      whole.set(at + piece.length <= this.#length ? piece : piece.subarray(0, this.#length - at), at);
      at += piece.length;
    }
    this.#release();
    return whole;
  }

  #release(): void {
    for (const piece of this.#full ?? []) this.#pool.release(piece);
    if (this.#last !== undefined) this.#pool.release(this.#last);
    this.#full = undefined;
    this.#last = undefined;
    this.#account.end();
  }
}

/** The largest power of two that is no larger. */
function powerBelow(bytes: number): number {
  return 2 ** Math.floor(Math.log2(bytes));
}
