// The indexes of all tenants that ask one worker. Together they are bounded: the tenant that has asked longest ago has its own made again.
import { PROMQL_INDEXED_SERIES_MAX } from "../../core/config/promql-limits.ts";
import type { SeriesIndex } from "../../domain/series-index/series-index.ts";
import { TenantIndex, type TenantIndexDependencies } from "./tenant-index.ts";

/** Indexes by tenant, in the order in which they were asked for last. */
export class TenantIndexes {
  readonly #dependencies: TenantIndexDependencies;
  readonly #byTenant = new Map<string, TenantIndex>();
  readonly #seriesMax: number;

  constructor(dependencies: TenantIndexDependencies, seriesMax = PROMQL_INDEXED_SERIES_MAX) {
    this.#dependencies = dependencies;
    this.#seriesMax = seriesMax;
  }

  /** A tenant's index with all that has come. */
  async fresh(tenant: string): Promise<SeriesIndex> {
    const known = this.#byTenant.get(tenant) ?? new TenantIndex(tenant, this.#dependencies);
    this.#byTenant.delete(tenant);
    this.#byTenant.set(tenant, known);
    const index = await known.fresh();
    this.#shrink();
    return index;
  }

  /** Series of all tenants, those that are gone but take room among them. */
  get size(): number {
    return [...this.#byTenant.values()].reduce((sum, { size }) => sum + size, 0);
  }

  #shrink(): void {
    for (const tenant of this.#byTenant.keys()) {
      if (this.#byTenant.size === 1 || this.size <= this.#seriesMax) return;
      this.#byTenant.delete(tenant);
    }
  }
}
