// What the handlers of rules use.
import type { Changing } from "../access/changes.ts";
import type { Using } from "../queries/query-context.ts";
import type { RuleBooks } from "./rule-book.ts";
import type { RuleSchedule } from "./rule-schedule.ts";
import type { RuleWorkers } from "./rule-workers.ts";

interface WorkingOnRules {
  readonly ruleWorkers: Pick<RuleWorkers, "read">;
  readonly ruleRuns: Pick<RuleSchedule, "factsOf">;
}

export type RulesContext = Using<"nowMs" | "pause" | "yieldTurn", unknown, RuleBooks> & Changing & WorkingOnRules;
