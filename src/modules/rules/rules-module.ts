// What the coordinator folds of rules.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { promqlAlerts, promqlRules } from "./prometheus-rules-handlers.ts";
import { RuleAlertBook } from "./rule-alert-book.ts";
import { RuleBook, type RuleBooks } from "./rule-book.ts";
import { deleteRuleGroup, listRuleGroups, oneRuleGroup, setRuleGroup } from "./rule-group-handlers.ts";
import { tryRuleGroup } from "./rule-trial-handler.ts";

export const RULES = {
  tables: {
    control: {
      rule_groups: { key: "tenant, hash of the name", value: "RuleGroup: a group of rules that came by the API" },
      rule_alerts: { key: "tenant, hash of group and labels", value: "RuleAlert: an alert of a rule that fires and was sent on" },
    },
  },
  configured: ({ share }: BookSources) => ({ rules: new RuleBook(share("rules")), ruleAlerts: new RuleAlertBook() }),
  gauges: ({ configured }: { readonly configured: RuleBooks }) => ({
    rules: configured.rules.shares.taken,
    ruleGroups: configured.rules.size,
  }),
  handlers: { ruleGroups: listRuleGroups, ruleGroup: oneRuleGroup, setRuleGroup, deleteRuleGroup, tryRuleGroup, promqlRules, promqlAlerts },
} as const satisfies NounModule;
