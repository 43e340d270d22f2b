// What the handlers of series use.

import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import type { KnownDays } from "../../domain/calendar/known-days.ts";
import type { WatchdogSettings } from "../../domain/detection/watchdog-settings.ts";
import type { Using } from "../queries/query-context.ts";
import type { MetadataTable } from "./metadata-table.ts";
import type { RollupBook } from "./rollups/rollup-book.ts";

export interface SeriesBooks {
  readonly metadata: MetadataTable;
  readonly rollups: RollupBook;
}

/** A service's metric in an environment. */
export interface PairName {
  readonly tenant: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly environment: string;
}

/** Source of findings on a pair. */
export interface FindingSource {
  readonly anomalies: {
    /** Anomalies that lasted at some time of [fromMs, toMs), the newest first. */
    during(pair: PairName, fromMs: number, toMs: number, most: number): readonly Anomaly[];
  };
}

/** The Watchdog's settings of a pair. */
export interface SettingsSource {
  readonly watchdog: {
    settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings;
    readonly calendars: { knownDaysOf(tenant: string): KnownDays | undefined };
  };
}

export type SeriesContext = Using<
  "engines" | "isStoreFailing" | "nowMs" | "options" | "settle" | "yieldToLoop",
  SeriesBooks & FindingSource,
  SettingsSource
>;
