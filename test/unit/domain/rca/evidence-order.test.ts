// What is said first of a cause is of the series that it names, and nothing is said to be certain.
import { describe, expect, it } from "vitest";
import { summaryOf } from "../../../../src/domain/rca/advice.ts";
import { type EvidenceItem, leadFirst } from "../../../../src/domain/rca/evidence-items.ts";

const ERRORS: EvidenceItem = { source: "metric", text: "error_ratio went from 0.01 to 0.09", strength: 13.3 };
const CPU: EvidenceItem = { source: "metric", text: "cpu_percent went from 20 to 79", strength: 12.6 };
const CHANGE: EvidenceItem = { source: "change", text: "a deployment", strength: 20 };

const SAID = {
  enough: true,
  candidates: [],
  category: "infrastructure",
  firstSymptom: null,
  impact: [],
  lookedAt: { services: 1, series: 1, lines: 0, calls: 0, changes: 0 },
} as const;

describe("pieces of evidence", () => {
  it("begin with the series that stands for the candidate where a stronger one is of another metric", () => {
    expect(leadFirst([ERRORS, CPU], CPU.text)).toEqual([CPU, ERRORS]);
    expect(leadFirst([ERRORS, CPU], null)).toEqual([ERRORS, CPU]);
  });

  it("leave a change in front that is stronger than what metrics say", () => {
    expect(leadFirst([ERRORS, CPU, CHANGE], CPU.text)).toEqual([CHANGE, CPU, ERRORS]);
  });
});

describe("a summary", () => {
  it.each([
    [0.9, "0.90"],
    [0.9946, "0.99"],
    [0.9992, "0.999"],
    [1, "0.999"],
  ])("of confidence %f says %s", (confidence, shown) => {
    const candidates = [{ serviceId: "db", metricName: "cpu_percent", instance: null, score: 1, evidence: [CPU] }];
    const summary = summaryOf({ ...SAID, candidates, confidence } as unknown as Parameters<typeof summaryOf>[0]);
    expect(summary).toBe(`db, infrastructure (confidence ${shown}): ${CPU.text}.`);
  });
});
