// What the coordinator folds of alerts.
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import { alertChart } from "./alert-chart.ts";
import { alertTimeline, listAlerts, oneAlert } from "./alert-handlers.ts";
import { type AlertExpiry, expireAlerts, expireLedger, expireOpinions } from "./alert-retention.ts";

export const ALERTS = {
  tables: {
    control: {
      alerts: { key: "tenant, created time, id", value: "alert-row.ts (alerts/rows): an alert with its state" },
      timeline: { key: "tenant, alert id, time, u16 rank of the kind, hash", value: "timeline-book.ts: a line of an alert's timeline" },
      timeline_packs: { key: "that of the first row", value: "packed-rows.ts (adapters/storage): rows of timeline" },
      feedback: { key: "tenant, service", value: "what people said of a service's anomalies, and what follows" },
    },
    series: {
      ledger: { key: "tenant, time, id", value: "decision-row.ts (alerts/rows): PageDecision, why something did or did not page" },
      ledger_packs: { key: "that of the first row", value: "packed-rows.ts (adapters/storage): rows of ledger" },
      ledger_counts: { key: "tenant", value: "rows of the ledger" },
    },
  },
  *expire(sources: AlertExpiry, terms: RetentionTerms) {
    yield* expireAlerts(sources, terms.retainedFromMs, terms.rowsPerStep);
    yield* expireLedger(sources, terms.retainedFromMs, terms.rowsPerStep);
    yield* expireOpinions(sources, terms.wallNowMs, terms.rowsPerStep);
  },
  handlers: {
    alerts: listAlerts,
    alert: oneAlert,
    alertChart,
    alertTimeline,
  },
} as const satisfies NounModule;
