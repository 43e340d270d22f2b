// Rows of the audit log leave by age, and beyond a maximum the oldest of the tenant that has most: one tenant's flood takes no other's rows.
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { RetentionStep } from "../state/retention-step.ts";
import type { StateWith } from "../state/stored-state.ts";
import { tenantTimeBound } from "../state/tables.ts";
import type { AccessBooks } from "./access-context.ts";

interface AuditRetention {
  readonly state: StateWith<unknown, Pick<AccessBooks, "audit">>;
  readonly counters: CoordinatorCounters;
  emit(message: CoordinatorMessage): void;
}

/** Deletes what is older than `beforeMs`, then what is beyond `rowsMax`. */
export function* expireAudit(
  { state, counters, emit }: AuditRetention,
  beforeMs: number,
  rowsMax: number,
  rowsPerStep: number,
): Generator<RetentionStep> {
  const { audit } = state.configured;
  for (const tenant of [...audit.tenants]) {
    for (let step = oldest(state, tenant, beforeMs, rowsPerStep); step !== undefined; step = oldest(state, tenant, beforeMs, rowsPerStep)) {
      const { rows, operations, apply } = step;
      const expired = () => {
        apply();
        counters.add("auditRowsExpired", rows);
      };
      yield { store: state.control, operations, apply: expired };
    }
  }
  for (let excess = audit.size - rowsMax; excess > 0; excess = audit.size - rowsMax) {
    const tenant = audit.largestTenant;
    const step = tenant && oldest(state, tenant, Number.POSITIVE_INFINITY, Math.min(excess, rowsPerStep));
    if (!step) return;
    const { rows, operations, apply } = step;
    const msg = `the audit log holds ${rowsMax} rows: the oldest ${rows} of tenant ${JSON.stringify(tenant)} were dropped`;
    const dropped = () => {
      apply();
      counters.add("auditRowsDropped", rows);
      emit({ type: "log", level: "warn", component: "retention", msg });
    };
    yield { store: state.control, operations, apply: dropped };
  }
}

function oldest({ control, configured }: StateWith<unknown, Pick<AccessBooks, "audit">>, tenant: string, beforeMs: number, limit: number) {
  const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
  const entries = control.range("audit", { from, to: tenantTimeBound(tenant, beforeMs), limit });
  if (entries.length === 0) return undefined;
  const rows = entries.length;
  return {
    rows,
    operations: [...entries.map(({ key }) => ({ table: "audit", key, value: undefined })), configured.audit.operation(tenant, -rows)],
    apply: () => configured.audit.add(tenant, -rows),
  };
}
