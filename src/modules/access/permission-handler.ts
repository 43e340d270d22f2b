// GET /api/v1/rbac/permissions: who the caller is.
import { done, type Outcome } from "../../api/refusal.ts";
import { levelOf, permissionsOf } from "../../domain/access/roles.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { AccessContext } from "./access-context.ts";

/** The permissions record (contract, 2.6). */
export function permissions(_context: AccessContext, { principal }: QueryRequest<"permissions">): Outcome<unknown> {
  const { tenant, subject, role } = principal;
  return done({ tenant_id: tenant, user_id: subject, role, level: levelOf(role), permissions: permissionsOf(role) });
}
