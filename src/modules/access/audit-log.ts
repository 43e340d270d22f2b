// Rows of the audit log: who changed what, when, and how it was before and after. Written in the transaction of the change itself.
// What of a view stands in the audit log. Views are made without secrets; what a later one might let through by mistake is taken out here once more.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { AUDIT_VIEW_BYTES_MAX } from "../../core/config/limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { ROLES, type Role } from "../../core/protocol/access.ts";
import type { Principal } from "../../core/protocol/query.ts";
import { anything, nullable, number, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeKey } from "../state/tables.ts";

const REDACTED = "(redacted)";

/** Names of members whose text is a secret, whatever it is a member of. */
const SECRET_NAME =
  /(?:^|[_.-])(?:secret|password|passwd|token|credentials?|authorization|cookie|api[_-]?key|private[_-]?key|routing[_-]?key)$/i;

/** User name and password in a URL. */
const URL_CREDENTIALS = /(?<=:\/\/)[^/?#@\s]*@/g;

/** Entry of a change; `before` and `after` are views as a client may see them, without secrets, null where there was or is nothing. */
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
  /** Address of the connection; null where it is not known. */
  readonly address: string | null;
}

export const AUDIT_ENTRY = new StoredForm<AuditEntry>("audit", {
  action: text,
  object: text,
  before: anything,
  after: anything,
  id: text,
  atMs: number,
  tenant: text,
  actor: text,
  role: oneOf(ROLES),
  requestId: text,
  address: nullable(text),
});

/** Who made a change, and by which request. */
export interface ChangeOrigin {
  readonly principal: Principal;
  readonly requestId: string;
  readonly address: string | null;
}

const SEQUENCE_DIGITS = 8;

/** The row of one change. `sequence` orders those of one millisecond: an id begins with it. */
export function auditRow(note: ChangeNote, origin: ChangeOrigin, atMs: number, sequence: number): StoreOperation {
  const { principal, requestId, address } = origin;
  const { tenant, subject, role } = principal;
  const key = (sequence % 2 ** 32).toString(16).padStart(SEQUENCE_DIGITS, "0");
  const id = key + hash128(JSON.stringify([tenant, atMs, sequence, requestId])).slice(SEQUENCE_DIGITS);
  const views = { before: auditedView(note.before), after: auditedView(note.after) };
  const entry: AuditEntry = { ...note, ...views, id, atMs, tenant, actor: subject, role, requestId, address };
  return { table: "audit", key: tenantTimeKey(tenant, atMs, id), value: AUDIT_ENTRY.encode(entry) };
}

/** The view without secrets: a copy. One of more than AUDIT_VIEW_BYTES_MAX is left out, and its size told. */
export function auditedView(view: unknown): unknown {
  if (view === null || view === undefined) return null;
  const text = JSON.stringify(view, (name, value: unknown) => {
    if (typeof value !== "string") return value;
    return SECRET_NAME.test(name) ? REDACTED : value.replace(URL_CREDENTIALS, `${REDACTED}@`);
  });
  const bytes = Buffer.byteLength(text);
  return bytes > AUDIT_VIEW_BYTES_MAX ? { left_out: `${bytes} bytes; a row holds ${AUDIT_VIEW_BYTES_MAX}` } : JSON.parse(text);
}
