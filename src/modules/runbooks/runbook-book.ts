// The runbooks of all tenants, in memory as they are stored.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import { matchesRunbook, matchWeight, type Runbook, type RunbookSubject } from "../../domain/runbooks/runbook.ts";
import { searched } from "../../domain/webhooks/webhook.ts";
import { scan } from "../state/scan.ts";
import { RUNBOOK, runbookKey } from "./runbook-row.ts";

export class RunbookBook {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #patterns: PatternCache;
  readonly #runbooks = new TenantTable<Runbook>(({ id }) => id);

  constructor(patterns: PatternCache, shares = ShareLedger.alone()) {
    this.#patterns = patterns;
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "runbooks")) this.put(RUNBOOK.decode(value));
  }

  get size(): number {
    return this.#runbooks.size;
  }

  /** Runbooks of a tenant, by id. */
  of(tenant: string): Runbook[] {
    return this.#runbooks.of(tenant).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  has(tenant: string): boolean {
    return this.#runbooks.has(tenant);
  }

  find(tenant: string, id: string): Runbook | undefined {
    return this.#runbooks.find(tenant, id);
  }

  /** Those that are for a subject, the one that names most of it first. */
  matching(tenant: string, subject: RunbookSubject): Runbook[] {
    const finds = (pattern: string, value: string) => this.#patterns.matches(searched(pattern), value) === true;
    const matching = this.of(tenant).filter((runbook) => matchesRunbook(runbook, subject, finds));
    return matching.sort((a, b) => matchWeight(b) - matchWeight(a));
  }

  /** Name of the runbook that is suggested for a subject; empty where none matches. */
  suggested(tenant: string, subject: RunbookSubject): string {
    return this.matching(tenant, subject)[0]?.name ?? "";
  }

  operation(runbook: Runbook): StoreOperation {
    return { table: "runbooks", key: runbookKey(runbook.tenant, runbook.id), value: RUNBOOK.encode(runbook) };
  }

  removal({ tenant, id }: Runbook): StoreOperation {
    return { table: "runbooks", key: runbookKey(tenant, id), value: undefined };
  }

  put(runbook: Runbook): void {
    if (this.#runbooks.put(runbook) === undefined) this.shares.add(runbook.tenant);
  }

  remove({ tenant, id }: Runbook): void {
    if (this.#runbooks.remove(tenant, id) !== undefined) this.shares.give(tenant, 1);
  }
}
