// API keys and users as the coordinator reports them.
import { TenantTable } from "../../../core/collections/tenant-table.ts";
import type { AccessChange, KeyRecord, UserRecord } from "../../../core/protocol/access.ts";

/** Credentials in force now. Bounded where it is written: KEYS_PER_TENANT_MAX and USERS_PER_TENANT_MAX. */
export class CredentialDirectory {
  readonly #keys = new Map<string, KeyRecord>();
  readonly #users = new TenantTable<UserRecord>(({ subject }) => subject);
  #onChange: (change: AccessChange) => void = () => {};
  /** Whether what is stored has been read. */
  isLoaded = false;

  /** Tells of each change once it is in force. */
  onChange(listener: (change: AccessChange) => void): void {
    this.#onChange = listener;
  }

  /** Takes changes over; they are in force when this returns. */
  takeAll(changes: readonly AccessChange[]): void {
    for (const change of changes) this.take(change);
    this.isLoaded = true;
  }

  /** Takes one change over. */
  take(change: AccessChange): void {
    if (change.type === "key") this.#keys.set(change.key.keyId, change.key);
    else if (change.type === "key-gone") this.#keys.delete(change.keyId);
    else if (change.type === "user") this.#users.put(change.user);
    else if (change.type === "user-gone") this.#users.remove(change.tenant, change.subject);
    else if (change.type === "tenant-gone") this.#removeTenant(change.tenant);
    this.#onChange(change);
  }

  key(keyId: string): KeyRecord | undefined {
    return this.#keys.get(keyId);
  }

  user(tenant: string, subject: string): UserRecord | undefined {
    return this.#users.find(tenant, subject);
  }

  #removeTenant(tenant: string): void {
    for (const { subject } of this.#users.of(tenant)) this.#users.remove(tenant, subject);
    for (const [keyId, key] of this.#keys) if (key.tenant === tenant) this.#keys.delete(keyId);
  }
}
