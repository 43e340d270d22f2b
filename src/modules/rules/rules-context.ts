// What the handlers of rules use.
import type { Changing } from "../access/changes.ts";
import type { Using } from "../queries/query-context.ts";
import type { RuleBook } from "./rule-book.ts";
import type { RuleWorkers } from "./rule-workers.ts";

export interface RuleBooks {
  readonly rules: RuleBook;
}

interface WorkingOnRules {
  readonly ruleWorkers: Pick<RuleWorkers, "read">;
}

export type RulesContext = Using<"nowMs" | "yieldTurn", unknown, RuleBooks> & Changing & WorkingOnRules;
