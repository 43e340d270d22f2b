// Settings of the Watchdog as they are stored, and the threshold profiles of the engines that follow from them.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { finished } from "../../core/fairness/serial-work.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { SettingsUpdate } from "../../core/protocol/engine-control.ts";
import type {
  ScopedOverrides,
  SettingsScope,
  TenantCalendar,
  ThresholdProfile,
  WatchdogOverrides,
  WatchdogSettings,
} from "../../core/protocol/watchdog-settings.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { SettingsTable } from "../../domain/detection/settings-table.ts";
import { ThresholdProfiles } from "../../domain/detection/threshold-profiles.ts";
import { type DeclarationRule, profileTableSteps } from "../../domain/detection/thresholds.ts";
import { scan } from "../state/scan.ts";
import { flag, nullable, number, object, oneOf, optional, StoredForm, text } from "../state/stored-json.ts";
import { CalendarBook, type StoredCalendar } from "./calendar-book.ts";

/** Settings of a scope, as they are stored. */
export interface StoredSettings extends ScopedOverrides {
  readonly updatedMs: number;
}

/** What a place has after a change; nothing where `settings` is undefined. */
export interface SettingsChange {
  readonly scope: SettingsScope;
  readonly settings: StoredSettings | undefined;
}

const SETTINGS = new StoredForm<StoredSettings>("watchdog_settings", {
  tenant: text,
  serviceId: nullable(text),
  metricName: nullable(text),
  overrides: object<WatchdogOverrides>({
    zThreshold: optional(number),
    rcaCooldownMinutes: optional(number),
    dedupMaxAgeMinutes: optional(number),
    direction: optional(oneOf(["both", "high", "low"])),
    excluded: optional(flag),
    evaluationDelaySeconds: optional(number),
    minimumTraffic: optional(number),
  }),
  updatedMs: number,
});

/** Stores what is set at a place; nothing is any more where `settings` is undefined. */
export function settingsOperation({ tenant, serviceId, metricName }: SettingsScope, settings: StoredSettings | undefined): StoreOperation {
  const key = new KeyBuilder()
    .text(tenant)
    .text(serviceId ?? "")
    .text(metricName ?? "")
    .finish();
  return { table: "watchdog_settings", key, value: settings && SETTINGS.encode(settings) };
}

/** Settings of the environment. */
export interface WatchdogEnvironment extends DeclarationRule {
  readonly settings: WatchdogSettings;
}

/** The settings in force on one server. */
export class WatchdogBook {
  readonly table: SettingsTable;
  readonly calendars = new CalendarBook();
  readonly #rule: DeclarationRule;
  readonly #profiles: ThresholdProfiles;
  /** Places at which each threshold is set. */
  readonly #thresholds = new Map<number, number>();
  /** Tables of thresholds that a change under way brings: THRESHOLDS_MAX at most. */
  readonly #prepared = new Map<number, Float64Array>();
  /** When each place was last changed, by its key in JSON. */
  readonly #updated = new Map<string, number>();

  constructor({ settings, ...rule }: WatchdogEnvironment, shares = ShareLedger.alone()) {
    this.table = new SettingsTable(settings, shares);
    this.#rule = rule;
    this.#profiles = new ThresholdProfiles(settings.zThreshold);
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "watchdog_settings")) {
      const stored = SETTINGS.decode(value);
      this.#scope(stored, stored.overrides);
      this.#updated.set(keyKey(stored), stored.updatedMs);
    }
    this.#profiles.use(this.#thresholds.keys());
    this.calendars.load(store);
  }

  /** The settings in force for a metric of a service. */
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings {
    return this.table.settingsOf(tenant, serviceId, metricName);
  }

  /** When a place was last changed; null for one at which nothing is set. */
  updatedMs(scope: SettingsScope): number | null {
    return this.#updated.get(keyKey(scope)) ?? null;
  }

  /** Thresholds in use besides the environment's, ascending. */
  get thresholds(): number[] {
    return this.#profiles.all.map(({ threshold }) => threshold).sort((a, b) => a - b);
  }

  /** Whether the thresholds that would be in use after changes of different places are few enough. */
  takes(changes: readonly ScopedOverrides[]): boolean {
    const counts = new Map(this.#thresholds);
    for (const change of changes) count(counts, this.table.at(change)?.zThreshold, change.overrides.zThreshold);
    return this.#profiles.fit(counts.keys());
  }

  /** Takes stored changes over, of places that nothing is set at where `settings` is undefined; what the engines are to be told about them. */
  put(changes: readonly SettingsChange[]): SettingsUpdate {
    for (const { scope, settings } of changes) {
      this.#scope(scope, settings?.overrides);
      if (settings === undefined) this.#updated.delete(keyKey(scope));
      else this.#updated.set(keyKey(scope), settings.updatedMs);
    }
    const added = this.#profiles.use(this.#thresholds.keys());
    const places = changes.map(({ scope: { tenant, serviceId, metricName }, settings }) => {
      return { tenant, serviceId, metricName, overrides: settings?.overrides ?? {} };
    });
    return this.#update(places, added, []);
  }

  /** Takes a stored calendar over; what the engines are to be told about it. */
  putCalendar(stored: StoredCalendar): SettingsUpdate {
    this.calendars.put(stored);
    return this.#update([], [], [stored]);
  }

  /** Everything, for an engine that knows nothing yet. */
  update(): SettingsUpdate {
    return this.#update([...this.table.all()], this.#profiles.all, this.calendars.all);
  }

  #update(places: readonly ScopedOverrides[], added: readonly ThresholdProfile[], calendars: readonly TenantCalendar[]): SettingsUpdate {
    const tables = added.map((each) => ({ ...each, tables: this.#tables(each.threshold) }));
    return { type: "watchdog-settings", places, profiles: this.#profiles.all, tables, calendars };
  }

  /** Makes the tables that changes will need, ahead of `put`: about 60 ms a threshold that is not in use yet; yields between steps. */
  *prepare(changes: readonly SettingsChange[]): Generator<void, void> {
    this.#prepared.clear();
    const inUse = new Set(this.thresholds);
    for (const { settings } of changes) {
      const threshold = settings?.overrides.zThreshold;
      if (threshold === undefined || inUse.has(threshold) || this.#prepared.has(threshold)) continue;
      const tables = yield* profileTableSteps(threshold, this.#rule);
      this.#prepared.set(threshold, tables);
    }
  }

  /** Here and once, so that no engine's verdicts wait for it. */
  #tables(threshold: number): Float64Array {
    const tables = this.#prepared.get(threshold) ?? finished(profileTableSteps(threshold, this.#rule));
    this.#prepared.delete(threshold);
    return tables;
  }

  #scope(scope: SettingsScope, overrides: WatchdogOverrides | undefined): void {
    count(this.#thresholds, this.table.at(scope)?.zThreshold, overrides?.zThreshold);
    this.table.put(scope, overrides);
  }
}

/** One place has another threshold than before, or none. */
function count(counts: Map<number, number>, before: number | undefined, after: number | undefined): void {
  if (after !== undefined) counts.set(after, (counts.get(after) ?? 0) + 1);
  if (before === undefined) return;
  const left = (counts.get(before) ?? 0) - 1;
  if (left > 0) counts.set(before, left);
  else counts.delete(before);
}

function keyKey({ tenant, serviceId, metricName }: SettingsScope): string {
  return JSON.stringify([tenant, serviceId, metricName]);
}
