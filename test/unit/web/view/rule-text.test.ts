// What pages say of rules.
import { describe, expect, it } from "vitest";
import {
  alertIdOf,
  chosenGroups,
  isOfRule,
  momentOf,
  type Rule,
  ruleCounts,
  secondsText,
  statesOf,
  takenFrom,
  valueText,
} from "../../../../src/web/view/rule-text.ts";

const rule = (name: string, more: Partial<Rule> = {}): Rule => ({
  type: "alerting",
  state: "inactive",
  name,
  query: `${name} > 1`,
  labels: {},
  health: "ok",
  evaluationTime: 0.001,
  lastEvaluation: "2026-01-31T12:00:00.000Z",
  ...more,
});
const group = (name: string, ...rules: Rule[]) => ({ name, file: "", interval: 60, evaluationTime: 0, lastEvaluation: "", rules });

const down = rule("Down", { state: "firing" });
const slow = rule("Slow", { state: "pending", health: "err", lastError: "too dear" });
const { state: _, ...rate } = rule("job:rate", { type: "recording", query: "rate(requests[5m])" });
const groups = [group("shop", down, slow), group("records", rate)];

describe("rules", () => {
  it("have a state, recordings their own word, and what fails says so beside it", () => {
    expect([down, slow, rate, rule("Idle")].map(statesOf)).toEqual([["firing"], ["failing", "pending"], ["recording"], ["inactive"]]);
    expect(ruleCounts(groups)).toEqual({ rules: 3, firing: 1, pending: 1, failing: 1 });
  });

  it.each([
    [{ state: "failing" }, ["Slow"]],
    [{ q: "REQUESTS" }, ["job:rate"]],
    [{ q: "shop" }, ["Down", "Slow"]],
    [{ q: "shop", state: "firing" }, ["Down"]],
    [{ q: "none such" }, []],
    [{}, ["Down", "Slow", "job:rate"]],
  ])("are narrowed to %j", (query, names) => {
    expect(chosenGroups(groups, query).flatMap(({ rules }) => rules.map(({ name }) => name))).toEqual(names);
  });

  it("say durations in seconds or below, and never where never is meant", () => {
    expect([0, 0.000_412, 0.0126, 15, 90].map(secondsText)).toEqual(["0 s", "0.41 ms", "13 ms", "15 s", "90 s"]);
    expect(["1.7e+01", "+Inf", "NaN"].map(valueText)).toEqual(["17", "+Inf", "NaN"]);
    expect(momentOf("0001-01-01T00:00:00Z")).toBeNull();
    expect(momentOf(down.lastEvaluation)).toBe(down.lastEvaluation);
  });
});

describe("an alert of a rule", () => {
  const labels = { alertname: "Down", job: "shop", instance: "a", replica: "0" };
  const taken = (alert_id: string | null, attributes: Record<string, string>) => ({ alert_id, attributes });

  it("leads to the alert that was taken with its labels, one of a pair's servers left out", () => {
    const whole = taken("whole", { alertname: "Down", job: "shop", instance: "a" });
    const other = taken("other", { alertname: "Down", job: "shop", instance: "b" });
    expect(alertIdOf(labels, [taken("part", { alertname: "Down" }), whole, other])).toBe("whole");
    expect(alertIdOf(labels, [other, taken("empty", {})])).toBeNull();
    expect(alertIdOf(labels, [taken(null, labels)])).toBeNull();
  });

  it("is found in the rules by the labels that were taken", () => {
    const alert = { labels, annotations: {}, state: "firing", activeAt: "", value: "1e+00" } as const;
    const rules = [{ ...rate }, rule("Down", { alerts: [{ ...alert, labels: { ...labels, job: "other" } }, alert] })];
    const { replica: _, ...kept } = labels;
    expect(takenFrom(kept, rules)).toEqual({ rule: rules[1], alert });
    expect([takenFrom({ ...kept, job: "none" }, rules), takenFrom({}, rules)]).toEqual([undefined, undefined]);
  });

  it("leads back to a rule of its name whose own labels it has, whatever severity it was given here", () => {
    const own = (more: Record<string, string>) => rule("Down", { labels: more });
    expect(isOfRule(own({ severity: "critical", job: "shop" }), { ...labels, severity: "high" })).toBe(true);
    expect(isOfRule(own({ owner: "{{ $labels.job }}" }), labels)).toBe(true);
    expect(isOfRule(own({ job: "billing" }), labels)).toBe(false);
    expect(isOfRule(rule("Up"), labels)).toBe(false);
    expect(isOfRule({ ...rate, name: "Down" }, labels)).toBe(false);
  });
});
