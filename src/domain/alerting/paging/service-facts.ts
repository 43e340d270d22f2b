// What the last cycle's arrivals say of services, for the pipeline to a page: which are not mature yet, and how many requests those have had of which that
// matters. Engines tell it anew each cycle, from streams whose first times their checkpoints hold: a restart loses nothing.
import { ARRIVAL_SERVICES_MAX } from "../../../core/config/limits.ts";
import { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import type { ArrivalsFound } from "../../../core/protocol/arrivals.ts";
import { serviceKey } from "../../series/stream-identity.ts";

export class ServiceFacts {
  readonly #tenants: () => number;
  #firstSeenMs = new Map<string, number>();
  #requests = new Map<string, number>();

  /** `tenants` says how many there are. */
  constructor(tenants: () => number) {
    this.#tenants = tenants;
  }

  /** Puts the findings of a whole pass in the place of those before. */
  replace(found: Iterable<Pick<ArrivalsFound, "young" | "requests">>): void {
    const [firstSeenMs, requests] = [new Map<string, number>(), new Map<string, number>()];
    const [young, counted] = [this.#places(), this.#places()];
    for (const slice of found) {
      for (const [service, atMs] of slice.young) if (young.take(tenantOf(service))) firstSeenMs.set(service, atMs);
      for (const [service, environment, count] of slice.requests)
        if (counted.take(tenantOf(service))) requests.set(scopeKey(service, environment), count);
    }
    [this.#firstSeenMs, this.#requests] = [firstSeenMs, requests];
  }

  /** Each pass is told all of it again, so its places are its own. */
  #places(): ShareLedger {
    return new ShareLedger({ most: ARRIVAL_SERVICES_MAX, tenants: this.#tenants });
  }

  /** When a service that is not mature was first heard of; undefined for all others. */
  firstSeenMs(tenant: string, serviceId: string): number | undefined {
    return this.#firstSeenMs.get(serviceKey(tenant, serviceId));
  }

  /** Requests in the last cycle; undefined where none are counted, or no minimum is set. */
  requestsInCycle(tenant: string, environment: string, serviceId: string): number | undefined {
    return this.#requests.get(scopeKey(serviceKey(tenant, serviceId), environment));
  }
}

function tenantOf(service: string): string {
  const [tenant] = JSON.parse(service) as [string];
  return tenant;
}

function scopeKey(service: string, environment: string): string {
  return `${environment}\0${service}`;
}
