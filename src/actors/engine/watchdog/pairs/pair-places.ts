// Whose the long baselines are. Their limit is of the whole process and shared by tenants: what counts is counted in words of the process, by number of tenant;
// the ledger of this engine reports it.
import type { ProcessSlots } from "../../../../adapters/shared-memory/engine-memory.ts";
import type { ShareLedger } from "../../../../core/fairness/share-ledger.ts";

export interface PairPlacesDependencies {
  readonly processSlots: Pick<ProcessSlots, "takePair" | "restorePair" | "claimPair" | "returnPair">;
  readonly shares: ShareLedger;
  readonly tenantIndex: (tenant: string) => number;
  /** Tenants that are known. */
  readonly tenants: () => number;
}

/** Places of one engine's pairs. */
export class PairPlaces {
  readonly #most: number;
  readonly #dependencies: PairPlacesDependencies;
  /** By number of pair; undefined for one from the store whose stream has not been seen. */
  readonly #tenants: Array<string | undefined> = [];

  /** `most` are those of the process: WATCHDOG_PAIRS_MAX. */
  constructor(most: number, dependencies: PairPlacesDependencies) {
    this.#most = most;
    this.#dependencies = dependencies;
  }

  /** Counts a pair from the store, unless there are too many. */
  restore(): boolean {
    return this.#dependencies.processSlots.restorePair(this.#most);
  }

  /** Whether the tenant may have another pair, which is counted then. */
  take(tenant: string): boolean {
    const { processSlots, shares, tenantIndex, tenants } = this.#dependencies;
    if (processSlots.takePair(tenantIndex(tenant), this.#most, tenants())) return true;
    shares.refuse(tenant);
    return false;
  }

  /** The stream of a restored pair was seen. */
  claim(pair: number, tenant: string): void {
    const { processSlots, tenantIndex } = this.#dependencies;
    processSlots.claimPair(tenantIndex(tenant), this.#most);
    this.enter(pair, tenant);
  }

  /** Notes whose a pair is that was taken. */
  enter(pair: number, tenant: string): void {
    this.#tenants[pair] = tenant;
    this.#dependencies.shares.add(tenant);
  }

  give(pair: number): void {
    const { processSlots, shares, tenantIndex } = this.#dependencies;
    const tenant = this.#tenants[pair];
    this.#tenants[pair] = undefined;
    processSlots.returnPair(tenant === undefined ? undefined : tenantIndex(tenant), this.#most);
    if (tenant !== undefined) shares.give(tenant);
  }
}
