// The groups of rules of all tenants, in memory: those that came by the API, as they are stored, and those of RULES_DIR, as its files were read last.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { StoredTable } from "../state/stored-table.ts";
import type { RuleAlertBook } from "./rule-alert-book.ts";
import { groupIdOf, RULE_GROUPS, type RuleGroupEntry } from "./rule-group-row.ts";

/** The books of rules, as handlers and others find them. */
export interface RuleBooks {
  readonly rules: RuleBook;
  readonly ruleAlerts: RuleAlertBook;
}

/** Groups by file and name; who holds how many rules of them. */
export class RuleBook extends StoredTable<RuleGroupEntry> {
  #version = 0;

  constructor(shares?: ShareLedger) {
    super(RULE_GROUPS, shares);
  }

  /** A number that is another after each change of a group. */
  get version(): number {
    return this.#version;
  }

  /** The group of a name: that of the API, else the first of a file. */
  named(tenant: string, name: string): RuleGroupEntry | undefined {
    return this.find(tenant, groupIdOf("", name)) ?? this.of(tenant).find(({ document }) => document.name === name);
  }

  override put(entry: RuleGroupEntry): RuleGroupEntry | undefined {
    this.#version++;
    return super.put(entry);
  }

  override remove(tenant: string, id: string): RuleGroupEntry | undefined {
    const entry = super.remove(tenant, id);
    if (entry !== undefined) this.#version++;
    return entry;
  }
}
