// Users: what the tokens of a subject may do at most in their tenant.
import { type AccessChange, ROLES } from "../../core/protocol/access.ts";
import type { UserBinding } from "../../domain/access/user-role.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { flag, number, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { type StoredKind, StoredTable } from "../state/stored-table.ts";

/** A stored user. */
export interface User extends UserBinding {
  readonly tenant: string;
  /** `sub` of the tokens. */
  readonly subject: string;
  readonly name: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

const USERS: StoredKind<User> = {
  table: "users",
  form: new StoredForm<User>("users", {
    tenant: text,
    subject: text,
    name: text,
    role: oneOf(ROLES),
    disabled: flag,
    boundBy: oneOf(ROLES),
    createdMs: number,
    updatedMs: number,
  }),
  key: ({ tenant, subject }) => new KeyBuilder().text(tenant).text(subject).finish(),
  idOf: ({ subject }) => subject,
};

/** The users of all tenants, in the order of their subjects: at most USERS_PER_TENANT_MAX each. */
export class UserBook extends StoredTable<User> {
  constructor() {
    super(USERS);
  }

  accessChanges(): AccessChange[] {
    return [...this.all()].map(userChange);
  }
}

/** User as the front has to know it. */
export function userChange({ tenant, subject, role, disabled }: User): AccessChange {
  return { type: "user", user: { tenant, subject, role, disabled } };
}
