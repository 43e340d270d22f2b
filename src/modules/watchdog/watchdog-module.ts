// What the coordinator folds of the Watchdog.
// Retention of vectors that trainings have kept: those of a service that is not trained any more go with all else of it, after RETENTION_DAYS.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { SERVICE_MODEL_AGE_MS_MAX } from "../../core/config/limits.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import { readCalendar, setCalendar } from "./calendar-handlers.ts";
import { rowsRemoval, type TrainingRowsBook } from "./training/training-rows-book.ts";
import { WatchdogBook, type WatchdogEnvironment } from "./watchdog-book.ts";
import type { WatchdogBooks } from "./watchdog-context.ts";
import { deleteWatchdogSettings, listWatchdogSettings, setWatchdogSettings } from "./watchdog-settings-handlers.ts";

/** A service that is watched is trained anew within half of this. */
const TRAINED_WITHIN_MS = 2 * SERVICE_MODEL_AGE_MS_MAX;

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
    trainingRowServices: trainingRows.size,
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

interface RowsExpiry {
  readonly state: { readonly series: KeyValueStore; readonly trainingRows: TrainingRowsBook };
}

export function* expireTrainingRows(
  { state: { series: store, trainingRows } }: RowsExpiry,
  { retainedFromMs, wallNowMs }: Pick<RetentionTerms, "retainedFromMs" | "wallNowMs">,
): Generator<RetentionStep> {
  const beforeMs = Math.min(retainedFromMs, wallNowMs - TRAINED_WITHIN_MS);
  for (;;) {
    const retained = trainingRows.expired(beforeMs);
    if (retained === undefined) return;
    yield { store, operations: rowsRemoval(retained), apply: () => trainingRows.remove(retained.tenant, retained.service) };
  }
}
