// Places of a limit that tenants share, with who waits for one: each that becomes free goes to the next tenant in turn that may have it, so nobody races for it.

import { FairQueue } from "./fair-queue.ts";
import type { ShareLedger } from "./share-ledger.ts";

export class SlotQueue {
  readonly #shares: ShareLedger;
  readonly #waiting = new FairQueue<() => void>();

  /** `shares` is entered and left by this queue alone. */
  constructor(shares: ShareLedger) {
    this.#shares = shares;
  }

  /** Those that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a place if the tenant may have one now. */
  take(tenant: string): boolean {
    if (this.#shares.available(tenant) < 1) return false;
    this.#shares.add(tenant);
    return true;
  }

  /** Waits for a place, under a key of the tenant's own; `granted` is called with the place taken. */
  wait(tenant: string, key: string, granted: () => void): void {
    this.#waiting.put(tenant, key, granted);
  }

  /** Waits no more; false where it did not, or has its place already. */
  forget(tenant: string, key: string): boolean {
    return this.#waiting.remove(tenant, key);
  }

  /** Counts that the tenant was refused. */
  refuse(tenant: string): void {
    this.#shares.refuse(tenant);
  }

  /** Gives a place back; it, and what is free besides, goes to those that wait. */
  give(tenant: string): void {
    this.#shares.give(tenant);
    for (;;) {
      const next = this.#waiting.take((waiting) => this.#shares.available(waiting) >= 1);
      if (next === undefined) return;
      this.#shares.add(next.tenant);
      next.item();
    }
  }
}
