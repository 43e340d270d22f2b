// What tenants hold of the limits that they share in one engine.
import { engineSharedLimits, PAIRS_MAX_INITIAL, SHARE_REFUSALS_REPORTED_MAX } from "../../../core/config/shared-limits.ts";
import type { EngineSharedLimit } from "../../../core/layout/counters.ts";
import type { SharesAnswer, SharesQuery } from "../../../core/protocol/shares.ts";
import type { KnownTenants } from "../../../domain/access/known-tenants.ts";
import { TenantShares } from "../../../domain/access/tenant-shares.ts";
import type { EngineCounters } from "./engine-counters.ts";

export type EngineShares = TenantShares<EngineSharedLimit>;

interface EngineSharesOptions {
  readonly engines: number;
  /** WATCHDOG_PAIRS_MAX and WATCHDOG_SERVICES_MAX. */
  readonly pairsMax?: number;
  readonly servicesMax?: number;
  /** Places that a test may narrow. */
  readonly sharedLimits?: Partial<Readonly<Record<EngineSharedLimit, number>>>;
}

/** Shares of one of so many engines. */
export function makeEngineShares(
  { engines, pairsMax = PAIRS_MAX_INITIAL, servicesMax = 0, sharedLimits }: EngineSharesOptions,
  tenants: Pick<KnownTenants, "count">,
  counters: Pick<EngineCounters, "shareRefused">,
): EngineShares {
  return new TenantShares(
    { ...engineSharedLimits(engines, pairsMax, servicesMax), ...sharedLimits },
    {
      tenants: () => tenants.count,
      refused: (limit, count) => counters.shareRefused(limit, count),
    },
  );
}

/** The answer to the coordinator. */
export function sharesAnswer(shares: EngineShares, { id, tenant }: SharesQuery): SharesAnswer {
  return { type: "shares", id, rows: tenant === null ? shares.refusals(SHARE_REFUSALS_REPORTED_MAX) : shares.of(tenant) };
}
