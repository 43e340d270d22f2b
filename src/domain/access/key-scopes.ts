// Scopes of API keys: the part of a tenant that a program is let into.
import type { KeyScope, Role } from "../../core/protocol/access.ts";

interface ScopeRights {
  /** The role that a key acts as; an ingestion key's counts for nothing but telemetry. */
  readonly role: Role;
  /** May write telemetry. */
  readonly writes: boolean;
  /** May call anything but what writes telemetry. */
  readonly asks: boolean;
}

const RIGHTS: Readonly<Record<KeyScope, ScopeRights>> = {
  ingestion: { role: "viewer", writes: true, asks: false },
  readonly: { role: "viewer", writes: false, asks: true },
  readwrite: { role: "operator", writes: true, asks: true },
  admin: { role: "admin", writes: true, asks: true },
};

/** Rights of a key of this scope. */
export function rightsOf(scope: KeyScope): ScopeRights {
  return RIGHTS[scope];
}
