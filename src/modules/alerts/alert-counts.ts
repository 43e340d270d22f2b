import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { AlertCounts } from "./alert-draft.ts";
import type { AlertBooks } from "./alerts-context.ts";

/** Takes what a draft has done over into the metrics. */
export function countAlerts(counters: CoordinatorCounters, { alerts }: AlertBooks, done: AlertCounts): void {
  counters.add("alertsOpened", done.opened);
  counters.add("alertsDropped", done.dropped);
  counters.add("pagesDecided", done.paged);
  counters.add("pagesHeldBack", done.suppressed);
  counters.set("alertsFiring", alerts.firingCount);
}
