import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { readCommandLine } from "../../../../src/cli/command-arguments.ts";
import { runRulesCheck } from "../../../../src/cli/rules/rules-check.ts";
import { runRulesTest } from "../../../../src/cli/rules/rules-test.ts";
import { type CommandOutput, outputOf } from "../../../support/command-output.ts";

const folder = mkdtempSync(join(tmpdir(), "vedette-rules-"));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function run(...argv: string[]): CommandOutput {
  const line = readCommandLine(["rules", ...argv]);
  return outputOf(() => (argv[0] === "check" ? runRulesCheck(line.arguments) : runRulesTest(line.arguments, () => 0)));
}

const RULE = "  - {record: a, expr: sum(up)}\n";
const good = file(
  "good.yml",
  `groups:\n- name: g\n  rules:\n${RULE}  - {alert: Down, expr: up == 0, for: 2m, annotations: {s: "{{ $labels.job }}"}}\n`,
);
const twice = file("twice.yml", `groups:\n- name: g\n  rules:\n${RULE}${RULE}`);
const odd = file("odd.yml", "groups:\n- name: g\n  owner: me\n");

afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("vedette rules check", () => {
  it("says how many rules there are, and what is wrong, with promtool's codes", () => {
    expect(run("check", good)).toEqual({ code: 0, out: `Checking ${good}\n  SUCCESS: 2 rules found\n\n`, error: "" });
    const unknown = "yaml: unmarshal errors:\n  line 3: field owner not found in type rulefmt.RuleGroup";
    expect(run("check", odd, good)).toMatchObject({ code: 1, error: `  FAILED:\n${odd}: ${unknown}\n` });
    expect(run("check", "--ignore-unknown-fields", odd).code).toBe(0);
    expect(run("check", join(folder, "none.yml"))).toMatchObject({ code: 1, error: expect.stringContaining("ENOENT") });
    expect(JSON.parse(run("check", "--json", good).out)).toEqual({ files: [{ file: good, rules: 2, problems: [], lint: [] }] });
    expect(() => run("check")).toThrow("needs a FILE");
  });

  it("tells duplicates, which are fatal where it is asked", () => {
    const lint =
      "  FAILED:\nlint error 1 duplicate rule(s) found.\nMetric: a\nLabel(s):\nMight cause inconsistency while recording expressions\n";
    expect(run("check", twice)).toMatchObject({ code: 0, error: lint });
    expect(run("check", "--lint-fatal", twice).code).toBe(3);
    expect(run("check", "--lint", "none", "--lint-fatal", twice)).toMatchObject({ code: 0, error: "" });
  });
});

function testOf(more: string): string {
  return `rule_files: ["g*.yml"]
tests:
- name: one
  input_series: [{series: 'up{job="a"}', values: "1 0x9"}]
  ${more}
`;
}

describe("vedette rules test", () => {
  it("runs alerts and expressions", () => {
    const passing = file(
      "pass.yml",
      testOf(`alert_rule_test:
  - {eval_time: 2m, alertname: Down, exp_alerts: []}
  - {eval_time: 3m30s, alertname: Down, exp_alerts: [{exp_labels: {job: a}, exp_annotations: {s: a}}]}
  promql_expr_test:
  - {expr: a, eval_time: 0, exp_samples: [{labels: a, value: 1}]}
  - {expr: 'ALERTS{alertstate="pending"}', eval_time: 2m, exp_samples: [{labels: 'ALERTS{alertname="Down",alertstate="pending",job="a"}', value: 1}]}`),
    );
    expect(run("test", passing)).toEqual({ code: 0, out: `Unit Testing:  ${passing}\n  SUCCESS\n\n`, error: "" });
  });

  it("says what was expected and what came, in promtool's words", () => {
    const failing = file(
      "fail.yml",
      testOf(`alert_rule_test: [{eval_time: 3m, alertname: Down}]
  promql_expr_test:
  - {expr: a, eval_time: 0, exp_samples: [{labels: 'a{}', value: 2}]}
  - {expr: "a +", eval_time: 0}`),
    );
    expect(run("test", failing)).toMatchObject({
      code: 1,
      error: `  FAILED:
    name: one,
    alertname: Down, time: 3m, 
        exp:[], 
        got:[
            0:
              Labels:{alertname="Down", job="a"}
              Annotations:{s="a"}
            ]
    expr: "a", time: 0s,
        exp: {__name__="a"} 2E+00
        got: {__name__="a"} 1E+00
    expr: "a +", time: 0s, err: 1:4: parse error: unexpected end of input
`,
    });
    expect(run("test", "--run", "^two$", failing).code).toBe(0);
    expect(run("test", "--run", "^one$", failing).code).toBe(1);
    expect(() => run("test", "--run", "(", failing)).toThrow("--run must be a pattern");
  });

  it("selects native histograms by themselves, with staleness and lookback", () => {
    const histograms = file(
      "histograms.yml",
      `tests:
- input_series:
  - {series: h, values: "{{count:2 sum:3 buckets:[2]}}+{{count:1 sum:1.5 buckets:[1]}}x2 stale"}
  promql_expr_test:
  - {expr: h, eval_time: 0, exp_samples: [{labels: h, histogram: "{{sum:3 count:2 buckets:[2]}}"}]}
  - {expr: (h), eval_time: 2m, exp_samples: [{labels: h, histogram: "{{sum:6 count:4 counter_reset_hint:not_reset buckets:[4]}}"}]}
  - {expr: h, eval_time: 3m}
`,
    );
    expect(run("test", histograms)).toMatchObject({ code: 0 });
    const other = file(
      "other.yml",
      "tests:\n- input_series: [{series: h, values: '{{count:2}}'}]\n  promql_expr_test: [{expr: sum(h), eval_time: 0}]\n",
    );
    expect(run("test", other)).toMatchObject({ code: 1, error: expect.stringContaining("can only be selected by itself") });
  });

  it("tells a file that is none", () => {
    expect(run("test", file("bad.yml", "tests: [{input: 1}]"))).toMatchObject({
      code: 1,
      error: "  FAILED:\nyaml: unmarshal errors:\n  line 1: field input not found in type main.testGroup\n",
    });
    expect(run("test", join(folder, "none.yml")).code).toBe(1);
  });
});
