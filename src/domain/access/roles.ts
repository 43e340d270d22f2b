// Roles and what each may do.
import { ROLES, type Role } from "../../core/protocol/access.ts";

const LEVELS: Readonly<Record<Role, number>> = { viewer: 10, operator: 20, admin: 30, super_admin: 40, system: 50 };

/** Permissions that a role adds to those of the one below it. */
const ADDED: Readonly<Record<Role, readonly string[]>> = {
  viewer: ["read"],
  operator: ["write", "modify:thresholds", "execute:runbooks"],
  admin: ["manage_keys", "manage_users", "manage_webhooks", "manage_routing", "train_models"],
  super_admin: ["manage_tenants", "read:billing"],
  system: ["internal"],
};

/** Number of a role: more means that it may do more. */
export function levelOf(role: Role): number {
  return LEVELS[role];
}

/** Everything that a role may do, its own after those of the roles below it. */
export function permissionsOf(role: Role): readonly string[] {
  return ROLES.slice(0, ROLES.indexOf(role) + 1).flatMap((name) => ADDED[name]);
}

/** Whether `role` may do what `needed` may. */
export function reaches(role: Role, needed: Role): boolean {
  return LEVELS[role] >= LEVELS[needed];
}

/** The one of two roles that may do less. */
export function lowerRole(a: Role, b: Role): Role {
  return LEVELS[a] <= LEVELS[b] ? a : b;
}

/** Reads a role as identity providers write it: any case, words joined by `_` or `-`. Undefined for anything else, whatever its type. */
export function parseRole(value: unknown): Role | undefined {
  if (typeof value !== "string") return undefined;
  const name = value.toLowerCase().replaceAll("-", "_");
  return ROLES.find((role) => role === name);
}
