// Reads a file of rules and says all that is wrong with it, as Prometheus does (model/rulefmt/rulefmt.go): unknown members, names, expressions, templates.
import { Labels, METRIC_NAME } from "../../promql/labels/labels.ts";
import { parseExpression } from "../../promql/parser/parser.ts";
import { ParseError } from "../../promql/parser/position.ts";
import { quote } from "../../promql/parser/quoted-text.ts";
import { AlertTemplate } from "../template/alert-template.ts";
import { FieldReader } from "./field-reader.ts";
import type { Rule, RuleGroup } from "./rule-group.ts";
import { RuleFileError, readYamlTree, type YamlTree } from "./yaml-tree.ts";

/** Groups of a file, or what is wrong with it; several lines may be one fault. */
export interface RuleFile {
  readonly groups: readonly RuleGroup[];
  readonly problems: readonly string[];
}

const GROUP_FIELDS = ["name", "interval", "query_offset", "limit", "labels", "rules"] as const;
const RULE_FIELDS = ["record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations"] as const;

/** A rule as it was written. */
interface WrittenRule {
  readonly tree: YamlTree;
  readonly expressionTree: YamlTree;
  readonly record: string;
  readonly alert: string;
  readonly expression: string;
  readonly holdMs: number;
  readonly keepFiringMs: number;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
}

/** A group as it was written. */
interface WrittenGroup extends Omit<RuleGroup, "labels" | "rules"> {
  readonly tree: YamlTree;
  readonly labels: ReadonlyMap<string, string>;
  readonly rules: readonly WrittenRule[];
}

/** Reads a file. `canIgnore`: unknown members are left out. */
export function readRuleFile(text: string, canIgnore = false): RuleFile {
  let written: readonly WrittenGroup[];
  try {
    written = readGroups(text, canIgnore);
  } catch (error) {
    if (!(error instanceof RuleFileError)) throw error;
    return { groups: [], problems: [error.message] };
  }
  return { groups: written.map(groupOf), problems: problemsOf(written) };
}

function readGroups(text: string, canIgnore: boolean): WrittenGroup[] {
  const reader = new FieldReader(canIgnore);
  const root = reader.record(readYamlTree(text), "rulefmt.RuleGroups", ["groups"]);
  const groups = reader.list(root.get("groups"), "rulefmt.RuleGroup").map((tree) => readGroup(tree, reader));
  reader.finish();
  return groups;
}

function readGroup(tree: YamlTree, reader: FieldReader): WrittenGroup {
  const fields = reader.record(tree, "rulefmt.RuleGroup", GROUP_FIELDS);
  return {
    tree,
    name: reader.text(fields.get("name")),
    intervalMs: reader.durationMs(fields.get("interval")),
    queryOffsetMs: reader.durationMs(fields.get("query_offset")),
    limit: reader.integer(fields.get("limit")),
    labels: reader.texts(fields.get("labels")),
    rules: reader.list(fields.get("rules"), "rulefmt.Rule").map((rule) => readRule(rule, reader)),
  };
}

function readRule(tree: YamlTree, reader: FieldReader): WrittenRule {
  const fields = reader.record(tree, "rulefmt.Rule", RULE_FIELDS);
  return {
    tree,
    expressionTree: fields.get("expr") ?? tree,
    record: reader.text(fields.get("record")),
    alert: reader.text(fields.get("alert")),
    expression: reader.text(fields.get("expr")),
    holdMs: reader.durationMs(fields.get("for")) ?? 0,
    keepFiringMs: reader.durationMs(fields.get("keep_firing_for")) ?? 0,
    labels: reader.texts(fields.get("labels")),
    annotations: reader.texts(fields.get("annotations")),
  };
}

function groupOf({ name, intervalMs, queryOffsetMs, limit, labels, rules }: WrittenGroup): RuleGroup {
  return { name, intervalMs, queryOffsetMs, limit, labels: Labels.of(labels), rules: rules.map((rule) => ruleOf(rule, labels)) };
}

/** A rule's own labels go before those of its group. */
function ruleOf(rule: WrittenRule, groupLabels: ReadonlyMap<string, string>): Rule {
  const { record, alert, expression, holdMs, keepFiringMs } = rule;
  const labels = Labels.of([...groupLabels, ...rule.labels]);
  if (alert === "") return { kind: "recording", name: record, expression, labels };
  return { kind: "alerting", name: alert, expression, labels, annotations: Labels.of(rule.annotations), holdMs, keepFiringMs };
}

function problemsOf(groups: readonly WrittenGroup[]): string[] {
  const names = new Set<string>();
  return groups.flatMap((group) => {
    const at = `${group.tree.line}:${group.tree.column}`;
    const problems: string[] = [];
    if (group.name === "") problems.push(`${at}: Groupname must not be empty`);
    if (names.has(group.name)) problems.push(`${at}: groupname: ${quote(group.name)} is repeated in the same file`);
    names.add(group.name);
    for (const problem of labelProblems(group.labels)) problems.push(`${at}: group ${quote(group.name)}: ${problem}`);
    return [...problems, ...group.rules.flatMap((rule, index) => ruleProblems(rule, group.name, index + 1))];
  });
}

function ruleProblems(rule: WrittenRule, groupName: string, number: number): string[] {
  const where = `group ${quote(groupName)}, rule ${number}, ${quote(rule.alert === "" ? rule.record : rule.alert)}`;
  const { tree, expressionTree } = rule;
  return [
    ...kindProblems(rule).map((problem) => `${tree.line}:${tree.column}: ${where}: ${problem}`),
    ...expressionProblems(rule).map((problem) => `${expressionTree.line}:${expressionTree.column}: ${where}: ${problem}`),
    ...[...labelProblems(rule.labels), ...annotationProblems(rule), ...templateProblems(rule)].map((problem) => `${where}: ${problem}`),
  ];
}

function kindProblems({ record, alert, annotations, holdMs, keepFiringMs }: WrittenRule): string[] {
  if (record !== "" && alert !== "") return ["only one of 'record' and 'alert' must be set"];
  if (record === "" && alert === "") return ["one of 'record' or 'alert' must be set"];
  if (alert !== "") return [];
  return [
    ...(annotations.size > 0 ? ["invalid field 'annotations' in recording rule"] : []),
    ...(holdMs > 0 ? ["invalid field 'for' in recording rule"] : []),
    ...(keepFiringMs > 0 ? ["invalid field 'keep_firing_for' in recording rule"] : []),
    ...(record.isWellFormed() ? [] : [`invalid recording rule name: ${record}`]),
    ...(/[{}]/.test(record) ? [`braces present in the recording rule name; should it be in expr?: ${record}`] : []),
  ];
}

function expressionProblems({ expression }: WrittenRule): string[] {
  if (expression === "") return ["field 'expr' must be set in rule"];
  try {
    parseExpression(expression);
    return [];
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return [`could not parse expression: ${error.message}`];
  }
}

function labelProblems(labels: ReadonlyMap<string, string>): string[] {
  return [...labels].flatMap(([name, value]) => [
    ...(isName(name) && name !== METRIC_NAME ? [] : [`invalid label name: ${name}`]),
    ...(value.isWellFormed() ? [] : [`invalid label value: ${value}`]),
  ]);
}

/** Any text, since Prometheus 3. */
function isName(name: string): boolean {
  return name !== "" && name.isWellFormed();
}

function annotationProblems({ annotations }: WrittenRule): string[] {
  return [...annotations.keys()].filter((name) => !isName(name)).map((name) => `invalid annotation name: ${name}`);
}

function templateProblems({ alert, labels, annotations }: WrittenRule): string[] {
  if (alert === "") return [];
  const check = (kind: string, texts: ReadonlyMap<string, string>) =>
    [...texts].flatMap(([name, text]) => {
      const { problem } = new AlertTemplate(alert, text);
      return problem === undefined ? [] : [`${kind} ${quote(name)}: ${problem}`];
    });
  return [...check("label", labels), ...check("annotation", annotations)];
}
