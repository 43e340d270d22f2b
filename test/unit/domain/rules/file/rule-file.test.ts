import { describe, expect, it } from "vitest";
import { duplicateRules } from "../../../../../src/domain/rules/file/group-document.ts";
import { readRuleFile } from "../../../../../src/domain/rules/file/rule-file.ts";

const WHOLE = `
x-common: &common {severity: page}
groups:
  - name: a
    interval: 30s
    query_offset: 1m30s
    limit: 10
    labels: {team: x, severity: low}
    rules:
      - record: job:up:sum
        expr: sum by (job) (up)
      - alert: Down
        expr: up == 0
        for: 5m
        keep_firing_for: 1h
        labels: {<<: *common, number: 5}
        annotations: {summary: "{{ $labels.job }}"}
`;

function problems(text: string, canIgnore = false): readonly string[] {
  return readRuleFile(text, canIgnore).problems;
}

function ofRule(lines: string): string {
  return `groups:\n- name: g\n  rules:\n  - ${lines.replaceAll("\n", "\n    ")}\n`;
}

describe("a file of rules", () => {
  it("is read with all of its members; a rule's labels go before its group's", () => {
    const { groups, problems: found } = readRuleFile(WHOLE, true);
    expect(found).toEqual([]);
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({ name: "a", intervalMs: 30_000, queryOffsetMs: 90_000, limit: 10 });
    const [recording, alerting] = groups[0]?.rules ?? [];
    expect(recording).toMatchObject({ kind: "recording", name: "job:up:sum", expression: "sum by (job) (up)" });
    expect(String(recording?.labels)).toBe('{severity="low", team="x"}');
    expect(alerting).toMatchObject({ kind: "alerting", name: "Down", holdMs: 300_000, keepFiringMs: 3_600_000 });
    expect(String(alerting?.labels)).toBe('{number="5", severity="page", team="x"}');
  });

  it("may be empty", () => {
    expect(readRuleFile("")).toEqual({ groups: [], problems: [] });
    expect(readRuleFile("groups:\n")).toEqual({ groups: [], problems: [] });
  });

  it("says unknown members and those written twice with their lines", () => {
    expect(problems(WHOLE)).toEqual(["yaml: unmarshal errors:\n  line 2: field x-common not found in type rulefmt.RuleGroups"]);
    expect(problems(ofRule("alert: A\nexpr: up\nexpr: down"))).toEqual([
      'yaml: unmarshal errors:\n  line 6: mapping key "expr" already defined at line 5',
    ]);
    expect(problems("groups:\n- name: g\n  interval: 5x\n  limit: many\n  rules: {}\n")).toEqual([
      'yaml: unmarshal errors:\n  line 3: not a valid duration string: "5x"\n  line 4: cannot unmarshal !!str `many` into int\n  line 5: cannot unmarshal !!map into []rulefmt.Rule',
    ]);
  });

  it.each([
    ["groups:\n- name: ''\n", ["2:3: Groupname must not be empty"]],
    ["groups:\n- name: a\n- name: a\n", ['3:3: groupname: "a" is repeated in the same file']],
    [ofRule("alert: A\nrecord: b\nexpr: up"), [`4:5: group "g", rule 1, "A": only one of 'record' and 'alert' must be set`]],
    [ofRule("expr: up"), [`4:5: group "g", rule 1, "": one of 'record' or 'alert' must be set`]],
    [ofRule("alert: A"), [`4:5: group "g", rule 1, "A": field 'expr' must be set in rule`]],
    [
      ofRule("alert: A\nexpr: up ="),
      ['5:11: group "g", rule 1, "A": could not parse expression: 1:4: parse error: unexpected character after \'=\': end of input'],
    ],
    [
      ofRule("record: a\nexpr: up\nfor: 5m\nkeep_firing_for: 5m\nannotations: {a: b}"),
      [
        `4:5: group "g", rule 1, "a": invalid field 'annotations' in recording rule`,
        `4:5: group "g", rule 1, "a": invalid field 'for' in recording rule`,
        `4:5: group "g", rule 1, "a": invalid field 'keep_firing_for' in recording rule`,
      ],
    ],
    [
      ofRule('record: "a{}"\nexpr: up'),
      ['4:5: group "g", rule 1, "a{}": braces present in the recording rule name; should it be in expr?: a{}'],
    ],
    [ofRule("record: a\nexpr: up\nlabels: {__name__: b}"), ['group "g", rule 1, "a": invalid label name: __name__']],
    [
      ofRule('alert: A\nexpr: up\nannotations: {s: "{{ $label.a }}"}'),
      ['group "g", rule 1, "A": annotation "s": template: __alert_A:1: undefined variable "$label"'],
    ],
  ])("says what is wrong in Prometheus' words: %j", (text, expected) => {
    const found = problems(text);
    if (expected[0]?.includes("parse expression"))
      expect(found[0]).toMatch(/^5:11: group "g", rule 1, "A": could not parse expression: 1:4: /);
    else expect(found).toEqual(expected);
  });

  it("neither follows aliases without end nor nests without end", () => {
    const bomb = ["a: &a0 [x,x,x,x,x,x,x,x,x,x]", ...Array.from({ length: 8 }, (_, i) => `b${i}: &a${i + 1} [${`*a${i},`.repeat(10)}]`)];
    expect(problems(`groups:\n${bomb.map((line) => `  ${line}\n`).join("")}`)).toEqual(["yaml: document contains excessive aliasing"]);
    expect(problems("groups: &a [*a]")).toHaveLength(1);
    expect(problems("[".repeat(10_000))).toEqual(["yaml: nested more than 64 levels deep"]);
    expect(problems("groups: *nobody")).toHaveLength(1);
    expect(problems("a: b: c")).toHaveLength(1);
  });

  it("has duplicates by name and labels", () => {
    const text = `groups:\n- name: g\n  rules:\n${"  - {record: a, expr: up}\n  - {record: a, expr: up, labels: {b: c}}\n".repeat(2)}`;
    expect(duplicateRules(readRuleFile(text).groups).map(({ name, labels }) => name + labels)).toEqual(["a{}", 'a{b="c"}']);
  });
});
