// The Watchdog's settings as one engine knows them, and the threshold profile of each of its streams that follows from them. A new stream is given its
// profile when it is made; when settings change, the streams that they are for are walked, in slices between bodies.
import { PROFILE_SLOTS_PER_STEP } from "../../../core/config/limits.ts";
import { PROFILE_EXCLUDED, SERVICE_LABEL_QUERY_ONLY } from "../../../core/layout/stream-record.ts";
import type { SettingsUpdate } from "../../../core/protocol/engine-control.ts";
import type { ScopedOverrides, WatchdogSettings } from "../../../core/protocol/watchdog-settings.ts";
import { KnownDays } from "../../../domain/calendar/known-days.ts";
import { MATURITIES, maturityOf, thresholdFor } from "../../../domain/detection/gates/baseline-maturity.ts";
import { SettingsTable } from "../../../domain/detection/settings-table.ts";
import { ThresholdProfiles } from "../../../domain/detection/threshold-profiles.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { serviceKey } from "../../../domain/series/stream-identity.ts";
import type { ServiceIndex } from "./service-index.ts";

// Series in which rules keep their own alerts, here or in a Prometheus that sends them: they are stored, and nothing judges them.

const RULE_SERIES: ReadonlySet<string> = new Set(["ALERTS", "ALERTS_FOR_STATE"]);
/** What the name of each of them begins with, as it stands in an identity. */
const MARK = Buffer.from('"ALERTS');

export interface StreamProfilesDependencies {
  readonly kernel: ShardKernel;
  readonly services: ServiceIndex;
  readonly tenantIndex: (name: string) => number;
  readonly nameOf: (slot: number) => { readonly tenant: string; readonly serviceId: string; readonly metricName: string };
  /** Ends the episodes of a stream that is no longer evaluated. */
  readonly endEpisodes: (slot: number) => void;
}

/** Streams that a change of settings is still to reach: of the service at hand those before `end`, and then those of others. */
interface PendingStreams {
  readonly lists: Iterator<readonly number[]>;
  readonly slots: readonly number[];
  readonly end: number;
}

const NO_STREAMS: PendingStreams = { lists: [][Symbol.iterator](), slots: [], end: 0 };

/** Settings and profiles of one engine. */
export class StreamProfiles {
  readonly #dependencies: StreamProfilesDependencies;
  readonly #initial: WatchdogSettings;
  readonly #table: SettingsTable;
  readonly #profiles: ThresholdProfiles;
  /** Numbers of the tenants for whom something is set. */
  readonly #tenants = new Set<number>();
  readonly #calendars = new Map<string, KnownDays>();
  /** Changes that came while the one before was on its walk: tables that it may still lead to are not overwritten. */
  readonly #waiting: SettingsUpdate[] = [];
  #scan = NO_STREAMS;
  #isWalking = false;

  constructor(initial: WatchdogSettings, dependencies: StreamProfilesDependencies) {
    this.#dependencies = dependencies;
    this.#initial = initial;
    this.#table = new SettingsTable(initial);
    this.#profiles = new ThresholdProfiles(initial.zThreshold);
    for (const maturity of MATURITIES.keys()) dependencies.kernel.profileTables(PROFILE_EXCLUDED, maturity).fill(Number.POSITIVE_INFINITY);
  }

  /** The settings in force for a metric of a service. */
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings {
    const settings = this.#table.settingsOf(tenant, serviceId, metricName);
    return isRuleSeries(metricName) ? { ...settings, excluded: true } : settings;
  }

  /** Whether metrics of the service may have settings of their own. */
  hasMetrics(tenant: string, serviceId: string): boolean {
    return this.#table.hasMetrics(tenant, serviceId);
  }

  /** The days that a tenant has told; undefined for none. */
  knownDaysOf(tenant: string): KnownDays | undefined {
    return this.#calendars.get(tenant);
  }

  /** Threshold that a stream is judged by at a time. */
  thresholdOf(slot: number, timeMs: number): number {
    const { records } = this.#dependencies.kernel;
    return thresholdFor(maturityOf(records.serviceSinceMs(slot), timeMs), this.#profiles.thresholdOf(records.profile(slot)));
  }

  /** Departures of a stream that may alert; its names are read only where something is set for its tenant. */
  directionOf(slot: number): WatchdogSettings["direction"] {
    const { kernel, nameOf } = this.#dependencies;
    if (!this.#tenants.has(kernel.records.tenant(slot))) return this.#initial.direction;
    const { tenant, serviceId, metricName } = nameOf(slot);
    return this.settingsOf(tenant, serviceId, metricName).direction;
  }

  /** Takes a change; the streams that it is for follow with `step`. */
  take(reported: SettingsUpdate): void {
    for (const { tenant, days } of reported.calendars) {
      if (days.length === 0) this.#calendars.delete(tenant);
      else this.#calendars.set(tenant, new KnownDays(days));
    }
    if (this.#isWalking) this.#waiting.push(reported);
    else this.#begin(reported);
  }

  /** Gives a stream that has just been made its profile; one for queries alone keeps it, since no walk comes to it. An episode that a stored state left open is not ended by that. */
  assign(slot: number): void {
    const { kernel, nameOf, services } = this.#dependencies;
    if (kernel.records.serviceLabel(slot) === SERVICE_LABEL_QUERY_ONLY) return kernel.records.setProfile(slot, PROFILE_EXCLUDED);
    const isPlain = this.#tenants.size === 0 || !this.#tenants.has(kernel.records.tenant(slot));
    // Quick to say, before names are read: a start comes by here with each of its streams.
    if (isPlain && !services.isMetricMarked(slot, MARK)) return;
    const { tenant, serviceId, metricName } = nameOf(slot);
    kernel.records.setProfile(slot, this.#profiles.profileOf(this.settingsOf(tenant, serviceId, metricName)));
  }

  /** Goes on with a walk; false when there is none. */
  step(slotsMax: number = PROFILE_SLOTS_PER_STEP): boolean {
    if (!this.#isWalking) return false;
    for (let left = slotsMax; left > 0; ) left -= this.#advance(left);
    if (this.#isWalking) return true;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
    return true;
  }

  /**
   * Looks at up to `most` streams of the walk's service at hand and tells how many; ends the walk, and tells `most`, when there is none left. From the
   * end of the list on, because those behind a stream that leaves memory move up.
   */
  #advance(most: number): number {
    const { slots, lists } = this.#scan;
    const end = Math.min(this.#scan.end, slots.length);
    if (end > 0) {
      const start = Math.max(0, end - most);
      this.#assignAll(slots.slice(start, end));
      this.#scan = { lists, slots, end: start };
      return end - start;
    }
    const step = lists.next();
    this.#isWalking = !step.done;
    this.#scan = step.done ? NO_STREAMS : { lists, slots: step.value, end: step.value.length };
    return step.done ? most : 1;
  }

  /** Streams of one service: all have the settings of the first, unless some of its metrics have their own. */
  #assignAll(slots: readonly number[]): void {
    const first = slots[0];
    if (first === undefined) return;
    const { nameOf, services } = this.#dependencies;
    const { tenant, serviceId } = nameOf(first);
    const hasMetrics = this.#table.hasMetrics(tenant, serviceId);
    const common = this.#profiles.profileOf(this.#table.settingsOf(tenant, serviceId, ""));
    for (const slot of slots) {
      const isOwn = hasMetrics || services.isMetricMarked(slot, MARK);
      this.#set(slot, isOwn ? this.#profiles.profileOf(this.settingsOf(tenant, serviceId, nameOf(slot).metricName)) : common);
    }
  }

  #set(slot: number, profile: number): void {
    const { kernel, endEpisodes } = this.#dependencies;
    if (kernel.records.profile(slot) === profile) return;
    if (profile === PROFILE_EXCLUDED) endEpisodes(slot);
    kernel.records.setProfile(slot, profile);
  }

  #begin({ places, profiles, tables }: SettingsUpdate): void {
    const { kernel, tenantIndex } = this.#dependencies;
    for (const each of tables) kernel.setProfileTables(each.profile, each.tables);
    this.#profiles.take(profiles);
    for (const scope of places) {
      this.#table.put(scope, scope.overrides);
      const tenant = tenantIndex(scope.tenant);
      if (this.#table.hasTenant(scope.tenant)) this.#tenants.add(tenant);
      else this.#tenants.delete(tenant);
    }
    this.#scan = { lists: this.#lists(places), slots: [], end: 0 };
    this.#isWalking = true;
  }

  /** The streams that changes are for, by service. Those that come meanwhile are given their profiles when they are made. */
  *#lists(places: readonly ScopedOverrides[]): Generator<readonly number[]> {
    const { services } = this.#dependencies;
    services.catchUp(Number.POSITIVE_INFINITY);
    const whole = new Set(places.filter(({ serviceId }) => serviceId === null).map(({ tenant }) => tenant));
    for (const { tenant, serviceId } of places)
      if (serviceId !== null && !whole.has(tenant)) yield services.servicesOf(tenant).get(serviceKey(tenant, serviceId)) ?? [];
    for (const tenant of whole) yield* services.servicesOf(tenant).values();
  }
}

/** Whether a metric is one of them. */
function isRuleSeries(metricName: string): boolean {
  return RULE_SERIES.has(metricName);
}
