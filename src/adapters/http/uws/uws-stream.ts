/**
 * A streaming answer on uws. `write` there never takes a part: what the kernel does not want is kept inside uws, invisible, and once
 * onWritable is set uws sends no more of it by itself. So after the first refusal the rest waits here, in pieces of 16 KiB, and each time
 * the socket becomes writable an empty cork() pushes what uws holds and the next pieces follow.
 */
import { connection, guardedOr } from "../../../core/faults/guard.ts";
import { UWS_STREAM_PIECE_BYTES } from "../http-limits.ts";
import type { HttpStream } from "../http-server.ts";
import type { UwsResponse } from "./uws-library.ts";

/** Members of its exchange that the stream needs. */
export interface UwsStreamOptions {
  /** Writes status and headers; called inside cork(). */
  writeHead(): void;
  /** The answer has no body whatever is written. */
  readonly bodiless: boolean;
  /** Runs a callback of the handler's. */
  guard(call: () => void): void;
}

/** The stream; `onEnd` is called when it has ended by itself. */
export class UwsStream implements HttpStream {
  readonly #options: UwsStreamOptions;
  readonly #response: UwsResponse;
  readonly #onEnd: () => void;
  readonly #home = connection("a stream over HTTP", () => {
    if (!this.#over) this.#response.close();
  });
  readonly #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  /** Size of the piece that uws kept, 0 when the socket takes everything. */
  #retainedBytes = 0;
  #headWritten = false;
  #writableAttached = false;
  #ending = false;
  #over = false;
  #drainCallback: (() => void) | undefined;
  #closeCallback: (() => void) | undefined;

  constructor(options: UwsStreamOptions, response: UwsResponse, onEnd: () => void) {
    this.#options = options;
    this.#response = response;
    this.#onEnd = onEnd;
  }

  get bufferedBytes(): number {
    return this.#pieceBytes + this.#retainedBytes;
  }

  write(chunk: Uint8Array): boolean {
    if (this.#over || this.#ending) return false;
    if (this.#options.bodiless) return true;
    for (let at = 0; at < chunk.length; at += UWS_STREAM_PIECE_BYTES) {
      this.#pieces.push(chunk.subarray(at, at + UWS_STREAM_PIECE_BYTES));
    }
    this.#pieceBytes += chunk.length;
    if (this.#retainedBytes === 0) this.#sendPieces();
    return this.bufferedBytes === 0;
  }

  onDrain(callback: () => void): void {
    this.#drainCallback = callback;
  }

  onClose(callback: () => void): void {
    this.#closeCallback = callback;
  }

  end(): void {
    if (this.#over || this.#ending) return;
    this.#ending = true;
    if (this.#pieces.length === 0) this.#complete();
  }

  /** Tells the stream that the client is gone. */
  closed(): void {
    if (this.#over) return;
    this.#over = true;
    this.#clear();
    this.#closeCallback?.();
  }

  #sendPieces(): void {
    let sent = 0;
    for (const piece of this.#pieces) {
      sent++;
      this.#pieceBytes -= piece.length;
      if (!this.#sendPiece(piece)) break;
    }
    this.#pieces.splice(0, sent);
  }

  #sendPiece(piece: Uint8Array): boolean {
    let taken = false;
    this.#response.cork(() => {
      this.#writeHeadOnce();
      taken = this.#response.write(piece);
    });
    if (taken) return true;
    this.#retainedBytes = piece.length;
    if (!this.#writableAttached) this.#response.onWritable(guardedOr(this.#home, true, () => this.#onWritable()));
    this.#writableAttached = true;
    return false;
  }

  #onWritable(): boolean {
    this.#response.cork(() => {}); // pushes what uws has kept
    this.#retainedBytes = 0;
    this.#sendPieces();
    if (this.bufferedBytes > 0) return true;
    if (this.#ending) this.#complete();
    else if (this.#drainCallback !== undefined) this.#options.guard(this.#drainCallback);
    return true;
  }

  #writeHeadOnce(): void {
    if (this.#headWritten) return;
    this.#headWritten = true;
    this.#options.writeHead();
  }

  #complete(): void {
    this.#over = true;
    this.#response.cork(() => {
      this.#writeHeadOnce();
      if (this.#options.bodiless) this.#response.endWithoutBody();
      else this.#response.end("", false);
    });
    this.#clear();
    this.#onEnd();
  }

  #clear(): void {
    this.#pieces.length = 0;
    this.#pieceBytes = 0;
    this.#retainedBytes = 0;
  }
}
