// Declared limits of metrics that saturate (contract, section 2.10): of one service, or of every service of a tenant that emits the metric.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { SharedTable } from "../../core/fairness/shared-table.ts";
import type { SaturationLimit } from "../../core/protocol/saturation.ts";

/** What a declaration is known by in its tenant. */
export function limitId({ serviceId, metric }: Pick<SaturationLimit, "serviceId" | "metric">): string {
  return JSON.stringify([serviceId, metric]);
}

/** Declarations by tenant. The caller bounds their number. */
export class SaturationLimits extends SharedTable<SaturationLimit> {
  #version = 0;

  constructor(shares?: ShareLedger) {
    super(limitId, shares);
  }

  /** Another number than before whenever a declaration has changed. */
  get version(): number {
    return this.#version;
  }

  override put(limit: SaturationLimit): SaturationLimit | undefined {
    this.#version++;
    return super.put(limit);
  }

  override remove(tenant: string, id: string): SaturationLimit | undefined {
    const limit = super.remove(tenant, id);
    if (limit !== undefined) this.#version++;
    return limit;
  }

  /** The limit that holds for a service's metric: its own, else the tenant's. */
  limitFor(tenant: string, serviceId: string, metric: string): SaturationLimit | undefined {
    return this.find(tenant, limitId({ serviceId, metric })) ?? this.find(tenant, limitId({ serviceId: null, metric }));
  }

  /** All of a tenant by metric, the default ahead of those of services. */
  override of(tenant: string): SaturationLimit[] {
    return super.of(tenant).sort(compareLimits);
  }
}

/** Order of the list: metric, then the tenant-wide default, then by service. */
export function compareLimits(a: Pick<SaturationLimit, "metric" | "serviceId">, b: Pick<SaturationLimit, "metric" | "serviceId">): number {
  if (a.metric !== b.metric) return a.metric < b.metric ? -1 : 1;
  if (a.serviceId === b.serviceId) return 0;
  if (a.serviceId === null || b.serviceId === null) return a.serviceId === null ? -1 : 1;
  return a.serviceId < b.serviceId ? -1 : 1;
}
