// The groups of rules of all tenants, in memory: those that came by the API, as they are stored, and those of RULES_DIR, as its files were read last.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { scan } from "../state/scan.ts";
import type { RuleAlertBook } from "./rule-alert-book.ts";
import { groupIdOf, type RuleGroupEntry, readRuleGroup } from "./rule-group-row.ts";

/** The books of rules, as handlers and others find them. */
export interface RuleBooks {
  readonly rules: RuleBook;
  readonly ruleAlerts: RuleAlertBook;
}

export class RuleBook {
  /** Who has how many rules. */
  readonly shares: ShareLedger;
  readonly #groups = new TenantTable<RuleGroupEntry>(({ file, document }) => groupIdOf(file, document.name));
  #version = 0;

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "rule_groups")) this.put(readRuleGroup(value));
  }

  /** A number that is another after each change of a group. */
  get version(): number {
    return this.#version;
  }

  /** Number of groups of all tenants. */
  get size(): number {
    return this.#groups.size;
  }

  /** Number of tenants with groups. */
  get tenants(): number {
    return [...this.#groups.tenants].length;
  }

  /** All groups, tenant by tenant. */
  all(): Iterable<RuleGroupEntry> {
    return this.#groups.all();
  }

  /** Groups of a tenant, by file and name. */
  of(tenant: string): RuleGroupEntry[] {
    const order = ({ file, document }: RuleGroupEntry) => groupIdOf(file, document.name);
    return this.#groups.of(tenant).sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }

  /** The group of a name: that of the API, else the first of a file. */
  find(tenant: string, name: string): RuleGroupEntry | undefined {
    return this.byId(tenant, groupIdOf("", name)) ?? this.of(tenant).find(({ document }) => document.name === name);
  }

  byId(tenant: string, id: string): RuleGroupEntry | undefined {
    return this.#groups.find(tenant, id);
  }

  put(entry: RuleGroupEntry): void {
    const before = this.#groups.put(entry);
    this.shares.add(entry.tenant, entry.document.rules.length - (before?.document.rules.length ?? 0));
    this.#version++;
  }

  remove({ tenant, file, document }: RuleGroupEntry): void {
    const before = this.#groups.remove(tenant, groupIdOf(file, document.name));
    if (before === undefined) return;
    this.#version++;
    this.shares.give(tenant, before.document.rules.length);
  }
}
