// What the coordinator folds of root-cause analysis.
// Retention of reports, and of the members of their incidents: RETENTION_DAYS, and the oldest of a tenant beyond REPORTS_PER_TENANT_MAX. The memory of incidents has a bound of its own.
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import type { StateWith } from "../state/stored-state.ts";
import { takeAlerts } from "./alert-webhook-handler.ts";
import type { AnalysisBooks } from "./analysis-context.ts";
import { analyze } from "./analyze-handler.ts";
import { expireChanges } from "./change-book.ts";
import { listReports, scorecard, similarReports } from "./report-handlers.ts";
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
    yield* expireReports(sources, terms.retainedFromMs, terms.rowsPerStep);
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
} as const satisfies NounModule;

interface ReportExpiry {
  readonly state: StateWith<AnalysisBooks>;
  readonly counters: CoordinatorCounters;
}

function* expireReports({ state, counters }: ReportExpiry, beforeMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { reports } = state.analyses;
  for (const tenant of [...reports.tenants]) {
    for (;;) {
      const members = reports.expiredMembers(tenant, beforeMs, rowsPerStep);
      if (members === undefined) break;
      yield { store: state.control, operations: members.operations, apply: () => reports.removeMembers(tenant, members) };
    }
    for (;;) {
      const expired = reports.expired(tenant, beforeMs, rowsPerStep);
      if (expired.length === 0) break;
      const operations = expired.map(({ key }) => ({ table: "rca_reports", key, value: undefined }));
      const apply = () => {
        for (const { id } of expired) reports.remove(tenant, id);
        counters.add("rcaReportsExpired", expired.length);
        counters.set("rcaReports", reports.size);
      };
      yield { store: state.control, operations, apply };
    }
  }
}
