// What the handlers of rules use.
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { Routes } from "../notification/routes.ts";
import type { Using } from "../queries/query-context.ts";
import type { PatternHolders } from "../silences/pattern-capacity.ts";
import type { WatchdogBooks } from "../watchdog/watchdog-context.ts";
import type { RuleBooks } from "./rule-book.ts";
import type { RuleSchedule } from "./rule-schedule.ts";
import type { RuleWorkers } from "./rule-workers.ts";

interface WorkingOnRules {
  readonly ruleWorkers: Pick<RuleWorkers, "read" | "tried">;
  readonly ruleRuns: Pick<RuleSchedule, "externalUrl" | "factsOf">;
}

export type RulesContext = Using<"nowMs" | "pause" | "yieldToLoop", unknown, RuleBooks> & Changing & WorkingOnRules;

/** What a trial uses: the rules of those whom it would tell. */
export type RuleTrialContext = WorkingOnRules &
  Using<"nowMs" | "options" | "pause" | "yieldToLoop", AlertBooks & AnomalyBooks, PatternHolders & WatchdogBooks & RuleBooks> & {
    readonly channels: { readonly routes: Pick<Routes, "route" | "subject"> };
  };
