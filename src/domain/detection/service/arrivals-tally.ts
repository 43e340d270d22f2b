// What all engines have told about arrivals in one cycle, by tenant. In whichever order they tell it, the sums are the same.
import type { ArrivalsFound, SilentService } from "../../../core/protocol/arrivals.ts";
import type { KnownArrivals } from "./silent-tenants.ts";

interface TenantTally {
  watched: number;
  readonly silent: SilentService[];
  readonly pending: number[];
}

/** One cycle. */
export class ArrivalsTally {
  readonly #tenants = new Map<string, TenantTally>();
  /** Services with their environments, and the tenants that they are of. */
  readonly unheard = new Set<string>();
  readonly unheardTenants = new Set<string>();
  readonly gone = new Set<string>();
  readonly goneTenants = new Set<string>();
  /** Services that are silent for too long. */
  stale = 0;

  get tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  add({ silent, pending, unheard, gone, watched }: ArrivalsFound): void {
    for (const service of silent) {
      if (service.isStale) this.stale++;
      this.#of(tenantOf(service.service)).silent.push(service);
    }
    for (const [tenant, numbers] of Object.entries(pending)) {
      const all = this.#of(tenant).pending;
      for (const number of numbers) all.push(number);
    }
    for (const [tenant, count] of Object.entries(watched)) this.#of(tenant).watched += count;
    for (const [service, environment] of unheard) {
      this.unheard.add(`${environment}\0${service}`);
      this.unheardTenants.add(tenantOf(service));
    }
    for (const [service, environment] of gone) {
      this.gone.add(`${environment}\0${service}`);
      this.goneTenants.add(tenantOf(service));
    }
  }

  of(tenant: string): KnownArrivals {
    const { watched, silent, pending } = this.#of(tenant);
    return { watched, silent, pending, isUnheard: this.unheardTenants.has(tenant) };
  }

  #of(tenant: string): TenantTally {
    const known = this.#tenants.get(tenant) ?? { watched: 0, silent: [], pending: [] };
    this.#tenants.set(tenant, known);
    return known;
  }
}

function tenantOf(service: string): string {
  return (JSON.parse(service) as [string, string])[0];
}
