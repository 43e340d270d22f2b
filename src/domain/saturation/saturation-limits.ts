// Declared limits of metrics that saturate (contract, section 2.10): of one service, or of every service of a tenant that emits the metric.

import { TenantTable } from "../../core/collections/tenant-table.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { SaturationLimit } from "../../core/protocol/saturation.ts";

const keyOf = (serviceId: string | null, metric: string) => JSON.stringify([serviceId, metric]);

/** Declarations by tenant. The caller bounds their number. */
export class SaturationLimits {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #limits = new TenantTable<SaturationLimit>(({ serviceId, metric }) => keyOf(serviceId, metric));
  #version = 0;

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  /** Another number than before whenever a declaration has changed. */
  get version(): number {
    return this.#version;
  }

  /** Over all tenants. */
  get size(): number {
    return this.shares.taken;
  }

  sizeOf(tenant: string): number {
    return this.#limits.sizeOf(tenant);
  }

  put(limit: SaturationLimit): void {
    this.#version++;
    if (this.#limits.put(limit) === undefined) this.shares.add(limit.tenant);
  }

  remove(tenant: string, serviceId: string | null, metric: string): void {
    if (this.#limits.remove(tenant, keyOf(serviceId, metric)) === undefined) return;
    this.shares.give(tenant);
    this.#version++;
  }

  /** The declaration itself. */
  find(tenant: string, serviceId: string | null, metric: string): SaturationLimit | undefined {
    return this.#limits.find(tenant, keyOf(serviceId, metric));
  }

  /** The limit that holds for a service's metric: its own, else the tenant's. */
  limitFor(tenant: string, serviceId: string, metric: string): SaturationLimit | undefined {
    return this.find(tenant, serviceId, metric) ?? this.find(tenant, null, metric);
  }

  /** All of all tenants, in no order. */
  all(): Iterable<SaturationLimit> {
    return this.#limits.all();
  }

  /** All of a tenant by metric, the default ahead of those of services. */
  listOf(tenant: string): SaturationLimit[] {
    return this.#limits.of(tenant).sort(compareLimits);
  }
}

/** Order of the list: metric, then the tenant-wide default, then by service. */
export function compareLimits(a: Pick<SaturationLimit, "metric" | "serviceId">, b: Pick<SaturationLimit, "metric" | "serviceId">): number {
  if (a.metric !== b.metric) return a.metric < b.metric ? -1 : 1;
  if (a.serviceId === b.serviceId) return 0;
  if (a.serviceId === null || b.serviceId === null) return a.serviceId === null ? -1 : 1;
  return a.serviceId < b.serviceId ? -1 : 1;
}
