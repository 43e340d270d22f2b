import { describe, expect, it } from "vitest";
import { explain, passesGates, type ZScoreInput, zScoreVerdict } from "../../../../src/domain/detection/verdict.ts";

const ordinary: ZScoreInput = {
  value: 412,
  mean: 120,
  sd: 8,
  rawSd: 8,
  ratio: 36.5,
  count: 120,
  window: Array.from({ length: 120 }, (_, i) => 112 + (i % 17)),
  ageSeconds: 7200,
  declared: true,
  constant: false,
  afterGap: false,
  reset: false,
  threshold: 3,
  minimumSamples: 12,
  operation: false,
  percent: false,
  layers: ["statistical"],
};

function verdictOf(changes: Partial<ZScoreInput>): ReturnType<typeof zScoreVerdict> {
  return zScoreVerdict({ ...ordinary, ...changes });
}

describe("zScoreVerdict", () => {
  it("holds what every detector says", () => {
    const verdict = verdictOf({});
    expect(verdict).toMatchObject({
      detector: "z_score",
      observed: 412,
      expected: 120,
      threshold: 3,
      contributions: [],
      suppressed_by: null,
      layers: ["statistical"],
      baseline: { n: 120, mean: 120, sd: 8, median: 120, bucket: null, age_seconds: 7200 },
    });
    expect(verdict.z).toBeGreaterThan(10);
    expect(verdict.z).toBeLessThan(36.5);
    expect(verdict.p).toBe(1 / 121);
    expect(verdict.lower).toBeCloseTo(120 - 8 * 3.077_002_718_945, 6);
    expect(verdict.upper).toBeCloseTo(120 + 8 * 3.077_002_718_945, 6);
    expect(passesGates(verdict)).toBe(true);
    expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
  });

  it("says the bar that one sample needs: twice the threshold, or the threshold where nothing is to be confirmed", () => {
    const limit = (changes: Partial<ZScoreInput>) => verdictOf(changes).gates.find(({ name }) => name === "persistence")?.limit;
    expect([limit({}), limit({ confirmation: true }), limit({ confirmation: false })]).toEqual([6, 6, 3]);
  });

  it.each([
    ["not declared", { declared: false }, "not_persistent"],
    ["too few samples", { count: 11 }, "too_few_samples"],
    ["once after a gap", { declared: false, afterGap: true }, "after_gap"],
    ["once after a reset", { declared: false, reset: true }, "counter_reset"],
    ["once off a constant", { declared: false, constant: true, ratio: 10, rawSd: 0 }, "constant_departure_not_confirmed"],
    ["an operation below its bar", { operation: true, ratio: 5, value: 160, declared: false }, "below_operation_bar"],
    ["an operation that hardly moved", { operation: true, value: 160 }, "not_significant"],
    ["an operation that moved", { operation: true }, null],
    ["a percentage that hardly moved", { operation: true, percent: true, value: 160 }, null],
    ["ordinary", {}, null],
  ] as const)("%s", (_, changes, reason) => {
    const verdict = verdictOf(changes);
    expect(verdict.suppressed_by).toBe(reason);
    expect(passesGates(verdict)).toBe(reason === null);
  });

  it("gates the deviation of exactly half the median", () => {
    const gate = (value: number): boolean | undefined =>
      verdictOf({ operation: true, value }).gates.find(({ name }) => name === "practical_significance")?.passed;
    expect([gate(180), gate(179.999), gate(60), gate(60.001)]).toEqual([true, false, true, false]);
  });

  it("calls a value far out of a young series, of one of few streams, whose noise is known for ten minutes, that moves by more than a tenth", () => {
    const young = { longBaseline: { values: 359, streams: 50, evidence: undefined }, ratio: 6, value: 168, ageSeconds: 600 } as const;
    const isFarOut = (changes: Partial<ZScoreInput>) => verdictOf({ ...young, ...changes }).gates.some(({ name }) => name === "far_out");
    const said = (changes: object) => isFarOut({ longBaseline: { ...young.longBaseline, ...changes } });
    expect([isFarOut({}), isFarOut({ ratio: -6, value: 72 })]).toEqual([true, true]);
    expect([said({ values: 360 }), said({ streams: 51 }), said({ evidence: { size: 9, bar: 8 } })]).toEqual([false, false, false]);
    expect([isFarOut({ ageSeconds: 599 }), isFarOut({ rawSd: 7 }), isFarOut({ value: 132 }), isFarOut({ ratio: 5 })]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it("calls a value extreme of a young series many times its usual, of a service of many streams once that is known for half an hour", () => {
    const isExtreme = (streams: number, ageSeconds: number) =>
      verdictOf({
        longBaseline: { values: 100, streams, evidence: undefined },
        ratio: 25,
        value: 620,
        ageSeconds,
        lasting: true,
      }).gates.some(({ name }) => name === "extreme");
    expect([isExtreme(50, 300), isExtreme(51, 1_799), isExtreme(51, 1_800)]).toEqual([true, false, true]);
  });

  it("has finite numbers for extremes", () => {
    for (const ratio of [1e9, -1e9, 0, 1e-300]) {
      for (const count of [0, 1, 2, 120]) {
        const { z, p, lower, upper } = verdictOf({ ratio, count });
        for (const number of [z, p, lower, upper]) expect(Number.isFinite(number)).toBe(true);
        expect(p).toBeGreaterThanOrEqual(1e-300);
      }
    }
  });
});

describe("explain", () => {
  const names = { metricName: "latency_ms" };
  it("says it in one sentence", () => {
    const verdict = { ...verdictOf({}), z: 9.3, lower: 96, upper: 144 };
    expect(explain(verdict, names)).toBe(
      "latency_ms was 412 (equivalent z 9.3), above its usual 120 (expected 96 to 144 over the last 120 samples)",
    );
  });
  it("knows the other side, constants and the far end", () => {
    expect(explain(verdictOf({ value: 2.345_678, ratio: -14.7 }), names)).toMatch(
      /^latency_ms was 2\.346 \(equivalent z -\d+\.\d\), below its usual 120 /,
    );
    expect(explain(verdictOf({ value: 1, mean: 0, rawSd: 0, constant: true, ratio: 10 }), names)).toBe(
      "latency_ms was 1, above the 0 that all of the last 120 samples had",
    );
    expect(explain({ ...verdictOf({}), z: 99 }, names)).toContain("(equivalent z above 99)");
    expect(explain({ ...verdictOf({}), z: -99 }, names)).toContain("(equivalent z below -99), below its usual");
    expect(explain(verdictOf({ value: 1.5e18 }), names)).toContain("1.500e+18");
  });
});
