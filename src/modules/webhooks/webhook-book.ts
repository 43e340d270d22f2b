// The webhooks of all tenants, in memory as they are stored.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import { scan } from "../state/scan.ts";
import { WEBHOOK, webhookKey } from "./webhook-row.ts";

export class WebhookBook {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #webhooks = new TenantTable<Webhook>(({ name }) => name);
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
    return this.#webhooks.of(tenant).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  has(tenant: string): boolean {
    return this.#webhooks.has(tenant);
  }

  find(tenant: string, name: string): Webhook | undefined {
    return this.#webhooks.find(tenant, name);
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
    if (this.#webhooks.put(webhook) === undefined) this.shares.add(webhook.tenant);
    this.#byId.set(webhook.id, webhook);
  }

  remove({ tenant, name, id }: Webhook): void {
    if (this.#webhooks.remove(tenant, name) === undefined) return;
    this.#byId.delete(id);
    this.shares.give(tenant, 1);
  }
}

/** Book of webhooks, and the cache that their patterns are matched by. */
export interface WebhookBooks {
  readonly webhooks: WebhookBook;
  readonly patterns: PatternCache;
}
