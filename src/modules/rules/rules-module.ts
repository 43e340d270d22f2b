// What the coordinator folds of rules.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { RuleBook } from "./rule-book.ts";
import { deleteRuleGroup, listRuleGroups, oneRuleGroup, setRuleGroup } from "./rule-group-handlers.ts";
import type { RuleBooks } from "./rules-context.ts";

export const RULES = {
  tables: {
    control: {
      rule_groups: { key: "tenant, hash of the name", value: "RuleGroup: a group of rules that came by the API" },
    },
  },
  configured: ({ share }: BookSources) => ({ rules: new RuleBook(share("rules")) }),
  gauges: ({ configured }: { readonly configured: RuleBooks }) => ({
    rules: configured.rules.shares.taken,
    ruleGroups: configured.rules.size,
  }),
  handlers: { ruleGroups: listRuleGroups, ruleGroup: oneRuleGroup, setRuleGroup, deleteRuleGroup },
} as const satisfies NounModule;
