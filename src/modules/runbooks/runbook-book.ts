// The runbooks of all tenants, in memory as they are stored.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import { matchesRunbook, matchWeight, type Runbook, type RunbookSubject } from "../../domain/runbooks/runbook.ts";
import { searched } from "../../domain/webhooks/webhook.ts";
import { StoredTable } from "../state/stored-table.ts";
import { RUNBOOKS } from "./runbook-row.ts";

export class RunbookBook extends StoredTable<Runbook> {
  readonly #patterns: PatternCache;

  constructor(patterns: PatternCache, shares?: ShareLedger) {
    super(RUNBOOKS, shares);
    this.#patterns = patterns;
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
}
