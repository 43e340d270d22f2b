// What the handlers of series use.
import type { KnownDays } from "../../../domain/calendar/known-days.ts";
import type { WatchdogSettings } from "../../../domain/detection/watchdog-settings.ts";
import type { Using } from "../queries/query-context.ts";
import type { MetadataTable } from "./metadata-table.ts";
import type { RollupBook } from "./rollups/rollup-book.ts";

export interface SeriesBooks {
  readonly metadata: MetadataTable;
  readonly rollups: RollupBook;
}

/** The Watchdog's settings of a pair. */
export interface SettingsSource {
  readonly watchdog: {
    settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings;
    /** Known days of tenants. */
    readonly calendars: { knownDaysOf(tenant: string): KnownDays | undefined };
  };
}

export type SeriesContext = Using<"engines" | "isStoreFailing" | "nowMs" | "options" | "settle" | "yieldTurn", SeriesBooks, SettingsSource>;
