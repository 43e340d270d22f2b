// Rules of detection at their limit, just below and just above it. Time is a number.
import { describe, expect, it } from "vitest";
import { anomalyScore, tierOfZ } from "../../../../src/domain/detection/anomaly-score.ts";
import { maturityOf, thresholdFor } from "../../../../src/domain/detection/gates/baseline-maturity.ts";
import { type Direction, directionGate, directionOfName } from "../../../../src/domain/detection/gates/direction.ts";
import { above, atLeast, atMost, below, firstFailed, holds } from "../../../../src/domain/detection/gates/gate-result.ts";
import { ruleVerdict, TIER_Z } from "../../../../src/domain/detection/gates/rule-verdict.ts";
import { type Signal, warmUpGate } from "../../../../src/domain/detection/gates/warm-up.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 5);

describe("gate results", () => {
  it("compare as they are named, and no NaN passes", () => {
    for (const [gate, passes] of [
      [atLeast, [false, true, true]],
      [above, [false, false, true]],
      [atMost, [true, true, false]],
      [below, [true, false, false]],
    ] as const) {
      expect([1.9, 2, 2.1].map((value) => gate("g", value, 2).passed)).toEqual(passes);
      expect(gate("g", Number.NaN, 2).passed).toBe(false);
    }
    expect(firstFailed([holds("a", true), holds("b", false), holds("c", false)])?.name).toBe("b");
    expect(firstFailed([holds("a", true)])).toBeUndefined();
  });
  it("make a verdict whose tail probability, score and tier agree", () => {
    for (const tier of ["medium", "high"] as const) {
      const gates = [holds("a", false)];
      const of = {
        detector: "slo_burn",
        observed: 2,
        expected: 1,
        lower: 0,
        upper: 1,
        threshold: 1,
        baselineValues: 9,
        baselineAgeSeconds: 5,
        gates,
      };
      const verdict = ruleVerdict({ ...of, z: -TIER_Z[tier] });
      expect(tierOfZ(verdict.z)).toBe(tier);
      expect(verdict.p).toBeCloseTo(tier === "high" ? 0.0027 : 0.0455, 4);
      expect(verdict.suppressed_by).toBe("a");
    }
    expect(anomalyScore(TIER_Z.low)).toBeLessThan(0.4);
  });
});

describe("direction", () => {
  it.each([
    ["http.errors", "high"],
    ["checkout.duration.p95", "high"],
    ["queueLag", "high"],
    ["payment.success_ratio", "low"],
    ["service.availability", "low"],
    ["disk.free", "low"],
    ["requests.count", "both"],
    ["terror_alerts", "both"],
    ["error.success_ratio", "both"],
    ["node_filesystem_avail_bytes", "low"],
    ["go_memstats_heap_released_bytes", "low"],
  ] as ReadonlyArray<readonly [string, Direction]>)("%s is watched %s", (name, direction) => expect(directionOfName(name)).toBe(direction));
  it("lets a deviation pass the watched way only; an override goes first", () => {
    const passes = (z: number, name: string, override: Direction | null = null): boolean => directionGate(z, name, override).passed;
    expect([-4, 0, 4].map((z) => passes(z, "http.errors"))).toEqual([false, false, true]);
    expect([-4, 0, 4].map((z) => passes(z, "service.availability"))).toEqual([true, false, false]);
    expect([-4, 0, 4].map((z) => passes(z, "requests.count"))).toEqual([true, false, true]);
    expect(passes(-4, "http.errors", "both")).toBe(true);
    expect(passes(4, "http.errors", "low")).toBe(false);
  });
});

describe("rule 1.1.9: warm-up after a start", () => {
  const quiet: readonly Signal[] = ["operation_z", "isolation_forest", "adaptive", "saturation", "external_alert"];
  const independent: readonly Signal[] = ["named_metric_z", "slo_burn", "stale_service", "cascade", "manual_override"];
  it.each(quiet)("%s may alert from minute 8 on", (signal) => {
    const at = (afterMs: number): boolean => warmUpGate(signal, START, START + afterMs, 8).passed;
    expect([0, 8 * 60_000 - 1, 8 * 60_000, 8 * 60_000 + 1].map(at)).toEqual([false, false, true, true]);
  });
  it.each(independent)("%s may alert at once", (signal) => expect(warmUpGate(signal, START, START, 8).passed).toBe(true));
  it("of no minutes holds nothing back", () => expect(warmUpGate("adaptive", START, START, 0).passed).toBe(true));
});

describe("rule 1.1.13: baseline maturity", () => {
  it.each([
    [0, "young"],
    [24 * HOUR - 1, "young"],
    [24 * HOUR, "settling"],
    [24 * HOUR + 1, "settling"],
    [7 * 24 * HOUR - 1, "settling"],
    [7 * 24 * HOUR, "mature"],
    [7 * 24 * HOUR + 1, "mature"],
  ])("after %d ms: %s", (age, maturity) => expect(maturityOf(START, START + age)).toBe(maturity));
  it("younger services are more sensitive, and never by much", () => {
    const thresholds = (["young", "settling", "mature"] as const).map((maturity) => thresholdFor(maturity, 3));
    expect(thresholds).toEqual(thresholds.toSorted((a, b) => a - b));
    expect(new Set(thresholds).size).toBe(3);
    expect(thresholds[0]).toBeGreaterThan(2.5);
    expect(thresholds[2]).toBe(3);
  });
});
