// Tenants of this server, by id. The tenant `default` is always there.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { firstIndex } from "../../core/collections/sorted-search.ts";
import type { AccessChange } from "../../core/protocol/access.ts";
import { DEFAULT_TENANT } from "../../domain/access/access-policy.ts";
import { PLANS, type Plan } from "../../domain/access/plans.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { nullable, number, oneOf, StoredForm, text } from "../state/stored-json.ts";

/** A tenant as stored. */
export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Null where none was given. */
  readonly contactEmail: string | null;
  readonly createdMs: number;
}

const TENANT = new StoredForm<Tenant>("tenants", {
  id: text,
  name: text,
  plan: oneOf(PLANS),
  contactEmail: nullable(text),
  createdMs: number,
});

function tenantKey(id: string): Uint8Array {
  return new KeyBuilder().text(id).finish();
}

/** Writes a tenant. */
export function tenantOperation(tenant: Tenant): StoreOperation {
  return { table: "tenants", key: tenantKey(tenant.id), value: TENANT.encode(tenant) };
}

/** Tenant as the front has to know it. */
export function tenantChange({ id, plan }: Tenant): AccessChange {
  return { type: "tenant", tenant: { tenant: id, plan } };
}

/** All tenants, in memory: 300 B each. */
export class TenantBook {
  readonly #tenants = new Map<string, Tenant>();
  #ids: readonly string[] | undefined;

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "tenants")) this.put(TENANT.decode(value));
  }

  /** Adds the default tenant where it is missing: at the first start. */
  async found(store: KeyValueStore, createdMs: number): Promise<void> {
    if (this.get(DEFAULT_TENANT) !== undefined) return;
    const tenant: Tenant = { id: DEFAULT_TENANT, name: "Default", plan: "enterprise", contactEmail: null, createdMs };
    await store.commit([tenantOperation(tenant)]);
    this.put(tenant);
  }

  get size(): number {
    return this.#tenants.size;
  }

  get(id: string): Tenant | undefined {
    return this.#tenants.get(id);
  }

  /** Takes over a tenant that was committed. */
  put(tenant: Tenant): void {
    if (!this.#tenants.has(tenant.id)) this.#ids = undefined;
    this.#tenants.set(tenant.id, tenant);
  }

  /** Up to `limit` tenants behind an id, in the order of ids. */
  page(after: string, limit: number): Tenant[] {
    this.#ids ??= [...this.#tenants.keys()].sort();
    const ids = this.#ids;
    const from = firstIndex(0, ids.length, (index) => (ids[index] as string) <= after);
    return ids.slice(from, from + limit).map((id) => this.#tenants.get(id) as Tenant);
  }

  /** All of them as the front has to know them, `default` first: it has number 0 there. */
  accessChanges(): AccessChange[] {
    const others = [...this.#tenants.values()].filter(({ id }) => id !== DEFAULT_TENANT);
    return [this.#tenants.get(DEFAULT_TENANT) as Tenant, ...others].map(tenantChange);
  }
}
