// What is told of a finding of saturation from evaluation to evaluation.
import { describe, expect, it } from "vitest";
import type { SaturationFinding } from "../../../../src/domain/saturation/saturation-finding.ts";
import { frameOfFire, nextReport, type ReportedFinding, transitionOf } from "../../../../src/domain/saturation/saturation-fire.ts";

const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const NAME = { tenant: "default", environment: "", serviceId: "db", metricName: "disk_used_percent", attributes: {} };
const found = (z: number, minute: number) => ({
  finding: { kind: "utilization", tier: "medium", text: `z ${z}`, verdict: { z } } as unknown as SaturationFinding,
  sampleMs: START + minute * MINUTE,
});

describe("a finding that goes on", () => {
  const first = nextReport(undefined, "key", found(2.1, 0), START + MINUTE);

  it("is told when it is a tenth farther, or of another tier, and not with each value", () => {
    const reported: number[] = [];
    let before: ReportedFinding | undefined;
    for (let minute = 0; minute < 200; minute++) {
      // From medium to high in 200 small steps.
      const next = nextReport(before, "key", found(2.1 + 0.01 * minute, minute), START + minute * MINUTE);
      if (transitionOf(before, next) !== undefined) reported.push(Number(next.peakZ.toFixed(2)));
      before = next;
    }
    expect(reported[0]).toBe(2.1);
    expect(reported.length).toBeLessThan(9);
    // The first above 3 is high, though it is less than a tenth above what was told last.
    expect(reported).toContain(3);
    expect(transitionOf(first, nextReport(first, "key", found(2.0, 2), START))).toBeUndefined();
    expect(transitionOf(first, nextReport(first, "key", found(2.32, 2), START))).toBe("update");
  });

  it("is observed at the time of its sample, and keeps its id and begin", () => {
    const next = nextReport(first, "key", found(2.5, 30), START + 45 * MINUTE);
    expect(frameOfFire(NAME, next, "update")).toMatchObject({
      observedAtMs: START + 30 * MINUTE,
      startedAtMs: START + MINUTE,
      episodeId: first.id,
      z: 2.5,
    });
  });
});
