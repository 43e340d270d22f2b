// What people say moves a threshold, within bounds and for two weeks.
import { describe, expect, it } from "vitest";
import { type AnomalyOpinion, feedbackFactor, withOpinion } from "../../../../src/domain/alerting/feedback.ts";

const DAY = 24 * 3600 * 1000;
const START = Date.UTC(2026, 0, 5);
const said = (opinion: AnomalyOpinion["opinion"], change: Partial<AnomalyOpinion> = {}): AnomalyOpinion => ({
  anomalyId: `${change.atMs ?? START}`,
  family: "metric",
  opinion,
  atMs: START,
  ...change,
});
const times = (count: number, opinion: AnomalyOpinion["opinion"]) =>
  Array.from({ length: count }, (_, i) => said(opinion, { anomalyId: `${i}` }));
const factor = (opinions: readonly AnomalyOpinion[], nowMs = START) => feedbackFactor(opinions, "metric", nowMs);

describe("feedback", () => {
  it("a false positive raises by a tenth, up to a half: below, above the bound", () => {
    expect(factor(times(1, "false_positive"))).toBeCloseTo(1.1, 12);
    expect(factor(times(4, "false_positive"))).toBeCloseTo(1.4641, 12);
    expect([5, 50].map((count) => factor(times(count, "false_positive")))).toEqual([1.5, 1.5]);
  });
  it("a true positive lowers, down to 0.9: above, below the bound", () => {
    expect(factor(times(1, "true_positive"))).toBeCloseTo(1 / 1.1, 12);
    expect([2, 50].map((count) => factor(times(count, "true_positive")))).toEqual([0.9, 0.9]);
  });
  it("both together, and of its family alone", () => {
    expect(factor([said("true_positive"), said("false_positive")])).toBe(1);
    expect(feedbackFactor([said("false_positive")], "multivariate", START)).toBe(1);
    expect(factor([])).toBe(1);
  });
  it("wears off in 14 days: half-way, just before, at, after", () => {
    const at = (ms: number) => factor([said("false_positive")], START + ms);
    expect(at(7 * DAY)).toBeCloseTo(Math.sqrt(1.1), 12);
    expect(at(14 * DAY - 3_600_000)).toBeGreaterThan(1);
    expect([14 * DAY, 14 * DAY + 1, 99 * DAY].map(at)).toEqual([1, 1, 1]);
  });
  it("a later word on the same anomaly takes the place of the earlier; few are kept, and none that has worn off", () => {
    const first = said("false_positive", { anomalyId: "a" });
    expect(withOpinion([first], said("true_positive", { anomalyId: "a", atMs: START + 1 }), 9)).toMatchObject([
      { opinion: "true_positive" },
    ]);
    expect(withOpinion([first], said("true_positive", { anomalyId: "b", atMs: START + 14 * DAY - 1 }), 9)).toHaveLength(2);
    expect(withOpinion([first], said("true_positive", { anomalyId: "b", atMs: START + 14 * DAY }), 9)).toHaveLength(1);
    expect(withOpinion(times(9, "false_positive"), said("true_positive"), 9)).toMatchObject([
      ...times(9, "false_positive").slice(1),
      { opinion: "true_positive" },
    ]);
  });
});
