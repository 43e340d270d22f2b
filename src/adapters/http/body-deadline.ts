// Time that one body may take, on node: a limit for all of it, and a least rate, so that nobody holds memory by sending a byte now and then. uws has its own.
import type { Expiring } from "./deadline-sweep.ts";
import type { ServerContext } from "./server-context.ts";

/** The deadline of one body, which begins when it is made. */
export class BodyDeadline {
  readonly #context: Pick<ServerContext, "limits" | "sweep">;
  readonly #entry: Expiring;
  #leftMs: number;
  #windowMs = 0;
  /** Bytes that had come when the window began. */
  #seenBytes = 0;

  constructor(context: Pick<ServerContext, "limits" | "sweep">, entry: Expiring, wholeMs = context.limits.bodyTimeoutMs) {
    this.#context = context;
    this.#entry = entry;
    this.#leftMs = wholeMs;
    this.#next();
  }

  /** Whether all of its time is over. */
  get isOver(): boolean {
    return this.#leftMs <= 0;
  }

  /** To be asked when its entry expires: whether it goes on. `isAwaited`: whether it is up to the sender how much has come since the last time. */
  goesOn(receivedBytes: number, isAwaited: boolean): boolean {
    this.#leftMs -= this.#windowMs;
    const isSlow = isAwaited && receivedBytes - this.#seenBytes < this.#context.limits.bodyWindowBytesMin;
    if (isSlow || this.#leftMs <= 0) return false;
    this.#seenBytes = receivedBytes;
    this.#next();
    return true;
  }

  #next(): void {
    this.#windowMs = Math.min(this.#leftMs, this.#context.limits.bodyWindowMs);
    this.#context.sweep.add(this.#entry, this.#windowMs);
  }
}
