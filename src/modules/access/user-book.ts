// Users: what the tokens of a subject may do at most in their tenant.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { type AccessChange, ROLES } from "../../core/protocol/access.ts";
import type { UserBinding } from "../../domain/access/user-role.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { flag, number, oneOf, StoredForm, text } from "../state/stored-json.ts";

/** A stored user. */
export interface User extends UserBinding {
  readonly tenant: string;
  /** `sub` of the tokens. */
  readonly subject: string;
  readonly name: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

const USER = new StoredForm<User>("users", {
  tenant: text,
  subject: text,
  name: text,
  role: oneOf(ROLES),
  disabled: flag,
  boundBy: oneOf(ROLES),
  createdMs: number,
  updatedMs: number,
});

/** Stores a user. */
export function putUserRow(user: User): StoreOperation {
  return { table: "users", key: storeKey(user), value: USER.encode(user) };
}

/** Deletes a user. */
export function removeUserRow(user: User): StoreOperation {
  return { table: "users", key: storeKey(user), value: undefined };
}

function storeKey({ tenant, subject }: User): Uint8Array {
  return new KeyBuilder().text(tenant).text(subject).finish();
}

/** The users of all tenants: at most USERS_PER_TENANT_MAX each. */
export class UserBook {
  readonly #users = new TenantTable<User>(({ subject }) => subject);

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "users")) this.put(USER.decode(value));
  }

  /** Takes a user over; gives what the front has to know. */
  put(user: User): AccessChange {
    this.#users.put(user);
    return accessChange(user);
  }

  remove({ tenant, subject }: User): AccessChange {
    this.#users.remove(tenant, subject);
    return { type: "user-gone", tenant, subject };
  }

  find(tenant: string, subject: string): User | undefined {
    return this.#users.find(tenant, subject);
  }

  count(tenant: string): number {
    return this.#users.sizeOf(tenant);
  }

  /** Users of a tenant in the order of their subjects. */
  of(tenant: string): User[] {
    return this.#users.of(tenant).sort((a, b) => (a.subject < b.subject ? -1 : 1));
  }

  accessChanges(): AccessChange[] {
    return [...this.#users.all()].map(accessChange);
  }
}

function accessChange({ tenant, subject, role, disabled }: User): AccessChange {
  return { type: "user", user: { tenant, subject, role, disabled } };
}
