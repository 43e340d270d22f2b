// The webhooks of all tenants, in memory as they are stored.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import { StoredTable } from "../state/stored-table.ts";
import { WEBHOOKS } from "./webhook-row.ts";

export class WebhookBook extends StoredTable<Webhook> {
  readonly #byId = new Map<string, Webhook>();

  constructor(shares?: ShareLedger) {
    super(WEBHOOKS, shares);
  }

  byId(id: string): Webhook | undefined {
    return this.#byId.get(id);
  }

  override put(webhook: Webhook): Webhook | undefined {
    this.#byId.set(webhook.id, webhook);
    return super.put(webhook);
  }

  override remove(tenant: string, name: string): Webhook | undefined {
    const webhook = super.remove(tenant, name);
    if (webhook !== undefined) this.#byId.delete(webhook.id);
    return webhook;
  }
}

/** Book of webhooks, and the cache that their patterns are matched by. */
export interface WebhookBooks {
  readonly webhooks: WebhookBook;
  readonly patterns: PatternCache;
}
