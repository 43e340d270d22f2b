// The webhooks of all tenants, in memory as they are stored.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import { scan } from "../state/scan.ts";
import { WEBHOOK, webhookKey } from "./webhook-row.ts";

export class WebhookBook {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #tenants = new Map<string, Map<string, Webhook>>();
  readonly #byId = new Map<string, Webhook>();

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "webhooks")) this.put(WEBHOOK.decode(value));
  }

  get size(): number {
    return this.#byId.size;
  }

  get all(): Iterable<Webhook> {
    return this.#byId.values();
  }

  /** Webhooks of a tenant, by name. */
  of(tenant: string): Webhook[] {
    return [...(this.#tenants.get(tenant)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  has(tenant: string): boolean {
    return this.#tenants.has(tenant);
  }

  find(tenant: string, name: string): Webhook | undefined {
    return this.#tenants.get(tenant)?.get(name);
  }

  byId(id: string): Webhook | undefined {
    return this.#byId.get(id);
  }

  operation(webhook: Webhook): StoreOperation {
    return { table: "webhooks", key: webhookKey(webhook.tenant, webhook.name), value: WEBHOOK.encode(webhook) };
  }

  removal({ tenant, name }: Webhook): StoreOperation {
    return { table: "webhooks", key: webhookKey(tenant, name), value: undefined };
  }

  put(webhook: Webhook): void {
    const own = this.#tenants.get(webhook.tenant) ?? new Map<string, Webhook>();
    this.#tenants.set(webhook.tenant, own);
    if (!own.has(webhook.name)) this.shares.add(webhook.tenant);
    own.set(webhook.name, webhook);
    this.#byId.set(webhook.id, webhook);
  }

  remove({ tenant, name, id }: Webhook): void {
    const own = this.#tenants.get(tenant);
    if (own?.delete(name) !== true) return;
    this.#byId.delete(id);
    this.shares.give(tenant, 1);
    if (own.size === 0) this.#tenants.delete(tenant);
  }
}

/** Book of webhooks, and the cache that their patterns are matched by. */
export interface WebhookBooks {
  readonly webhooks: WebhookBook;
  readonly patterns: PatternCache;
}
