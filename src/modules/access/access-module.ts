// What the coordinator folds of keys, users, tenants and the audit log.

import { done, type Outcome } from "../../api/refusal.ts";
import { levelOf, permissionsOf } from "../../domain/access/roles.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import type { AccessBooks, AccessContext } from "./access-context.ts";
import { AuditBook } from "./audit-book.ts";
import { listAudit } from "./audit-handler.ts";
import { expireAudit } from "./audit-retention.ts";
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
  configured: () => ({ tenants: new TenantBook(), keys: new KeyBook(), users: new UserBook(), audit: new AuditBook() }),
  gauges: ({ configured }: { readonly configured: AccessBooks }) => ({ auditRows: configured.audit.size }),
  expire: (sources: Parameters<typeof expireAudit>[0], terms: RetentionTerms) =>
    expireAudit(sources, terms.auditKeptFromMs, terms.auditRowsMax, terms.rowsPerStep),
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
