// What the coordinator folds of keys, users, tenants and the audit log.
// Rows of the audit log leave by age, and beyond a maximum the oldest of the tenant that has most: one tenant's flood takes no other's rows.
import { done, type Outcome } from "../../api/refusal.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import { levelOf, permissionsOf } from "../../domain/access/roles.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import { RowCounts } from "../state/row-counts.ts";
import type { StateWith } from "../state/stored-state.ts";
import { tenantTimeBound } from "../state/tables.ts";
import type { AccessBooks, AccessContext } from "./access-context.ts";
import { listAudit } from "./audit-handler.ts";
import { KeyBook } from "./key-book.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./key-handlers.ts";
import { TenantBook } from "./tenant-book.ts";
import { changeTenant, createTenant, listTenants } from "./tenant-handlers.ts";
import { UserBook } from "./user-book.ts";
import { createUser, deleteUser, listUsers, patchUser, putUser } from "./user-handlers.ts";

export const ACCESS = {
  tables: {
    control: {
      audit: { key: "tenant, time, id", value: "AuditEntry" },
      api_keys: { key: "key id", value: "ApiKey" },
      users: { key: "tenant, subject", value: "User" },
      tenants: { key: "tenant", value: "Tenant" },
      audit_counts: { key: "tenant", value: "rows of the audit log" },
    },
  },
  configured: () => ({ tenants: new TenantBook(), keys: new KeyBook(), users: new UserBook(), audit: new RowCounts("audit_counts") }),
  gauges: ({ configured }: { readonly configured: AccessBooks }) => ({ auditRows: configured.audit.size }),
  expire: (sources: Parameters<typeof expireAudit>[0], terms: RetentionTerms) =>
    expireAudit(sources, terms.auditRetainedFromMs, terms.auditRowsMax, terms.rowsPerStep),
  handlers: {
    permissions,
    createKey,
    keys: listKeys,
    revokeKey,
    rotateKey,
    rotateKeyOtherSpelling: rotateKey,
    users: listUsers,
    createUser,
    putUser,
    patchUser,
    deleteUser,
    createTenant,
    tenants: listTenants,
    changeTenant,
    audit: listAudit,
  },
} as const satisfies NounModule;

// GET /api/v1/rbac/permissions: who the caller is.

/** The permissions record (contract, 2.6). */
function permissions(_context: AccessContext, { principal }: QueryRequest<"permissions">): Outcome<unknown> {
  const { tenant, subject, role } = principal;
  return done({ tenant_id: tenant, user_id: subject, role, level: levelOf(role), permissions: permissionsOf(role) });
}

interface AuditRetention {
  readonly state: StateWith<unknown, Pick<AccessBooks, "audit">>;
  readonly counters: CoordinatorCounters;
  emit(message: CoordinatorMessage): void;
}

/** Deletes what is older than `beforeMs`, then what is beyond `rowsMax`. */
function* expireAudit(
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
