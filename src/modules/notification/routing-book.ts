// Routing rules of all tenants as they are stored, in the order in which they are asked. Each tenant has a catch-all behind its own rules.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { KeyBuilder, KeyReader } from "../../domain/codec/key.ts";
import type { DestinationSettings } from "../../domain/notification/destinations.ts";
import { inOrder, type RoutingRule } from "../../domain/notification/routing-rule.ts";
import { CATCH_ALL_ID, type CatchAllEdit, catchAllRule } from "../../domain/notification/routing-rules.ts";
import { scan } from "../state/scan.ts";
import { list, nullable, number, oneOf, record, StoredForm, text } from "../state/stored-json.ts";

export interface RoutingSettings {
  readonly destinations: DestinationSettings;
  /** ROUTING_DEFAULT_CHANNELS; null where it is not set. */
  readonly defaultChannels: readonly string[] | null;
}

const NOTHING = { named: [], enabled: false, initial: null } as const;
/** No notifier at all. */
const NO_ROUTING: RoutingSettings = {
  destinations: { chat: NOTHING, pager: NOTHING, email: { ...NOTHING, allowedDomains: [] }, oncall: NOTHING },
  defaultChannels: null,
};

interface TenantRules {
  readonly rules: readonly RoutingRule[];
  readonly catchAll: CatchAllEdit | undefined;
}

const NO_RULES: TenantRules = { rules: [], catchAll: undefined };

const RULE = new StoredForm<RoutingRule>("routing_rules", {
  id: text,
  name: text,
  priority: number,
  labelMatchers: record(text),
  servicePattern: nullable(text),
  severity: nullable(oneOf(["low", "medium", "high"])),
  source: nullable(text),
  environment: nullable(text),
  channels: list(text),
  createdAtMs: number,
});
const CATCH_ALL = new StoredForm<CatchAllEdit>("routing_rules", { name: text, channels: nullable(list(text)) });

function encode(stored: RoutingRule | CatchAllEdit): Uint8Array {
  return "priority" in stored ? RULE.encode(stored) : CATCH_ALL.encode(stored);
}

/** A change of one rule, or of a catch-all. */
export function ruleOperation(tenant: string, id: string, stored: RoutingRule | CatchAllEdit | undefined): StoreOperation {
  return { table: "routing_rules", key: new KeyBuilder().text(tenant).text(id).finish(), value: stored && encode(stored) };
}

export class RoutingBook {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #settings: RoutingSettings;
  readonly #tenants = new Map<string, TenantRules>();

  constructor(settings: RoutingSettings = NO_ROUTING, shares = ShareLedger.alone()) {
    this.#settings = settings;
    this.shares = shares;
  }

  get destinations(): DestinationSettings {
    return this.#settings.destinations;
  }

  load(store: KeyValueStore): void {
    for (const { key, value } of scan(store, "routing_rules")) {
      const reader = new KeyReader(key);
      const [tenant, id] = [reader.text(), reader.text()];
      if (id === CATCH_ALL_ID) this.editCatchAll(tenant, CATCH_ALL.decode(value));
      else this.put(tenant, RULE.decode(value));
    }
  }

  /** All rules of a tenant in their order, the catch-all last. */
  rulesOf(tenant: string): readonly RoutingRule[] {
    return [...this.#of(tenant).rules, this.catchAllOf(tenant)];
  }

  catchAllOf(tenant: string): RoutingRule {
    const { destinations, defaultChannels } = this.#settings;
    return catchAllRule(destinations, tenant, this.#of(tenant).catchAll, defaultChannels);
  }

  find(tenant: string, id: string): RoutingRule | undefined {
    return id === CATCH_ALL_ID ? this.catchAllOf(tenant) : this.#of(tenant).rules.find((rule) => rule.id === id);
  }

  put(tenant: string, rule: RoutingRule): void {
    const known = this.#of(tenant);
    const others = known.rules.filter(({ id }) => id !== rule.id);
    if (others.length === known.rules.length) this.shares.add(tenant);
    this.#tenants.set(tenant, { ...known, rules: inOrder([...others, rule]) });
  }

  remove(tenant: string, id: string): void {
    const known = this.#of(tenant);
    const rules = known.rules.filter((rule) => rule.id !== id);
    this.shares.give(tenant, known.rules.length - rules.length);
    this.#tenants.set(tenant, { ...known, rules });
  }

  editCatchAll(tenant: string, catchAll: CatchAllEdit): void {
    this.#tenants.set(tenant, { ...this.#of(tenant), catchAll });
  }

  #of(tenant: string): TenantRules {
    return this.#tenants.get(tenant) ?? NO_RULES;
  }
}

export interface RoutingBooks {
  readonly routing: RoutingBook;
}
