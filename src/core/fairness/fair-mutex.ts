// Work of which one runs at a time on a server, such as a backtest: whoever else wants some waits, tenants take turns, and each may have a few waiting.

import { FairQueue } from "./fair-queue.ts";
import { ShareLedger } from "./share-ledger.ts";

/** Why work was not done: too much of its tenant waits already, or its turn came too late. */
export type MutexRefusal = "full" | "late";

export interface FairMutexOptions {
  /** Number of turns of one tenant, that which runs included. */
  readonly perTenantMax: number;
  readonly waitMsMax: number;
  /** Who holds how many places, of those that run or wait. */
  readonly shares?: ShareLedger;
}

export class FairMutex {
  readonly #options: FairMutexOptions;
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<() => void>();
  readonly #shares: ShareLedger;
  #isRunning = false;
  #next = 0;

  constructor(options: FairMutexOptions, nowMs: () => number) {
    this.#options = options;
    this.#shares = options.shares ?? ShareLedger.alone();
    this.#nowMs = nowMs;
  }

  /** Does the work once it is its tenant's turn. */
  async run<T>(tenant: string, work: () => Promise<T>): Promise<T | MutexRefusal> {
    if (this.#shares.used(tenant) >= this.#options.perTenantMax || !this.#shares.take(tenant)) return "full";
    const sinceMs = this.#nowMs();
    return this.#inOrder(tenant, async () => (this.#nowMs() - sinceMs > this.#options.waitMsMax ? "late" : await work()));
  }

  /** The same for what the server itself has to do: it is never refused, and counts as its tenant's. */
  runAnyway<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    this.#shares.add(tenant);
    return this.#inOrder(tenant, work);
  }

  async #inOrder<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    if (this.#isRunning) await new Promise<void>((go) => this.#queue.put(tenant, String(this.#next++), go));
    this.#isRunning = true;
    try {
      return await work();
    } finally {
      this.#leave(tenant);
    }
  }

  /** The next goes on with the place of this one. */
  #leave(tenant: string): void {
    this.#shares.give(tenant);
    const next = this.#queue.take();
    if (next === undefined) this.#isRunning = false;
    else next.item();
  }
}
