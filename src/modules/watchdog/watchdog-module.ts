// What the coordinator folds of the Watchdog.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import { readCalendar, setCalendar } from "./calendar-handlers.ts";
import { expireTrainingRows, type RowsExpiry } from "./training/training-rows-retention.ts";
import { WatchdogBook, type WatchdogEnvironment } from "./watchdog-book.ts";
import type { WatchdogBooks } from "./watchdog-context.ts";
import { deleteWatchdogSettings, listWatchdogSettings, setWatchdogSettings } from "./watchdog-settings-handlers.ts";

export const WATCHDOG = {
  tables: {
    control: {
      watchdog_settings: { key: "tenant, service, metric", value: "overrides of the Watchdog's settings; empty service or metric: of all" },
      calendars: { key: "tenant", value: "StoredCalendar: days that are known to be other than usual" },
    },
    series: {
      slo_records: { key: "tenant, time, id", value: "SloRecord: what the last three days' SLO records say" },
      detector_states: { key: "partition, detector, page", value: "states of the Watchdog's detectors, as their engine packs them" },
      training_rows: {
        key: "tenant, hash of service and environment, u16 number",
        value: "number 0: what is kept of a service; else a part of the vectors that its last training chose (training-rows-book.ts)",
      },
    },
  },
  configured: ({ share, watchdog }: BookSources & { readonly watchdog: WatchdogEnvironment }) => ({
    watchdog: new WatchdogBook(watchdog, share("watchdog_places")),
  }),
  gauges: ({ configured, trainingRows }: RowsExpiry["state"] & { readonly configured: WatchdogBooks }) => ({
    watchdogPlaces: configured.watchdog.table.size,
    trainingRowServices: trainingRows.services,
    trainingRowBytes: trainingRows.shares.taken,
  }),
  expire: (sources: RowsExpiry, terms: RetentionTerms) => expireTrainingRows(sources, terms),
  handlers: {
    watchdogSettings: listWatchdogSettings,
    setWatchdogSettings,
    deleteWatchdogSettings,
    calendar: readCalendar,
    setCalendar,
  },
} as const satisfies NounModule;
