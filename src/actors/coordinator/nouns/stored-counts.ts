// Gauges of what the store held at the start; what changes them later counts on from there.

import type { CoordinatorCounters } from "../../../modules/state/coordinator-counters.ts";
import type { CommittedState } from "./committed-state.ts";

/** Sets them, once the state has been read. */
export function countStored(counters: CoordinatorCounters, { anomalies, alerts, deadLetters, metadata, analyses }: CommittedState): void {
  counters.set("anomaliesOpen", anomalies.openCount);
  counters.set("alertsFiring", alerts.firingCount);
  counters.set("ledgerRows", alerts.ledger.size);
  counters.set("deadLetters", deadLetters.total);
  counters.set("deadLetterBytes", deadLetters.bytes);
  counters.set("metadataStored", metadata.size);
  counters.set("rcaReports", analyses.reports.size);
}
