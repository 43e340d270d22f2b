// GET, POST /api/v1/users and PUT, PATCH, DELETE /api/v1/users/{user_id}: who may do what at most with a token. Who changes them is checked in
// domain/access/user-role.ts, when it is the change's turn.
import { listed } from "../../api/page-token.ts";
import { created, done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { SUBJECT_CHARACTERS_MAX } from "../../core/config/key-limits.ts";
import { USERS_PER_TENANT_MAX } from "../../core/config/limits.ts";
import type { Role } from "../../core/protocol/access.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { refuseUserChange } from "../../domain/access/user-role.ts";
import { isPlainName } from "../../domain/series/name-rule.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import type { AccessContext } from "./access-context.ts";
import type { ChangePlan } from "./changes.ts";
import { type User, userChange } from "./user-book.ts";

/** The tenant's users. */
export function listUsers({ state }: AccessContext, request: QueryRequest<"users">): Outcome<unknown> {
  const { user_id } = request.query;
  const all = state.configured.users.of(request.principal.tenant).filter(({ subject }) => user_id === undefined || subject === user_id);
  const list = { endpoint: "users", positionOf: ({ subject }: (typeof all)[number]) => [subject] };
  return listed(state, request, list, all, (page) => ({ users: page.map(userView), total: all.length }));
}

/** Binds a subject that is not bound yet. */
export async function createUser(context: AccessContext, request: QueryRequest<"createUser">): Promise<Outcome<unknown>> {
  const { user_id: subject, ...content } = request.body;
  return context.change(request, () => {
    if (context.state.configured.users.find(request.principal.tenant, subject) !== undefined) {
      return refused("conflict", `there is a user ${shown(subject)} already; change it with PUT or PATCH`, "user_id");
    }
    return planUser(context, request, subject, { ...content, disabled: content.disabled ?? false }, "created");
  });
}

/** Sets a user whether it was there or not. */
export async function putUser(context: AccessContext, request: QueryRequest<"putUser">): Promise<Outcome<unknown>> {
  const subject = request.path.user_id ?? "";
  const { disabled = false, ...content } = request.body;
  return context.change(request, () => {
    const isNew = context.state.configured.users.find(request.principal.tenant, subject) === undefined;
    return planUser(context, request, subject, { ...content, disabled }, isNew ? "created" : "changed");
  });
}

/** Changes what is given. */
export async function patchUser(context: AccessContext, request: QueryRequest<"patchUser">): Promise<Outcome<unknown>> {
  const subject = request.path.user_id ?? "";
  return context.change(request, () => {
    const before = context.state.configured.users.find(request.principal.tenant, subject);
    if (before === undefined) return unknownUser(subject);
    const { role = before.role, name = before.name, disabled = before.disabled } = request.body;
    return planUser(context, request, subject, { role, name, disabled }, "changed");
  });
}

/** Forgets a user. */
export async function deleteUser({ state, change }: AccessContext, request: QueryRequest<"deleteUser">): Promise<Outcome<unknown>> {
  const subject = request.path.user_id ?? "";
  return change(request, () => {
    const { users } = state.configured;
    const before = users.find(request.principal.tenant, subject);
    if (before === undefined) return unknownUser(subject);
    const problem = refuseUserChange({ actor: request.principal, subject, before, role: undefined });
    if (problem !== null) return refused("forbidden", problem);
    return {
      ok: true,
      note: { action: "user.delete", object: subject, before: userView(before), after: null },
      operations: [users.removal(before)],
      apply: () => users.remove(before.tenant, subject),
      accessChanges: [{ type: "user-gone", tenant: before.tenant, subject }],
      outcome: noContent(),
    };
  });
}

interface UserContent {
  readonly role: Role;
  readonly name?: string | undefined;
  readonly disabled: boolean;
}

function planUser(
  { state, nowMs }: AccessContext,
  { principal }: ChangeRequest,
  subject: string,
  { role, name, disabled }: UserContent,
  done_: "created" | "changed",
): ReturnType<ChangePlan<unknown>> {
  const { users } = state.configured;
  const { tenant } = principal;
  const before = users.find(tenant, subject);
  const problem = refuseUserChange({ actor: principal, subject, before, role });
  if (problem !== null) return refused("forbidden", problem);
  if (!isPlainName(subject)) return refused("invalid_parameter", "a user id must have printable characters only", "user_id");
  if (subject.length > SUBJECT_CHARACTERS_MAX)
    return refused("field_too_long", `a user id may have ${SUBJECT_CHARACTERS_MAX} characters`, "user_id");
  if (before === undefined && users.sizeOf(tenant) >= USERS_PER_TENANT_MAX) {
    return refused("conflict", `the tenant has ${USERS_PER_TENANT_MAX} users, as many as it may have; delete one`);
  }
  const now = nowMs();
  const user: User = {
    tenant,
    subject,
    role,
    name: name ?? subject,
    disabled,
    boundBy: principal.role,
    createdMs: before?.createdMs ?? now,
    updatedMs: now,
  };
  return {
    ok: true,
    note: {
      action: before === undefined ? "user.create" : "user.update",
      object: subject,
      before: before === undefined ? null : userView(before),
      after: userView(user),
    },
    operations: [users.operation(user)],
    apply: () => users.put(user),
    accessChanges: [userChange(user)],
    outcome: done_ === "created" ? created(userView(user)) : done(userView(user)),
  };
}

function userView({ subject, name, role, disabled, createdMs, updatedMs, boundBy }: User) {
  return {
    user_id: subject,
    name,
    role,
    disabled,
    created_at: formatRfc3339(createdMs),
    updated_at: formatRfc3339(updatedMs),
    bound_by: boundBy,
  };
}

function unknownUser(subject: string) {
  return refused("not_found", `no user of this tenant has the id ${shown(subject)}; GET /api/v1/users lists them`);
}
