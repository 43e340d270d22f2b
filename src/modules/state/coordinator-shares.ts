// What tenants hold of the limits that they share in the coordinator.
import { COORDINATOR_LIMITS } from "../../core/config/shared-limits.ts";
import type { CoordinatorSharedLimit } from "../../core/layout/counters.ts";
import { TenantShares } from "../../domain/access/tenant-shares.ts";
import type { CoordinatorCounters } from "./coordinator-counters.ts";

export type CoordinatorShares = TenantShares<CoordinatorSharedLimit>;

export interface CoordinatorSharesOptions {
  /** Places, which a test may narrow. */
  readonly sharedLimits?: Partial<Readonly<Record<CoordinatorSharedLimit, number>>> | undefined;
  readonly counters?: Pick<CoordinatorCounters, "shareRefused">;
}

/** `tenants` says how many there are. */
export function makeCoordinatorShares({ sharedLimits, counters }: CoordinatorSharesOptions, tenants: () => number): CoordinatorShares {
  return new TenantShares(
    { ...COORDINATOR_LIMITS, ...sharedLimits },
    { tenants, refused: (limit, count) => counters?.shareRefused(limit, count) },
  );
}

/** Tells how many places are in use. */
export function countPlaces(shares: CoordinatorShares, counters: Pick<CoordinatorCounters, "placesTaken">): void {
  for (const [limit, { taken }] of shares.ledgers) counters.placesTaken(limit, taken);
}
