// What a noun brings to the coordinator, in one object; nouns/modules.ts folds them.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { CoordinatorCounter, CoordinatorSharedLimit } from "../../core/layout/counters.ts";
import type { PatternCache } from "../../domain/alerting/pattern/pattern-cache.ts";
import type { RetentionStep, RetentionTerms } from "./retention-step.ts";

/** A table's key and value, in words. */
export interface TableForm {
  readonly key: string;
  readonly value: string;
}

/** Tables of both environments by their names. */
export interface NounTables {
  readonly control?: Readonly<Record<string, TableForm>>;
  readonly series?: Readonly<Record<string, TableForm>>;
}

/** Sources that Books of configured things are made with. */
export interface BookSources {
  /** Shares of tenants in a limit that they share. */
  share(limit: CoordinatorSharedLimit): ShareLedger;
  readonly patterns: PatternCache;
}

/** The types of its parts are the noun's own: what its handlers, gauges and retention use is what its context and its functions name. */
export interface NounModule {
  readonly tables?: NounTables;
  /** Makes its Books of what people configure; each is read from its table at the start. */
  readonly configured?: (sources: never) => object;
  /** By the endpoint's name. */
  readonly handlers?: Readonly<Record<string, (context: never, request: never) => unknown>>;
  /** Gauges of how much there is. */
  readonly gauges?: (state: never) => Partial<Record<CoordinatorCounter, number>>;
  /** Deletes what is past its time or over its number. */
  readonly expire?: (sources: never, terms: RetentionTerms) => Generator<RetentionStep>;
  /** Puts together what is kept, behind all deletions: they make room for it. */
  readonly gather?: (sources: never, terms: RetentionTerms) => Generator<RetentionStep>;
}
