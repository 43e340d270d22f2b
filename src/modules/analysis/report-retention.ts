// Retention of reports, and of the members of their incidents: RETENTION_DAYS, and the oldest of a tenant beyond REPORTS_PER_TENANT_MAX. The memory of incidents has a bound of its own.

import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { RetentionStep } from "../state/retention-step.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { AnalysisBooks } from "./analysis-context.ts";

export interface ReportExpiry {
  readonly state: StateWith<AnalysisBooks>;
  readonly counters: CoordinatorCounters;
}

export function* expireReports({ state, counters }: ReportExpiry, beforeMs: number, rowsPerStep: number): Generator<RetentionStep> {
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
