import { describe, expect, it } from "vitest";
import { Labels, NO_LABELS } from "../../../../../src/domain/promql/labels/labels.ts";
import type { QueryValue } from "../../../../../src/domain/promql/query-engine.ts";
import { QueryError } from "../../../../../src/domain/promql/query-error.ts";
import { restoreAlerts } from "../../../../../src/domain/rules/evaluation/alert-restoration.ts";
import type { RuleAlert, RuleSample } from "../../../../../src/domain/rules/evaluation/alerting-evaluation.ts";
import {
  compileGroup,
  evaluateGroup,
  NEW_RULE_STATE,
  type RuleState,
} from "../../../../../src/domain/rules/evaluation/group-evaluation.ts";
import { readRuleFile } from "../../../../../src/domain/rules/file/rule-file.ts";

const MINUTE_MS = 60_000;

/** A group whose first rule's query answers what a test says, minute by minute. */
class Course {
  readonly recorded: RuleSample[][] = [];
  readonly #compiled;
  #states: readonly RuleState[];
  #minute = 0;

  constructor(rule: string, group = "") {
    const { groups, problems } = readRuleFile(`groups:\n- name: g\n${group}  rules:\n  - ${rule}\n`);
    expect(problems).toEqual([]);
    this.#compiled = compileGroup(groups[0] as (typeof groups)[number]);
    this.#states = [{ ...NEW_RULE_STATE, isRestored: true }];
  }

  /** Evaluates with one sample for each name, each of value 1; an Error is thrown by the query. */
  step(answer: readonly string[] | Error): RuleState {
    const query = (): QueryValue => {
      if (answer instanceof Error) throw answer;
      return { type: "vector", samples: answer.map((a) => ({ labels: Labels.of([["a", a]]), value: 1 })) };
    };
    const recorded: RuleSample[] = [];
    const record = (samples: readonly RuleSample[]) => recorded.push(...samples);
    const world = { externalLabels: NO_LABELS, externalUrl: "", query, record };
    this.#states = evaluateGroup(this.#compiled, this.#states, this.#minute++ * MINUTE_MS, world);
    this.recorded.push(recorded);
    return this.#states[0] as RuleState;
  }

  states(answer: readonly string[] | Error): string {
    return [...this.step(answer).alerts.values()].map(({ labels, state }) => `${labels.get("a")}:${state}`).join(" ");
  }
}

function texts(samples: readonly RuleSample[] | undefined): string[] {
  return (samples ?? []).map(
    ({ labels, timeMs, value, isStale }) => `${labels.metricText} ${isStale ? "stale" : value} @${timeMs / MINUTE_MS}`,
  );
}

describe("an alerting rule", () => {
  it("is pending for its time, fires, and resolves", () => {
    const course = new Course("{alert: A, expr: x, for: 2m}");
    expect(["x", "x", "x", "x"].map((a) => course.states([a]))).toEqual(["x:pending", "x:pending", "x:firing", "x:firing"]);
    expect(course.states([])).toBe("x:inactive");
    expect(course.states(["x"])).toBe("x:pending");
    expect(course.states([])).toBe("");
  });

  it("fires at once without `for`, and is remembered for 15 minutes once it has resolved", () => {
    const course = new Course("{alert: A, expr: x}");
    expect(course.states(["x"])).toBe("x:firing");
    const after = Array.from({ length: 18 }, () => course.states([]));
    expect(after).toEqual([...Array(16).fill("x:inactive"), "", ""]);
  });

  it("keeps firing as long as it says, counted from when it was last seen missing", () => {
    const course = new Course("{alert: A, expr: x, keep_firing_for: 2m}");
    const steps = [["x"], [], [], ["x"], [], [], []].map((answer) => course.states(answer));
    expect(steps).toEqual(["x:firing", "x:firing", "x:firing", "x:firing", "x:firing", "x:firing", "x:inactive"]);
  });

  it("makes the series ALERTS and ALERTS_FOR_STATE, and ends them", () => {
    const course = new Course('{alert: A, expr: x, for: 1m, labels: {severity: "{{ $labels.a }}"}}');
    for (const answer of [["p"], ["p"], []]) course.step(answer);
    expect(course.recorded.map(texts)).toEqual([
      [
        'ALERTS{a="p", alertname="A", alertstate="pending", severity="p"} 1 @0',
        'ALERTS_FOR_STATE{a="p", alertname="A", severity="p"} 0 @0',
      ],
      [
        'ALERTS{a="p", alertname="A", alertstate="firing", severity="p"} 1 @1',
        'ALERTS_FOR_STATE{a="p", alertname="A", severity="p"} 0 @1',
        'ALERTS{a="p", alertname="A", alertstate="pending", severity="p"} stale @1',
      ],
      [
        'ALERTS{a="p", alertname="A", alertstate="firing", severity="p"} stale @2',
        'ALERTS_FOR_STATE{a="p", alertname="A", severity="p"} stale @2',
      ],
    ]);
  });

  it("that fails keeps its alerts and its series, and says why", () => {
    const course = new Course("{alert: A, expr: x}");
    course.step(["x"]);
    expect(course.step(new QueryError("too much"))).toMatchObject({ lastError: "too much" });
    expect(course.recorded[1]).toEqual([]);
    expect(course.states(["x"])).toBe("x:firing");
    expect(course.step(["x"]).lastError).toBeUndefined();
  });

  it("whose alerts become one, or too many, fails", () => {
    const same = new Course("{alert: A, expr: x, labels: {a: one}}");
    expect(same.step(["x", "y"]).lastError).toBe("vector contains metrics with the same labelset after applying alert labels");
    const many = new Course("{alert: A, expr: x}", "  limit: 1\n");
    many.step(["x"]);
    expect(many.step(["x", "y"])).toMatchObject({ lastError: "exceeded limit of 1 with 2 alerts", alerts: new Map() });
  });
});

describe("a recording rule", () => {
  it("records under its name and labels at the moment of its query, and ends what is gone", () => {
    const course = new Course("{record: r, expr: x, labels: {b: c}}", "  query_offset: 1m\n");
    course.step(["x", "y"]);
    course.step(["y"]);
    expect(course.recorded.map(texts)).toEqual([
      ['r{a="x", b="c"} 1 @-1', 'r{a="y", b="c"} 1 @-1'],
      ['r{a="y", b="c"} 1 @0', 'r{a="x", b="c"} stale @0'],
    ]);
  });

  it("whose series become one, or too many, fails", () => {
    expect(new Course("{record: r, expr: x, labels: {a: one}}").step(["x", "y"]).lastError).toBe(
      "vector contains metrics with the same labelset after applying rule labels",
    );
    expect(new Course("{record: r, expr: x}", "  limit: 1\n").step(["x", "y"]).lastError).toBe("exceeded limit of 1 with 2 series");
  });
});

describe("`for` behind a restart", () => {
  const minute = (count: number) => count * MINUTE_MS;
  const alert: RuleAlert = {
    labels: NO_LABELS,
    annotations: NO_LABELS,
    state: "pending",
    value: 1,
    activeAtMs: minute(100),
    firedAtMs: undefined,
    resolvedAtMs: undefined,
    keepFiringSinceMs: undefined,
  };
  const active = (holdMinutes: number, found: { down: number; since: number; isStale?: boolean } | undefined) => {
    const activity = found && { timeMs: minute(found.down), value: found.since * 60, isStale: found.isStale ?? false };
    const restored = restoreAlerts(new Map([["", alert]]), minute(holdMinutes), minute(100), () => activity);
    return (restored.get("")?.activeAtMs as number) / MINUTE_MS;
  };

  it("goes on where it was, without the time of the pause", () => {
    expect(active(30, { down: 90, since: 85 })).toBe(95);
  });

  it("leaves ten minutes at least", () => {
    expect(active(30, { down: 90, since: 62 })).toBe(80);
  });

  it("fires at once where it had fired", () => {
    expect(active(30, { down: 90, since: 50 })).toBe(50);
  });

  it("begins anew where it is short, was not known, or had ended", () => {
    expect(active(9, { down: 90, since: 85 })).toBe(100);
    expect(active(30, undefined)).toBe(100);
    expect(active(90, { down: 39, since: 30 })).toBe(100);
    expect(active(30, { down: 90, since: 85, isStale: true })).toBe(100);
  });
});
