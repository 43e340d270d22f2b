import { describe, expect, it } from "vitest";
import { triedGroup } from "../../../../src/actors/query/rule-trial.ts";
import { RULE_TRIAL_ALERTS_MAX, RULE_TRIAL_MS_MAX } from "../../../../src/core/config/rule-limits.ts";
import type { RuleGroupDocument } from "../../../../src/domain/rules/file/group-document.ts";
import { queryRig, type RigSeries } from "../../../support/rule-queries-rig.ts";

const START_MS = Date.UTC(2026, 0, 31, 12);
const MINUTE_MS = 60_000;
const UP: RigSeries = {
  labels: { __name__: "up", job: "shop" },
  values: Array.from({ length: 60 }, (_, at) => (at >= 10 && at < 30 ? 0 : 1)),
};

function tried(rules: RuleGroupDocument["rules"], series: readonly RigSeries[] = [UP], clock?: () => number) {
  const rig = queryRig(series, START_MS, MINUTE_MS, clock);
  const document = JSON.stringify({ name: "shop", rules });
  const work = { kind: "try", document, firstMs: START_MS, stepMs: MINUTE_MS, steps: 60, externalUrl: "http://here" } as const;
  return { rig, outcome: triedGroup(rig.context, work) };
}

const minutes = (alerts: ReadonlyArray<{ readonly activeMs: number; readonly firedMs: number; readonly endedMs: number | null }>) =>
  alerts.map(({ activeMs, firedMs, endedMs }) =>
    [activeMs, firedMs, endedMs].map((ms) => (ms === null ? null : (ms - START_MS) / MINUTE_MS)),
  );

describe("a trial of rules", () => {
  it("says since when an alert would have been active, when it would have fired and ended, with its texts", async () => {
    const summary = "{{ $labels.job }} is {{ $value }}, {{ with query `count(up)` }}{{ . | first | value }}{{ end }} there";
    const { rig, outcome } = tried([{ alert: "Down", expr: "up == 0", for: "5m", annotations: { summary } }]);
    const { problem, rules, alerts } = await outcome;
    expect([problem, rules]).toEqual([null, [{ failures: 0, lastError: null }]]);
    expect(minutes(alerts)).toEqual([[10, 15, 30]]);
    expect(alerts[0]).toMatchObject({ labels: { alertname: "Down", job: "shop" }, annotations: { summary: "shop is 0, 1 there" } });
    expect(rig.memory.isScarce).toBe(false);
    expect(rig.selections).toHaveLength(1);
  });

  it("has rules see what those before them record, and what they themselves have made", async () => {
    const { outcome } = tried([
      { record: "job:up", expr: "up * 2" },
      { alert: "Down", expr: "job:up == 0" },
      { record: "downs", expr: "(downs or vector(0)) + 1 and on() up == 0" },
      { alert: "Long", expr: "downs >= 6 unless on() ALERTS{alertname='Nothing'}" },
    ]);
    const { alerts } = await outcome;
    expect(minutes(alerts)).toEqual([
      [10, 10, 30],
      [15, 15, 30],
    ]);
  });

  it("tells of a rule that fails, and goes on with others", async () => {
    const two = { labels: { __name__: "up", job: "other" }, values: UP.values };
    const { outcome } = tried(
      [
        { alert: "Bad", expr: "up == on() up" },
        { alert: "Down", expr: "sum(up) == 0", for: "1m" },
      ],
      [UP, two],
    );
    const { rules, alerts } = await outcome;
    expect(rules).toEqual([
      { failures: 60, lastError: expect.stringContaining("many-to-many matching not allowed") },
      { failures: 0, lastError: null },
    ]);
    expect(minutes(alerts)).toEqual([[10, 11, 30]]);
  });

  it("ends where it takes too long or too many alerts fire, and says how far it came", async () => {
    let nowMs = 0;
    const slow = await tried(
      [
        { alert: "A", expr: "up == 0" },
        { alert: "B", expr: "up == 0" },
      ],
      [UP],
      () => {
        nowMs += RULE_TRIAL_MS_MAX / 200;
        return nowMs;
      },
    ).outcome;
    expect(slow.problem).toMatch(/^the trial took 60 s; \d+ % of the evaluations were done/);
    const flapping = Array.from({ length: 1 + RULE_TRIAL_ALERTS_MAX / 30 }, (_, index) => ({
      labels: { __name__: "up", job: `job-${index}` },
      values: UP.values.map((_value, at) => at % 2),
    }));
    const many = await tried([{ alert: "Down", expr: "up == 0" }], flapping).outcome;
    expect(many.problem).toContain(`more than ${RULE_TRIAL_ALERTS_MAX} alerts fire`);
  });
});
