// The groups of rules of all tenants, in memory: those that came by the API, as they are stored, and those of RULES_DIR, as its files were read last.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { scan } from "../state/scan.ts";
import type { RuleAlertBook } from "./rule-alert-book.ts";
import { groupIdOf, type RuleGroupEntry, readRuleGroup } from "./rule-group-row.ts";

/** The books of rules, as handlers and others find them. */
export interface RuleBooks {
  readonly rules: RuleBook;
  readonly ruleAlerts: RuleAlertBook;
}

/** Groups of a tenant by their ids, in the order in which they came. */
type Groups = Map<string, RuleGroupEntry>;

export class RuleBook {
  /** Who has how many rules. */
  readonly shares: ShareLedger;
  readonly #tenants = new Map<string, Groups>();
  #groups = 0;
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
    return this.#groups;
  }

  /** Number of tenants with groups. */
  get tenants(): number {
    return this.#tenants.size;
  }

  /** All groups, tenant by tenant. */
  *all(): Iterable<RuleGroupEntry> {
    for (const groups of this.#tenants.values()) yield* groups.values();
  }

  /** Groups of a tenant, by file and name. */
  of(tenant: string): RuleGroupEntry[] {
    const order = ({ file, document }: RuleGroupEntry) => groupIdOf(file, document.name);
    return [...(this.#tenants.get(tenant)?.values() ?? [])].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }

  /** The group of a name: that of the API, else the first of a file. */
  find(tenant: string, name: string): RuleGroupEntry | undefined {
    return this.byId(tenant, groupIdOf("", name)) ?? this.of(tenant).find(({ document }) => document.name === name);
  }

  byId(tenant: string, id: string): RuleGroupEntry | undefined {
    return this.#tenants.get(tenant)?.get(id);
  }

  put(entry: RuleGroupEntry): void {
    const { tenant, file, document } = entry;
    const groups = this.#tenants.get(tenant) ?? new Map<string, RuleGroupEntry>();
    this.#tenants.set(tenant, groups);
    const id = groupIdOf(file, document.name);
    const before = groups.get(id);
    if (before === undefined) this.#groups++;
    this.shares.add(tenant, document.rules.length - (before?.document.rules.length ?? 0));
    groups.set(id, entry);
    this.#version++;
  }

  remove({ tenant, file, document }: RuleGroupEntry): void {
    const groups = this.#tenants.get(tenant);
    const id = groupIdOf(file, document.name);
    const before = groups?.get(id);
    if (groups === undefined || before === undefined) return;
    groups.delete(id);
    this.#version++;
    this.#groups--;
    this.shares.give(tenant, before.document.rules.length);
    if (groups.size === 0) this.#tenants.delete(tenant);
  }
}
