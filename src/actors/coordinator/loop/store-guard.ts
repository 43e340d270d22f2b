// Whether the store takes writes. A failed write turns the service read-only (the front answers 503 by the counter); what was to be written
// is kept and tried again with doubling pauses, and the first success turns it back. Beyond the limit of the disk the front refuses as well, but
// what was taken before is written: it is little, and checkpoints among it let the log go.
import { StoreError } from "../../../adapters/storage/key-value-store.ts";
import { STORE_RETRY_MS_FIRST, STORE_RETRY_MS_MAX } from "../../../core/config/limits.ts";
import type { CoordinatorCounters } from "../../../modules/state/coordinator-counters.ts";
import type { StoreRefusal } from "../../../modules/status/store-facts.ts";

export interface StoreGuardDependencies {
  readonly counters: CoordinatorCounters;
  log(level: "info" | "warn" | "error", line: string): void;
}

/** State of writing. */
export class StoreGuard {
  readonly #dependencies: StoreGuardDependencies;
  #pauseMs = 0;
  #retryAtMs = 0;
  #isOverLimit = false;
  #errorCode = "";

  constructor(dependencies: StoreGuardDependencies) {
    this.#dependencies = dependencies;
  }

  get isReadOnly(): boolean {
    return this.#pauseMs > 0;
  }

  /** Whether new writes are answered 503. */
  get refusesWrites(): boolean {
    return this.isReadOnly || this.#isOverLimit;
  }

  /** Why writes are refused; null while they are taken. */
  get reason(): StoreRefusal | null {
    if (this.isReadOnly) return { cause: "write_failed", errorCode: this.#errorCode };
    return this.#isOverLimit ? { cause: "disk_limit", errorCode: null } : null;
  }

  /** Monotonic time of the next attempt; undefined when writing works or the attempt is due. */
  pausedUntilMs(monotonicMs: number): number | undefined {
    return this.isReadOnly && monotonicMs < this.#retryAtMs ? this.#retryAtMs : undefined;
  }

  /** A write has failed. Throws what is no failure of the disk: then nothing that is known here can be trusted. */
  failed(error: unknown, monotonicMs: number): void {
    if (!(error instanceof StoreError) || error.code === "CLOSED") throw error;
    const { counters, log } = this.#dependencies;
    this.#errorCode = error.code;
    if (!this.isReadOnly) log("error", `the store does not take writes (${error.code}): read-only until it does; nothing is lost`);
    this.#pauseMs = Math.min(STORE_RETRY_MS_MAX, Math.max(STORE_RETRY_MS_FIRST, 2 * this.#pauseMs));
    this.#retryAtMs = monotonicMs + this.#pauseMs;
    counters.add("commitErrors", 1);
    this.#report();
  }

  /** A write has succeeded. */
  succeeded(): void {
    if (!this.isReadOnly) return;
    this.#pauseMs = 0;
    this.#report();
    this.#dependencies.log("info", "the store takes writes again");
  }

  /** Takes over whether the data folder holds more than it may. */
  limit(isOverLimit: boolean): void {
    if (isOverLimit === this.#isOverLimit) return;
    this.#isOverLimit = isOverLimit;
    this.#report();
    if (isOverLimit)
      this.#dependencies.log("error", "the data folder holds more than DISK_LIMIT_GIB: writes are refused until retention has made room");
    else this.#dependencies.log("info", "the data folder holds less than DISK_LIMIT_GIB: writes are taken again");
  }

  #report(): void {
    this.#dependencies.counters.set("storeReadOnly", this.refusesWrites ? 1 : 0);
  }
}
