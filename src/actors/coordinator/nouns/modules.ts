// The nouns of the coordinator, folded: their tables, handlers, Books of configured things, gauges and retention. What is missing here does not compile.
import type { PackedTableOptions } from "../../../adapters/storage/packed-store.ts";
import { ACCESS } from "../../../modules/access/access-module.ts";
import { ALERT_ACTIONS } from "../../../modules/alert-actions/alert-actions-module.ts";
import { ALERTS } from "../../../modules/alerts/alerts-module.ts";
import { ANALYSIS } from "../../../modules/analysis/analysis-module.ts";
import { ANOMALIES } from "../../../modules/anomalies/anomalies-module.ts";
import { isEndedRow } from "../../../modules/anomalies/anomaly-row.ts";
import { BACKTEST } from "../../../modules/backtest/backtest-module.ts";
import { BACKUP } from "../../../modules/backup/backup-module.ts";
import { CALLS } from "../../../modules/calls/calls-module.ts";
import { CONFIGURATION } from "../../../modules/configuration/configuration-module.ts";
import { DEAD_LETTERS } from "../../../modules/dead-letters/dead-letters-module.ts";
import { LABELS } from "../../../modules/labels/labels-module.ts";
import { LEDGER } from "../../../modules/ledger/ledger-module.ts";
import { MODELS } from "../../../modules/models/models-module.ts";
import { NOTIFICATION } from "../../../modules/notification/notification-module.ts";
import { PILLARS } from "../../../modules/pillars/pillars-module.ts";
import { PREDICTION } from "../../../modules/prediction/prediction-module.ts";
import type { QueryHandlers } from "../../../modules/queries/query-context.ts";
import { RECORDS } from "../../../modules/records/records-module.ts";
import { RULES } from "../../../modules/rules/rules-module.ts";
import { RUNBOOKS } from "../../../modules/runbooks/runbooks-module.ts";
import { SATURATION } from "../../../modules/saturation/saturation-module.ts";
import { SERIES } from "../../../modules/series/series-module.ts";
import { SERVICES } from "../../../modules/services/services-module.ts";
import { SILENCES } from "../../../modules/silences/silences-module.ts";
import type { CoordinatorCounters } from "../../../modules/state/coordinator-counters.ts";
import type { NounModule } from "../../../modules/state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../../../modules/state/retention-step.ts";
import { STATE_TABLES } from "../../../modules/state/tables.ts";
import { STATUS } from "../../../modules/status/status-module.ts";
import { USAGE } from "../../../modules/usage/usage-module.ts";
import { WATCHDOG } from "../../../modules/watchdog/watchdog-module.ts";
import { WEBHOOKS } from "../../../modules/webhooks/webhooks-module.ts";

/** In the order in which a round of retention goes through them. */
export const MODULES = [
  ANOMALIES,
  ALERTS,
  ALERT_ACTIONS,
  LEDGER,
  ANALYSIS,
  RUNBOOKS,
  RULES,
  WEBHOOKS,
  DEAD_LETTERS,
  ACCESS,
  USAGE,
  RECORDS,
  CALLS,
  SERIES,
  LABELS,
  SILENCES,
  SERVICES,
  PILLARS,
  WATCHDOG,
  SATURATION,
  PREDICTION,
  BACKTEST,
  MODELS,
  NOTIFICATION,
  CONFIGURATION,
  BACKUP,
  STATUS,
] as const;

type Module = (typeof MODULES)[number];
/** One type that has all of a union's. */
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void ? All : never;
type PartOf<Name extends keyof NounModule> = Extract<Module, Required<Pick<NounModule, Name>>>[Name];
/** Parameter that the functions of all nouns take together. */
type TakenBy<Work extends ((first: never, ...rest: never[]) => unknown) | undefined> = Work extends (
  first: infer First,
  ...rest: never[]
) => unknown
  ? (first: First) => void
  : never;
type Taken<Work extends ((first: never, ...rest: never[]) => unknown) | undefined> =
  TakenBy<Work> extends (all: infer All) => void ? All : never;

/** The handlers of all nouns. */
type AllHandlers = Together<PartOf<"handlers">>;
type HandlersOf<M> = M extends { readonly handlers: infer Handlers } ? Handlers[keyof Handlers] : never;
/** Members that the nouns use together. */
export type NounsContext = Taken<HandlersOf<Module>>;
/** Books of configured things, by the names under which nouns find them. */
export type ConfiguredBooks = Together<ReturnType<PartOf<"configured">>>;
export type ConfiguredSources = Taken<PartOf<"configured">>;
type GaugedState = Taken<PartOf<"gauges">>;
export type RetentionSources = Taken<PartOf<"expire">> & Taken<PartOf<"gather">>;

const modules: readonly NounModule[] = MODULES;

function tablesOf(environment: "control" | "series"): string[] {
  return [STATE_TABLES, ...modules.map(({ tables }) => tables)].flatMap((tables) => Object.keys(tables?.[environment] ?? {}));
}

/** Tables of the environment `control`. */
export const CONTROL_TABLES: readonly string[] = tablesOf("control");
/** Tables of the environment `series`. */
export const SERIES_TABLES: readonly string[] = tablesOf("series");

/** Tables of many small rows that are packed once they have come to rest. */
export const PACKED_TABLES: Readonly<Record<"control" | "series", readonly PackedTableOptions[]>> = {
  control: [
    { table: "anomalies", packs: "anomaly_packs", isSettled: isEndedRow },
    { table: "timeline", packs: "timeline_packs" },
  ],
  series: [{ table: "ledger", packs: "ledger_packs" }],
};

/** Who answers each endpoint of the coordinator. */
export const HANDLERS: QueryHandlers<NounsContext> = Object.assign({}, ...modules.map(({ handlers }) => handlers)) as AllHandlers;

/** Makes the Books of what people configure. */
export function configuredBooks(sources: ConfiguredSources): ConfiguredBooks {
  return Object.assign({}, ...modules.map(({ configured }) => configured?.(sources as never))) as ConfiguredBooks;
}

/** Tells how much there is. */
export function setGauges(state: GaugedState, counters: CoordinatorCounters): void {
  for (const { gauges } of modules) {
    for (const [name, value] of Object.entries(gauges?.(state as never) ?? {})) counters.set(name as never, value);
  }
}

/** Work of the nouns in a round of retention. */
export function retentionWork(sources: RetentionSources) {
  return {
    expire: (terms: RetentionTerms): Array<Generator<RetentionStep>> =>
      modules.flatMap(({ expire }) => (expire === undefined ? [] : [expire(sources as never, terms)])),
    gather: (terms: RetentionTerms): Array<Generator<RetentionStep>> =>
      modules.flatMap(({ gather }) => (gather === undefined ? [] : [gather(sources as never, terms)])),
  };
}
