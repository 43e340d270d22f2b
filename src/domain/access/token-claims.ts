// What a JWT whose signature and times have been checked says of its bearer.

import { ownMember } from "../../core/collections/own-member.ts";
import { SUBJECT_CHARACTERS_MAX, TENANT_CHARACTERS_MAX } from "../../core/config/key-limits.ts";
import { ROLES, type Role } from "../../core/protocol/access.ts";
import { isPlainName } from "../series/name-rule.ts";
import { parseRole } from "./roles.ts";

/** Under which names the tenant and the role stand. */
export interface ClaimNames {
  readonly tenant: string;
  readonly role: string;
}

/** Who a token speaks for, before the users of its tenant have been asked. */
export interface TokenIdentity {
  readonly subject: string;
  readonly tenant: string;
  readonly role: Role;
  /** Seconds since 1970 from which on it is nothing. */
  readonly expiresAt: number;
}

export type ClaimsOutcome = { readonly ok: true; readonly identity: TokenIdentity } | { readonly ok: false; readonly message: string };

/** Subjects of those who come without a token: nobody else may pass for one of them in the audit log. */
const OWN_SUBJECT = /^(?:local|visitor|admin-token|alertmanager|key:.*)$/;

/** Reads the claims. Only own members count: a claim named `__proto__` or `constructor` is one like any other. */
export function readClaims(claims: Readonly<Record<string, unknown>>, names: ClaimNames): ClaimsOutcome {
  const subject = ownMember(claims, "sub");
  const tenant = ownMember(claims, names.tenant);
  const role = parseRole(ownMember(claims, names.role));
  const expiresAt = ownMember(claims, "exp");
  if (!isName(subject, SUBJECT_CHARACTERS_MAX)) return refused("sub", `a text of 1 to ${SUBJECT_CHARACTERS_MAX} printable characters`);
  if (OWN_SUBJECT.test(subject))
    return refused("sub", "none of the names that the server itself gives: local, visitor, admin-token, alertmanager, key:...");
  if (!isName(tenant, TENANT_CHARACTERS_MAX)) return refused(names.tenant, `a text of 1 to ${TENANT_CHARACTERS_MAX} printable characters`);
  if (role === undefined) return refused(names.role, `one of ${ROLES.join(", ")}`);
  if (typeof expiresAt !== "number" || !Number.isFinite(expiresAt)) return refused("exp", "a number of seconds since 1970");
  return { ok: true, identity: { subject, tenant, role, expiresAt } };
}

function isName(value: unknown, lengthMax: number): value is string {
  return typeof value === "string" && value.length <= lengthMax && isPlainName(value);
}

function refused(claim: string, wanted: string): ClaimsOutcome {
  return { ok: false, message: `the token's claim ${claim} must be ${wanted}` };
}
