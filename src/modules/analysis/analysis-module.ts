// What the coordinator folds of root-cause analysis.
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import { takeAlerts } from "./alert-webhook-handler.ts";
import { analyze } from "./analyze-handler.ts";
import { expireChanges } from "./change-book.ts";
import { listReports, scorecard, similarReports } from "./report-handlers.ts";
import { expireReports, type ReportExpiry } from "./report-retention.ts";
import { storeResolution } from "./resolution-handler.ts";
import { blastRadiusOf, correlations } from "./topology-handlers.ts";

export const ANALYSIS = {
  tables: {
    control: {
      rca_reports: { key: "tenant, created time, report id", value: "RcaReport: root causes of an incident" },
      incident_members: {
        key: "tenant, created time of the report, anomaly id",
        value: "JoinedMember: an anomaly beyond those that the report of its incident names",
      },
      incident_memory: { key: "tenant, incident id", value: "RememberedIncident: what an incident was like, and what helped" },
    },
    series: {
      deployments: {
        key: "tenant, time, record id",
        value: "ServiceChange: deployments and other changes of the last day, as event records told",
      },
    },
  },
  expire: function* (sources: ReportExpiry, terms: RetentionTerms): Generator<RetentionStep> {
    yield* expireReports(sources, terms.keptFromMs, terms.rowsPerStep);
    yield* expireChanges(sources.state.series, terms.wallNowMs, terms.rowsPerStep);
  },
  handlers: {
    rcaReports: listReports,
    analyze,
    correlations,
    blastRadius: blastRadiusOf,
    resolutionWebhook: storeResolution,
    similarReports,
    scorecard,
    alertWebhook: takeAlerts,
  },
  afterCommit: ["rcaReports", "correlations", "blastRadius", "similarReports", "scorecard"],
} as const satisfies NounModule;
