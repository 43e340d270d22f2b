import { describe, expect, it } from "vitest";
import { Labels, METRIC_NAME } from "../../../../../src/domain/promql/labels/labels.ts";
import type { RuleState } from "../../../../../src/domain/rules/evaluation/group-evaluation.ts";
import { readStateTexts, ruleKeyOf, stateBytes, stateOfText } from "../../../../../src/domain/rules/evaluation/rule-state-text.ts";
import { readRuleFile } from "../../../../../src/domain/rules/file/rule-file.ts";

const RULES =
  readRuleFile("groups: [{name: g, rules: [{alert: A, expr: x, labels: {a: b}}, {record: A, expr: x}]}]").groups[0]?.rules ?? [];

describe("the states of rules", () => {
  it("are read as they were written, numbers without a word in JSON among them", () => {
    const labels = Labels.of([["alertname", "A"]]);
    const series = labels.with(METRIC_NAME, "ALERTS");
    const alert = {
      labels,
      annotations: Labels.of([["s", "t"]]),
      state: "firing",
      value: Number.NaN,
      activeAtMs: 1,
      firedAtMs: 2,
    } as const;
    const state: RuleState = {
      alerts: new Map([[labels.key, { ...alert, resolvedAtMs: undefined, keepFiringSinceMs: undefined }]]),
      series: new Map([[series.key, series]]),
      isRestored: true,
      lastError: "no",
    };
    const [first, second] = readStateTexts(stateBytes(RULES, [state, { ...state, alerts: new Map(), lastError: undefined }]));
    expect(stateOfText(first as NonNullable<typeof first>)).toEqual(state);
    expect([first?.key, second?.key, second?.lastError]).toEqual([...RULES.map(ruleKeyOf), null]);
    expect(new Set(RULES.map(ruleKeyOf)).size).toBe(2);
  });
});
