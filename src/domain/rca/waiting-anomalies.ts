// Anomalies that are to have an analysis of their own and for which there is no room yet: in the order in which they came, a bounded number of each tenant. One
// that waits too long is dropped, as nothing of its beginning is in memory any more.
import type { IncidentAnomaly } from "./incident-joins.ts";

interface WaitingAnomaly {
  readonly anomaly: IncidentAnomaly;
  readonly sinceMs: number;
}

export class WaitingAnomalies {
  readonly #mostPerTenant: number;
  readonly #waitMsMax: number;
  readonly #byTenant = new Map<string, WaitingAnomaly[]>();

  constructor(mostPerTenant: number, waitMsMax: number) {
    this.#mostPerTenant = mostPerTenant;
    this.#waitMsMax = waitMsMax;
  }

  /** False where as many of its tenant wait as may. */
  add(anomaly: IncidentAnomaly, nowMs: number): boolean {
    const ofTenant = this.#byTenant.get(anomaly.tenant) ?? [];
    if (ofTenant.length >= this.#mostPerTenant) return false;
    ofTenant.push({ anomaly, sinceMs: nowMs });
    this.#byTenant.set(anomaly.tenant, ofTenant);
    return true;
  }

  /** Hands over those of each tenant, the oldest first, up to the first that is not taken; returns how many were dropped. */
  handOver(isTaken: (anomaly: IncidentAnomaly) => boolean, nowMs: number): number {
    let dropped = 0;
    for (const [tenant, ofTenant] of this.#byTenant) {
      const lasting = ofTenant.filter(({ sinceMs }) => nowMs - sinceMs < this.#waitMsMax);
      dropped += ofTenant.length - lasting.length;
      const first = lasting.findIndex(({ anomaly }) => !isTaken(anomaly));
      if (first < 0) this.#byTenant.delete(tenant);
      else this.#byTenant.set(tenant, lasting.slice(first));
    }
    return dropped;
  }
}
