import { expect, it } from "vitest";
import { FEEDBACK_MS, feedbackFactor } from "../../../../src/domain/alerting/feedback.ts";
import { feedbackText, MARK } from "../../../../src/web/view/feedback-text.ts";

const NOW_MS = Date.parse("2026-01-31T12:00:00Z");

it("a false alarm says what it changes, as the server reckons it (B14)", () => {
  const opinion = { anomalyId: "a", family: "metric", opinion: "false_positive", atMs: NOW_MS } as const;
  expect([MARK.ms, MARK.factor]).toEqual([FEEDBACK_MS, feedbackFactor([opinion], "metric", NOW_MS)]);
  const text = (days: number) => feedbackText("false_positive", new Date(NOW_MS - days * 86_400_000).toISOString(), "shop", NOW_MS);
  expect(text(0)).toContain("raises the thresholds of such findings at shop by 10 %");
  expect(text(7)).toContain("by 5 %");
  expect(text(15)).toBe("Its effect has worn off.");
});
