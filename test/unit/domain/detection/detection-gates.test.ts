// Rules of detection at their limit, just below and just above it. Time is a number.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FLAG_OPERATION, FLAG_PERCENT } from "../../../../src/core/layout/stream-record.ts";
import { anomalyScore, tierOfZ } from "../../../../src/domain/detection/anomaly-score.ts";
import { maturityOf, thresholdFor } from "../../../../src/domain/detection/gates/baseline-maturity.ts";
import { type Direction, directionGate, directionOfName } from "../../../../src/domain/detection/gates/direction.ts";
import { above, atLeast, atMost, below, firstFailed, holds } from "../../../../src/domain/detection/gates/gate-result.ts";
import { quantileTraffic, ratioTraffic, wilsonInterval } from "../../../../src/domain/detection/gates/minimum-traffic.ts";
import { ruleVerdict, TIER_Z } from "../../../../src/domain/detection/gates/rule-verdict.ts";
import { barOf, metricClassOf, significanceGates } from "../../../../src/domain/detection/gates/significance.ts";
import { type Signal, warmUpGate } from "../../../../src/domain/detection/gates/warm-up.ts";
import { flagsOfPoint } from "../../../../src/domain/series/classification.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 5);
const EPSILON = 1e-9;

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

describe("rule 1.1.8: operation-class bar and practical significance", () => {
  const operation = { operation: true, percent: false };
  const curated = { operation: false, percent: false };
  const passes = (metricClass: typeof operation, z: number, value: number, threshold = 3): boolean =>
    significanceGates(metricClass, { z, value, median: 100, threshold }).every((gate) => gate.passed);

  it.each([
    [3, 6],
    [2.9, 6],
    [3.1, 6.2],
    [5, 10],
    [1, 6],
  ])("threshold %d: bar %d for operation-class, itself for the others", (threshold, bar) => {
    expect(barOf(operation, threshold)).toBeCloseTo(bar, 12);
    expect(barOf(curated, threshold)).toBe(threshold);
  });
  it("the bar: just below, at, just above", () => {
    expect([6 - EPSILON, 6, 6 + EPSILON].map((z) => passes(operation, z, 200))).toEqual([false, false, true]);
    expect([-6, -6 - EPSILON].map((z) => passes(operation, z, 20))).toEqual([false, true]);
    expect([3, 3 + EPSILON].map((z) => passes(curated, z, 101))).toEqual([false, true]);
  });
  it("50 % of the median: just below, at, just above, both ways", () => {
    expect([149.999, 150, 150.001].map((value) => passes(operation, 9, value))).toEqual([false, true, true]);
    expect([50.001, 50, 49.999].map((value) => passes(operation, -9, value))).toEqual([false, true, true]);
    expect(passes(curated, 9, 101)).toBe(true);
  });
  it("percent-style names are exempt from the 50 %, not from the bar", () => {
    expect(passes({ operation: true, percent: true }, 6.1, 101)).toBe(true);
    expect(passes({ operation: true, percent: true }, 6, 500)).toBe(false);
  });
  it("a median of zero is passed by any deviation", () => {
    expect(significanceGates(operation, { z: 9, value: 0.1, median: 0, threshold: 3 }).every((gate) => gate.passed)).toBe(true);
  });
  it("reads the class from the flags of the stream", () => {
    expect(metricClassOf(FLAG_OPERATION)).toEqual(operation);
    expect(metricClassOf(FLAG_PERCENT)).toEqual({ operation: false, percent: true });
    expect(metricClassOf(flagsOfPoint("span.checkout.error_ratio", false))).toEqual({ operation: true, percent: true });
    expect(metricClassOf(flagsOfPoint("checkout.duration.p95", false))).toEqual(curated);
  });
});

describe("minimum traffic", () => {
  const failed = (gates: readonly { name: string; passed: boolean }[]): string[] =>
    gates.filter((gate) => !gate.passed).map((gate) => gate.name);
  it("a latency quantile needs 20 spans", () => {
    expect([19, 20, 21].map((spans) => failed(quantileTraffic(spans)))).toEqual([["minimum_spans"], [], []]);
  });
  it("an error ratio needs 10 requests, 3 errors and an interval above the baseline's", () => {
    const baseline = { errors: 10, requests: 10_000 };
    expect(failed(ratioTraffic({ errors: 5, requests: 9 }, baseline))).toEqual(["minimum_requests"]);
    expect(failed(ratioTraffic({ errors: 5, requests: 10 }, baseline))).toEqual([]);
    expect(failed(ratioTraffic({ errors: 2, requests: 10 }, baseline))).toEqual(["minimum_errors"]);
    expect(failed(ratioTraffic({ errors: 3, requests: 10 }, baseline))).toEqual([]);
    expect(failed(ratioTraffic({ errors: 3, requests: 900 }, baseline))).toEqual(["error_ratio_interval"]);
    expect(failed(ratioTraffic({ errors: 30, requests: 900 }, { errors: 0, requests: 0 }))).toEqual(["error_ratio_interval"]);
  });
  it("Wilson's interval is that of the textbook, within 0..1 and around the share", () => {
    // statsmodels proportion_confint(10, 100, method="wilson")
    expect(wilsonInterval({ errors: 10, requests: 100 }).lower).toBeCloseTo(0.0552, 4);
    expect(wilsonInterval({ errors: 10, requests: 100 }).upper).toBeCloseTo(0.1744, 4);
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), (errors, more) => {
        const requests = errors + more + 1;
        const { lower, upper } = wilsonInterval({ errors, requests });
        expect(lower).toBeGreaterThanOrEqual(0);
        expect(upper).toBeLessThanOrEqual(1);
        expect(lower).toBeLessThanOrEqual(errors / requests + 1e-12);
        expect(upper).toBeGreaterThanOrEqual(errors / requests - 1e-12);
      }),
    );
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
