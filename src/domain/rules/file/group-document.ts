// A group as a file has it, in JSON: what is stored, sent between threads and given out. It is a file of rules itself, but for the list around it.
// Rules of a file that make the same series: the same name and labels (promtool's lint of duplicates).
import { Labels } from "../../promql/labels/labels.ts";
import { formatDuration, parseDurationMs } from "../../promql/parser/duration-text.ts";
import type { Rule, RuleGroup } from "./rule-group.ts";

type Texts = Readonly<Record<string, string>>;

/** A rule under the names that files use. */
export interface RuleDocument {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
}

/** A group under the names that files use. */
export interface RuleGroupDocument {
  readonly name: string;
  readonly interval?: string;
  readonly query_offset?: string;
  readonly limit?: number;
  readonly labels?: Texts;
  readonly rules: readonly RuleDocument[];
}

/** The document of a group that a file held. */
export function documentOf(group: RuleGroup): RuleGroupDocument {
  const { name, intervalMs, queryOffsetMs, limit, labels, rules } = group;
  return {
    name,
    ...(intervalMs !== undefined && { interval: formatDuration(intervalMs) }),
    ...(queryOffsetMs !== undefined && { query_offset: formatDuration(queryOffsetMs) }),
    ...(limit !== 0 && { limit }),
    ...textsOf("labels", labels),
    rules: rules.map((rule) => ruleDocument(rule, labels)),
  };
}

function ruleDocument(rule: Rule, groupLabels: Labels): RuleDocument {
  const { name, expression: expr } = rule;
  const own = textsOf("labels", Labels.of([...rule.labels.entries()].filter(([label, value]) => groupLabels.get(label) !== value)));
  if (rule.kind === "recording") return { record: name, expr, ...own };
  const { holdMs, keepFiringMs, annotations } = rule;
  return {
    alert: name,
    expr,
    ...(holdMs > 0 && { for: formatDuration(holdMs) }),
    ...(keepFiringMs > 0 && { keep_firing_for: formatDuration(keepFiringMs) }),
    ...own,
    ...textsOf("annotations", annotations),
  };
}

function textsOf<const Name extends string>(name: Name, labels: Labels): { readonly [N in Name]?: Texts } {
  const texts = labels.toObject();
  return (Object.keys(texts).length === 0 ? {} : { [name]: texts }) as { readonly [N in Name]?: Texts };
}

/** The group of a document that documentOf() made. */
export function groupOfDocument({ name, interval, query_offset, limit = 0, labels = {}, rules }: RuleGroupDocument): RuleGroup {
  return {
    name,
    intervalMs: durationMs(interval),
    queryOffsetMs: durationMs(query_offset),
    limit,
    labels: Labels.of(Object.entries(labels)),
    rules: rules.map((rule) => ruleOf(rule, labels)),
  };
}

function ruleOf({ record, alert, expr, labels = {}, annotations = {}, ...rest }: RuleDocument, groupLabels: Texts): Rule {
  const all = Labels.of([...Object.entries(groupLabels), ...Object.entries(labels)]);
  if (alert === undefined) return { kind: "recording", name: record ?? "", expression: expr, labels: all };
  return {
    kind: "alerting",
    name: alert,
    expression: expr,
    labels: all,
    annotations: Labels.of(Object.entries(annotations)),
    holdMs: durationMs(rest.for) ?? 0,
    keepFiringMs: durationMs(rest.keep_firing_for) ?? 0,
  };
}

/** A document's durations have been read before. */
function durationMs(text: string | undefined): number | undefined {
  return text === undefined ? undefined : (parseDurationMs(text) as number);
}

/** A name with labels that more than one rule makes. */
interface DuplicateRule {
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
