// Rows of the audit log: who changed what, when, and how it was before and after. Written in the transaction of the change itself.
import type { StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../../core/base/hash128.ts";
import type { Principal, Role } from "../../../core/protocol/query.ts";
import { encodeStored } from "../tables/stored-json.ts";
import { tenantTimeKey } from "../tables/tables.ts";

/** What a change says of itself; `before` and `after` are views as a client may see them, without secrets, null where there was or is nothing. */
export interface ChangeNote {
  /** The noun and what was done to it: tenant.create, label.set. */
  readonly action: string;
  /** Name of the thing among those of its kind. */
  readonly object: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A stored row. */
export interface AuditEntry extends ChangeNote {
  readonly id: string;
  readonly atMs: number;
  readonly tenant: string;
  readonly actor: string;
  readonly role: Role;
  readonly requestId: string;
}

/** The row of one change. `sequence` tells apart those of one millisecond. */
export function auditRow(note: ChangeNote, principal: Principal, requestId: string, atMs: number, sequence: number): StoreOperation {
  const { tenant, subject, role } = principal;
  const id = hash128(JSON.stringify([tenant, atMs, sequence, requestId]));
  const entry: AuditEntry = { ...note, id, atMs, tenant, actor: subject, role, requestId };
  return { table: "audit", key: tenantTimeKey(tenant, atMs, id), value: encodeStored(entry) };
}
