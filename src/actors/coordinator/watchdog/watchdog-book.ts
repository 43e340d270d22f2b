// Settings of the Watchdog as they are stored, and the threshold profiles of the engines that follow from them.

import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../../core/base/share-ledger.ts";
import type { SettingsUpdate } from "../../../core/protocol/engine-control.ts";
import type {
  ScopedOverrides,
  SettingsScope,
  TenantCalendar,
  ThresholdProfile,
  WatchdogOverrides,
  WatchdogSettings,
} from "../../../core/protocol/watchdog-settings.ts";
import { KeyBuilder } from "../../../domain/codec/key.ts";
import { SettingsTable } from "../../../domain/detection/settings-table.ts";
import { ThresholdProfiles } from "../../../domain/detection/threshold-profiles.ts";
import { fillThresholdTables, THRESHOLD_TABLE_VALUES } from "../../../domain/detection/thresholds.ts";
import { scan } from "../state/scan.ts";
import { flag, nullable, number, object, oneOf, optional, StoredForm, text } from "../state/stored-json.ts";
import { CalendarBook, type StoredCalendar } from "./calendar-book.ts";

/** Settings of a scope, as they are stored. */
export interface StoredSettings extends ScopedOverrides {
  readonly updatedMs: number;
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

/** Settings of the environment, and WATCHDOG_MIN_SAMPLES. */
export interface WatchdogEnvironment {
  readonly settings: WatchdogSettings;
  readonly samplesMin: number;
}

/** The settings in force on one server. */
export class WatchdogBook {
  readonly table: SettingsTable;
  readonly calendars = new CalendarBook();
  readonly #samplesMin: number;
  readonly #profiles: ThresholdProfiles;
  /** When each place was last changed, by its key in JSON. */
  readonly #updated = new Map<string, number>();

  constructor({ settings, samplesMin }: WatchdogEnvironment, shares = ShareLedger.alone()) {
    this.table = new SettingsTable(settings, shares);
    this.#samplesMin = samplesMin;
    this.#profiles = new ThresholdProfiles(settings.zThreshold);
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "watchdog_settings")) {
      const stored = SETTINGS.decode(value);
      this.table.put(stored, stored.overrides);
      this.#updated.set(placeKey(stored), stored.updatedMs);
    }
    this.#profiles.use(this.#thresholds());
    this.calendars.load(store);
  }

  /** The settings in force for a metric of a service. */
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings {
    return this.table.settingsOf(tenant, serviceId, metricName);
  }

  /** When a place was last changed; null for one at which nothing is set. */
  updatedMs(place: SettingsScope): number | null {
    return this.#updated.get(placeKey(place)) ?? null;
  }

  /** Thresholds in use besides the environment's, ascending. */
  get thresholds(): number[] {
    return this.#profiles.all.map(({ threshold }) => threshold).sort((a, b) => a - b);
  }

  /** Whether the thresholds that would be in use after a change are few enough. */
  takes(change: ScopedOverrides): boolean {
    return this.#profiles.fit(this.#thresholds(change));
  }

  /** Takes a stored change over; what the engines are to be told about it. */
  put(place: SettingsScope, settings: StoredSettings | undefined): SettingsUpdate {
    const { tenant, serviceId, metricName } = place;
    this.table.put(place, settings?.overrides);
    if (settings === undefined) this.#updated.delete(placeKey(place));
    else this.#updated.set(placeKey(place), settings.updatedMs);
    const added = this.#profiles.use(this.#thresholds());
    return this.#update([{ tenant, serviceId, metricName, overrides: settings?.overrides ?? {} }], added, []);
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

  /** About 20 ms: here and once, so that no engine's verdicts wait for it. */
  #tables(threshold: number): Float64Array {
    const tables = new Float64Array(THRESHOLD_TABLE_VALUES);
    fillThresholdTables(tables, threshold, this.#samplesMin);
    return tables;
  }

  /** All thresholds that are set, as they would be after a change. */
  #thresholds(change?: ScopedOverrides): number[] {
    const thresholds: number[] = [];
    for (const place of this.table.all()) {
      const isChanged = change !== undefined && placeKey(place) === placeKey(change);
      if (!isChanged && place.overrides.zThreshold !== undefined) thresholds.push(place.overrides.zThreshold);
    }
    if (change?.overrides.zThreshold !== undefined) thresholds.push(change.overrides.zThreshold);
    return thresholds;
  }
}

function placeKey({ tenant, serviceId, metricName }: SettingsScope): string {
  return JSON.stringify([tenant, serviceId, metricName]);
}
