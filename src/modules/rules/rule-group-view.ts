// A group of rules as the API shows it.
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { RuleGroupEntry } from "./rule-group-row.ts";

/** The group with where it comes from. */
export function ruleGroupView({ file, document, changedBy, changedMs }: RuleGroupEntry) {
  return {
    name: document.name,
    source: file === "" ? "api" : "directory",
    file,
    changed_by: changedBy,
    changed_at: formatRfc3339(changedMs),
    definition: document,
  };
}
