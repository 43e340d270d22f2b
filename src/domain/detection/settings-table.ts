// Which settings of the Watchdog have been set for whom: of a tenant, a service, or one metric of a service. What nobody has set is the environment's.
import { setMember } from "../../core/collections/own-member.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import {
  effectiveSettings,
  type ScopedOverrides,
  type SettingsScope,
  type WatchdogOverrides,
  type WatchdogSettings,
} from "./watchdog-settings.ts";

/** Where the effective value of a setting comes from. */
export type SettingSource = "environment" | "tenant" | "service" | "metric";

/** One tenant's: by service, "" for all, and there by metric, "" for all. */
type TenantOverrides = Map<string, Map<string, WatchdogOverrides>>;

/** All overrides of a server over the settings of its environment. */
export class SettingsTable {
  readonly initial: WatchdogSettings;
  /** Who holds how many places. */
  readonly shares: ShareLedger;
  readonly #tenants = new Map<string, TenantOverrides>();

  constructor(initial: WatchdogSettings, shares = ShareLedger.alone()) {
    this.initial = initial;
    this.shares = shares;
  }

  /** Places with overrides, of all tenants. */
  get size(): number {
    return this.shares.taken;
  }

  sizeOf(tenant: string): number {
    return this.shares.used(tenant);
  }

  /** Overrides that are set at a place itself. */
  at({ tenant, serviceId, metricName }: SettingsScope): WatchdogOverrides | undefined {
    return this.#tenants
      .get(tenant)
      ?.get(serviceId ?? "")
      ?.get(metricName ?? "");
  }

  /** Sets all of a place anew; nothing is set there any more where `overrides` is undefined or empty. */
  put(scope: SettingsScope, overrides: WatchdogOverrides | undefined): void {
    const { tenant, serviceId, metricName } = scope;
    const before = this.at(scope) === undefined ? 0 : 1;
    const after = overrides === undefined || Object.keys(overrides).length === 0 ? 0 : 1;
    if (before + after === 0) return;
    const services: TenantOverrides = this.#tenants.get(tenant) ?? new Map();
    const metrics = services.get(serviceId ?? "") ?? new Map<string, WatchdogOverrides>();
    if (after === 1) metrics.set(metricName ?? "", overrides as WatchdogOverrides);
    else metrics.delete(metricName ?? "");
    if (metrics.size > 0) services.set(serviceId ?? "", metrics);
    else services.delete(serviceId ?? "");
    if (services.size > 0) this.#tenants.set(tenant, services);
    else this.#tenants.delete(tenant);
    this.shares.add(tenant, after - before);
  }

  /** The settings in force for a metric of a service; what is said about both is empty where they are not named. */
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings {
    const services = this.#tenants.get(tenant);
    if (services === undefined) return this.initial;
    const own = services.get(serviceId);
    return effectiveSettings(
      this.initial,
      services.get("")?.get(""),
      serviceId === "" ? undefined : own?.get(""),
      metricName === "" ? undefined : own?.get(metricName),
    );
  }

  /** Where each setting in force for a place comes from. */
  sourcesOf({ tenant, serviceId, metricName }: SettingsScope): Record<keyof WatchdogSettings, SettingSource> {
    const sources = Object.fromEntries(Object.keys(this.initial).map((name) => [name, "environment"])) as Record<string, SettingSource>;
    const mark = (source: SettingSource, scope: SettingsScope) => {
      for (const name of Object.keys(this.at(scope) ?? {})) setMember(sources, name, source);
    };
    mark("tenant", { tenant, serviceId: null, metricName: null });
    if (serviceId !== null) mark("service", { tenant, serviceId, metricName: null });
    if (serviceId !== null && metricName !== null) mark("metric", { tenant, serviceId, metricName });
    return sources as Record<keyof WatchdogSettings, SettingSource>;
  }

  /** Whether anything is set for the tenant or a part of it. */
  hasTenant(tenant: string): boolean {
    return this.#tenants.has(tenant);
  }

  /** Whether metrics of the service may have other settings than the service itself. */
  hasMetrics(tenant: string, serviceId: string): boolean {
    const metrics = this.#tenants.get(tenant)?.get(serviceId);
    return metrics !== undefined && metrics.size > (metrics.has("") ? 1 : 0);
  }

  /** All that is set for a tenant, by service and then by metric; what is for all of them first. */
  listOf(tenant: string): ScopedOverrides[] {
    return [...this.#list(tenant)].sort(compareScopes);
  }

  /** All that is set, in no order. */
  *all(): Generator<ScopedOverrides> {
    for (const tenant of this.#tenants.keys()) yield* this.#list(tenant);
  }

  *#list(tenant: string): Generator<ScopedOverrides> {
    for (const [service, metrics] of this.#tenants.get(tenant) ?? [])
      for (const [metric, overrides] of metrics)
        yield { tenant, serviceId: service === "" ? null : service, metricName: metric === "" ? null : metric, overrides };
  }
}

/** Order of lists within a tenant. */
function compareScopes(a: Omit<SettingsScope, "tenant">, b: Omit<SettingsScope, "tenant">): number {
  return compareTexts(a.serviceId ?? "", b.serviceId ?? "") || compareTexts(a.metricName ?? "", b.metricName ?? "");
}
