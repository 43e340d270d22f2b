// The long baselines of a series of counts: a rate of few against a rate of few.
import { describe, expect, it } from "vitest";
import { FLAG_COUNTER, FLAG_PERCENT } from "../../../../src/core/layout/stream-record.ts";
import { countSd, countsEach, fractionsWith, isWhole, poissonTail } from "../../../../src/domain/detection/departure/counted-values.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import { pairZ } from "../../../../src/domain/detection/pair/pair-verdict.ts";
import { isOfCounts } from "../../../../src/domain/series/classification.ts";

const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;

/** Highest |z| of minutes of windows, of which the named ones differ, and whether anybody would be told of these. */
function judged(usual: number, odd: ReadonlyMap<number, number>, counts: number, minutes = 600) {
  const detector = new PairDetector();
  let [z, reports] = [0, false];
  for (let minute = 0; minute < minutes; minute++) {
    const verdict = detector.observe(START + minute * MINUTE, odd.get(minute) ?? usual, { ...SURROUNDED_BY_NOTHING, counts });
    if (minute < 60) continue;
    z = Math.max(z, Math.abs(pairZ(verdict)));
    reports ||= verdict.reports || verdict.shares;
  }
  return { z, reports };
}

describe("a series of counts", () => {
  it("is known by its kind or its name", () => {
    expect(["span.errors", "span.requests", "http_requests", "log.records"].map((name) => isOfCounts(name, 0))).toEqual(
      Array(4).fill(true),
    );
    expect(["cpu_percent", "latency_ms", "replicas", "requests.p95"].map((name) => isOfCounts(name, 0))).toEqual(Array(4).fill(false));
    expect(isOfCounts("anything", FLAG_COUNTER)).toBe(true);
    expect(isOfCounts("error_ratio", FLAG_PERCENT)).toBe(false);
  });
  it("has so many windows in a minute", () => {
    expect([10_000, 15_000, 60_000, 0].map((intervalMs) => countsEach(true, intervalMs))).toEqual([6, 4, 1, 1]);
    expect(countsEach(false, 10_000)).toBe(0);
  });
  it("has values that are means of counts, but for a few", () => {
    const shareOf = (values: readonly number[], counts: number) => values.reduce((share, value) => fractionsWith(share, value, counts), 0);
    expect(isWhole(shareOf([0, 1 / 6, 2 / 5, 3, 7 / 6], 6))).toBe(true);
    expect(isWhole(shareOf([0, 0.37, 1, 1, 1], 6))).toBe(true);
    expect(isWhole(shareOf([0.37, 0.41, 0.53, 1], 6))).toBe(false);
    expect(isWhole(shareOf([0, 0.5, 1, 1], 0))).toBe(false);
  });
  it("strays as Poisson's does", () => {
    expect(countSd(6, 6)).toBe(1);
    expect(countSd(0, 6)).toBeCloseTo(1 / 18, 12);
    expect(poissonTail(2, 0.02)).toBeCloseTo(1 - Math.exp(-0.02) * 1.02, 12);
    expect(poissonTail(0, 0.3)).toBeCloseTo(1, 9);
  });
  it("one failed span behind none is no news, nor is one request more where there is one in each window", () => {
    expect(judged(0, new Map([[500, 1 / 6]]), 6)).toMatchObject({ reports: false, z: expect.toSatisfy((z: number) => z < 5) });
    expect(judged(1, new Map([[500, 7 / 6]]), 6)).toMatchObject({ reports: false, z: expect.toSatisfy((z: number) => z < 3) });
    const rare = Array.from({ length: 11 }, (_, i) => [40 * i + 20, 1] as const);
    expect(judged(0, new Map([...rare, [500, 2]]), 1).reports).toBe(false);
  });
  it("many are, and those that go on", () => {
    expect(judged(0, new Map([[500, 1]]), 6).reports).toBe(true);
    const lasting = (value: number) => new Map(Array.from({ length: 20 }, (_, i) => [500 + i, value]));
    expect(judged(0, lasting(3 / 6), 6).reports).toBe(true);
    expect(judged(1, lasting(5), 6).reports).toBe(true);
    expect(judged(10, lasting(0), 1).reports).toBe(true);
  });
});
