// Places of a limit that all engines of the process share, counted in its words: all that are taken, those within the shares of their tenants, and those of each tenant.
import { availableFor, shareOf } from "../../core/fairness/share-ledger.ts";

/** Where the counts stand, in bytes; that of tenant i at `tenants` + 4 * i. */
export interface ProcessPlacesLayout {
  readonly taken: number;
  readonly within: number;
  readonly tenants: number;
}

/** The places of one limit; `most` is the limit's. */
export class ProcessPlaces {
  readonly #slots: Int32Array;
  readonly #layout: ProcessPlacesLayout;

  constructor(slots: Int32Array, layout: ProcessPlacesLayout) {
    this.#slots = slots;
    this.#layout = layout;
  }

  /** Takes a place for a tenant where its share, or what others leave of theirs, has room; of so many tenants that are known. */
  take(tenant: number, most: number, tenants: number): boolean {
    const [taken, within] = [this.#load(this.#layout.taken), this.#load(this.#layout.within)];
    const used = this.#load(this.#layout.tenants + 4 * tenant);
    if (availableFor(used, { most, share: shareOf(most), tenants, taken, within }) < 1 || !this.restore(most)) return false;
    this.claim(tenant, most);
    return true;
  }

  /** Takes a place whose tenant is not known yet, unless there are `most`. */
  restore(most: number): boolean {
    const word = this.#layout.taken >> 2;
    if (Atomics.add(this.#slots, word, 1) < most) return true;
    Atomics.sub(this.#slots, word, 1);
    return false;
  }

  /** Counts a place that is taken already as the tenant's. */
  claim(tenant: number, most: number): void {
    const before = Atomics.add(this.#slots, (this.#layout.tenants >> 2) + tenant, 1);
    if (before < shareOf(most)) Atomics.add(this.#slots, this.#layout.within >> 2, 1);
  }

  /** Gives a place back; undefined for one whose tenant was never known. */
  give(tenant: number | undefined, most: number): void {
    Atomics.sub(this.#slots, this.#layout.taken >> 2, 1);
    if (tenant === undefined) return;
    const before = Atomics.sub(this.#slots, (this.#layout.tenants >> 2) + tenant, 1);
    if (before <= shareOf(most)) Atomics.sub(this.#slots, this.#layout.within >> 2, 1);
  }

  #load(at: number): number {
    return Atomics.load(this.#slots, at >> 2);
  }
}
