// Users bind a token's subject to a role, or take its rights away: a token's own role may not exceed the user's.
import type { Role } from "../../core/protocol/access.ts";
import { levelOf, lowerRole, reaches } from "./roles.ts";

/** Binding of one subject of a tenant. */
export interface UserBinding {
  readonly role: Role;
  /** True: whoever comes with a token of this subject is refused. */
  readonly disabled: boolean;
  /** The role of whoever set this: nobody below it may change it, or a role that was taken away could be taken back. */
  readonly boundBy: Role;
}

/** The role that a token counts with; null where its subject is disabled. Subjects that nobody has bound have the role that their token says. */
export function boundRole(own: Role, binding: Pick<UserBinding, "role" | "disabled"> | undefined): Role | null {
  if (binding === undefined) return own;
  return binding.disabled ? null : lowerRole(own, binding.role);
}

/** Who changes a user, and which. */
export interface UserChange {
  readonly actor: { readonly subject: string; readonly role: Role };
  readonly subject: string;
  readonly before: UserBinding | undefined;
  /** The role after it; undefined where the user is deleted. */
  readonly role: Role | undefined;
}

/** Why somebody may not change a user, or null where it is allowed. */
export function refuseUserChange({ actor, subject, before, role }: UserChange): string | null {
  if (actor.subject === subject) return "nobody changes the user that they are themselves; another admin can";
  if (role !== undefined && !reaches(actor.role, role)) return `the role ${role} is above your own (${actor.role}): only ${role} grants it`;
  if (before === undefined) return null;
  const guard = levelOf(before.role) >= levelOf(before.boundBy) ? before.role : before.boundBy;
  return reaches(actor.role, guard) ? null : `this user was set by, or has, the role ${guard}, which is above your own (${actor.role})`;
}
