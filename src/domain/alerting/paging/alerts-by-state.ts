// Alerts by what they are now: the firing ones of each tenant, those of them that may hold others back, and the resolved ones.
import { mayInhibit } from "../inhibition/built-in-inhibitions.ts";
import { type Alert, isFiring } from "./alert.ts";

type TenantAlerts = Map<string, Map<string, Alert>>;

export class AlertsByState {
  readonly #firing: TenantAlerts = new Map();
  readonly #inhibiting: TenantAlerts = new Map();
  /** The longest resolved first. */
  readonly #resolved = new Set<string>();

  get firingCount(): number {
    let count = 0;
    for (const alerts of this.#firing.values()) count += alerts.size;
    return count;
  }

  /** Tenants with firing alerts. */
  get tenants(): readonly string[] {
    return [...this.#firing.keys()];
  }

  firing(tenant: string): Iterable<Alert> {
    return this.#firing.get(tenant)?.values() ?? [];
  }

  inhibitors(tenant: string): Iterable<Alert> {
    return this.#inhibiting.get(tenant)?.values() ?? [];
  }

  /** Takes an alert as it is now. */
  put(alert: Alert): void {
    const { id, key } = alert.state;
    if (!isFiring(alert)) {
      this.remove(key.tenant, id);
      this.#resolved.add(id);
      return;
    }
    this.#resolved.delete(id);
    put(this.#firing, alert);
    if (mayInhibit(alert)) put(this.#inhibiting, alert);
    else remove(this.#inhibiting, key.tenant, id);
  }

  remove(tenant: string, id: string): void {
    this.#resolved.delete(id);
    remove(this.#firing, tenant, id);
    remove(this.#inhibiting, tenant, id);
  }

  /** The alert that was resolved longest ago, where there are more than `most` of them. */
  longestResolved(most: number): string | undefined {
    if (this.#resolved.size <= most) return undefined;
    for (const longest of this.#resolved) return longest;
    return undefined;
  }
}

function put(alerts: TenantAlerts, alert: Alert): void {
  const { id, key } = alert.state;
  const of = alerts.get(key.tenant) ?? new Map<string, Alert>();
  alerts.set(key.tenant, of.set(id, alert));
}

function remove(alerts: TenantAlerts, tenant: string, id: string): void {
  const of = alerts.get(tenant);
  of?.delete(id);
  if (of?.size === 0) alerts.delete(tenant);
}
