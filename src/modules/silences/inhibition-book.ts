// Inhibition rules of people as they are stored, ready to be asked.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import {
  type CompiledInhibition,
  compileInhibition,
  type InhibitionRule,
  type InhibitionRules,
} from "../../domain/alerting/inhibition/inhibition-rule.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { list, number, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";
import { MATCHERS } from "./silence-book.ts";

/** A rule with who made it. */
export interface StoredInhibition extends InhibitionRule {
  readonly createdBy: string;
  readonly createdMs: number;
}

const INHIBITION = new StoredForm<StoredInhibition>("inhibitions", {
  id: text,
  tenant: text,
  sourceMatchers: MATCHERS,
  targetMatchers: MATCHERS,
  equal: list(text),
  comment: text,
  createdBy: text,
  createdMs: number,
});

interface CompiledRule extends CompiledInhibition {
  readonly rule: StoredInhibition;
}

const NONE: readonly CompiledRule[] = [];

/** A change of one rule. */
export function inhibitionOperation(
  { tenant, id }: Pick<StoredInhibition, "tenant" | "id">,
  rule: StoredInhibition | undefined,
): StoreOperation {
  return { table: "inhibitions", key: new KeyBuilder().text(tenant).fixed(idBytes(id)).finish(), value: rule && INHIBITION.encode(rule) };
}

/** The committed rules of all tenants. */
export class InhibitionBook implements InhibitionRules {
  readonly #patterns: PatternCache;
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #tenants = new Map<string, readonly CompiledRule[]>();

  constructor(patterns: PatternCache, shares = ShareLedger.alone()) {
    this.#patterns = patterns;
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "inhibitions")) this.put(INHIBITION.decode(value));
  }

  /** Number of inhibitions of all tenants. */
  get size(): number {
    return this.shares.taken;
  }

  put(rule: StoredInhibition): void {
    const rules = [...this.rulesOf(rule.tenant), { ...compileInhibition(rule, this.#patterns), rule }].sort((a, b) =>
      inOrder(a.rule, b.rule),
    );
    this.#tenants.set(rule.tenant, rules);
    this.shares.add(rule.tenant);
  }

  remove(tenant: string, id: string): void {
    const rules = this.rulesOf(tenant).filter(({ rule }) => rule.id !== id);
    this.shares.give(tenant, this.rulesOf(tenant).length - rules.length);
    if (rules.length > 0) this.#tenants.set(tenant, rules);
    else this.#tenants.delete(tenant);
  }

  /** Keeps a rule in the list, but asks it no more. */
  withhold(tenant: string, id: string): void {
    const never = { isSource: () => false, isTarget: () => false };
    this.#tenants.set(
      tenant,
      this.rulesOf(tenant).map((compiled) => (compiled.rule.id === id ? { ...compiled, ...never } : compiled)),
    );
  }

  find(tenant: string, id: string): StoredInhibition | undefined {
    return this.rulesOf(tenant).find(({ rule }) => rule.id === id)?.rule;
  }

  tenants(): IterableIterator<string> {
    return this.#tenants.keys();
  }

  rulesOf(tenant: string): readonly CompiledRule[] {
    return this.#tenants.get(tenant) ?? NONE;
  }
}

function inOrder(a: StoredInhibition, b: StoredInhibition): number {
  return a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1);
}
