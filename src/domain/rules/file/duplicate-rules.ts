// Rules of a file that make the same series: the same name and labels (promtool's lint of duplicates).
import type { Labels } from "../../promql/labels/labels.ts";
import type { RuleGroup } from "./rule-group.ts";

/** A name with labels that more than one rule makes. */
export interface DuplicateRule {
  readonly name: string;
  readonly labels: Labels;
}

/** Each rule beyond the first of its name and labels, in the order of their names. */
export function duplicateRules(groups: readonly RuleGroup[]): DuplicateRule[] {
  const seen = new Set<string>();
  const duplicates: DuplicateRule[] = [];
  for (const { name, labels } of groups.flatMap(({ rules }) => rules)) {
    const key = labels.with("__name__", name).key;
    if (seen.has(key)) duplicates.push({ name, labels });
    seen.add(key);
  }
  return duplicates;
}
