import { describe, expect, it } from "vitest";
import {
  TABLE_COLUMN_Z,
  TABLE_COLUMNS,
  TABLE_LEVEL_CLEAR,
  TABLE_LEVEL_OPEN,
  TABLE_LEVEL_SEVERE,
  TABLE_LEVEL_STRONG,
  TABLE_SET_OPERATION,
} from "../../../../src/core/layout/kernel-event.ts";
import { anomalyScore, tierOfScore, tierOfZ } from "../../../../src/domain/detection/anomaly-score.ts";
import {
  fillThresholdTables,
  levelsFor,
  ratioForZ,
  THRESHOLD_TABLE_VALUES,
  zOfRatio,
} from "../../../../src/domain/detection/thresholds.ts";

describe("anomalyScore", () => {
  it.each([
    [0, 0],
    [2, 0.4],
    [3, 0.7],
    [6, 0.85],
    [9, 0.925],
    [-3, 0.7],
  ])("z %d has score %d", (z, score) => {
    expect(anomalyScore(z)).toBeCloseTo(score, 3);
  });
  it("is continuous, grows and ends below or at 1", () => {
    let before = -1;
    for (let z = 0; z <= 99; z += 0.01) {
      const score = anomalyScore(z);
      expect(score).toBeGreaterThan(before);
      expect(score).toBeLessThanOrEqual(1);
      if (before >= 0) expect(score - before).toBeLessThan(0.004);
      before = score;
    }
  });
  it("bands touch", () => {
    expect([0, 0.399_999, 0.4, 0.699_999, 0.7, 1].map(tierOfScore)).toEqual(["low", "low", "medium", "medium", "high", "high"]);
    expect(tierOfZ(3)).toBe("high");
    expect(tierOfZ(-2.99)).toBe("medium");
  });
});

describe("threshold tables", () => {
  const tables = new Float64Array(THRESHOLD_TABLE_VALUES);
  fillThresholdTables(tables, 3);
  const at = (set: number, level: number, n: number): number => tables[(set * 4 + level) * TABLE_COLUMNS + n] as number;

  it("hold the ratio whose equivalent z is the level", () => {
    const levels = levelsFor(3, false);
    for (let n = 12; n <= 120; n++) {
      expect(zOfRatio(at(0, TABLE_LEVEL_OPEN, n), n)).toBeCloseTo(levels.open, 9);
      expect(zOfRatio(at(0, TABLE_LEVEL_STRONG, n), n)).toBeCloseTo(6, 9);
      expect(zOfRatio(at(0, TABLE_LEVEL_CLEAR, n), n)).toBeCloseTo(2.1, 9);
      expect(zOfRatio(at(TABLE_SET_OPERATION, TABLE_LEVEL_OPEN, n), n)).toBeCloseTo(6, 9);
      expect(zOfRatio(at(TABLE_SET_OPERATION, TABLE_LEVEL_STRONG, n), n)).toBeCloseTo(12, 8);
      expect(zOfRatio(at(TABLE_SET_OPERATION, TABLE_LEVEL_SEVERE, n), n)).toBeCloseTo(3, 9);
    }
  });
  it("fall towards the level as the baseline grows", () => {
    for (let n = 13; n <= 120; n++) expect(at(0, TABLE_LEVEL_OPEN, n)).toBeLessThan(at(0, TABLE_LEVEL_OPEN, n - 1));
    // scipy 1.17: t.isf(norm.sf(z), n - 1) * sqrt(1 + 1/n)
    expect(at(0, TABLE_LEVEL_OPEN, 12)).toBeCloseTo(4.007_140_881_301_805, 10);
    expect(at(0, TABLE_LEVEL_OPEN, 120)).toBeCloseTo(3.077_002_718_945_075, 10);
    expect(at(0, TABLE_LEVEL_STRONG, 12)).toBeCloseTo(18.423_036_790_028_8, 9);
    expect(at(TABLE_SET_OPERATION, TABLE_LEVEL_OPEN, 30)).toBeCloseTo(8.703_450_628_328_52, 9);
  });
  it("are infinite below the minimum, and hold z in the last column", () => {
    for (const n of [0, 1, 11, 121, 126]) expect(at(0, TABLE_LEVEL_OPEN, n)).toBe(Number.POSITIVE_INFINITY);
    expect(at(0, TABLE_LEVEL_OPEN, TABLE_COLUMN_Z)).toBe(3);
    expect(at(TABLE_SET_OPERATION, TABLE_LEVEL_CLEAR, TABLE_COLUMN_Z)).toBeCloseTo(4.2, 12);
  });
  it("raise the operation bar with the threshold", () => {
    expect(levelsFor(4, true)).toEqual({ open: 8, strong: 16, clear: 5.6, severe: 3 });
    expect(levelsFor(2, true).open).toBe(6);
  });
  it("take one sample for enough where nothing is to be confirmed", () => {
    expect(levelsFor(3, false, true)).toEqual(levelsFor(3, false));
    expect(levelsFor(3, false, false)).toEqual({ ...levelsFor(3, false), strong: 3 });
    expect(levelsFor(4, true, false)).toEqual({ open: 8, strong: 8, clear: 5.6, severe: 3 });
    const literal = new Float64Array(THRESHOLD_TABLE_VALUES);
    fillThresholdTables(literal, 3, { samplesMin: 12, confirmation: false });
    const row = (level: number) => literal.subarray(level * TABLE_COLUMNS, (level + 1) * TABLE_COLUMNS);
    expect(row(TABLE_LEVEL_STRONG)).toEqual(row(TABLE_LEVEL_OPEN));
    expect(row(TABLE_LEVEL_OPEN)).toEqual(tables.subarray(TABLE_LEVEL_OPEN, TABLE_COLUMNS));
  });
  it("refuse nonsense", () => {
    expect(() => fillThresholdTables(tables, 0)).toThrow("above 0");
    expect(() => fillThresholdTables(new Float64Array(4), 3)).toThrow("needed");
    expect(ratioForZ(3, 1)).toBe(Number.POSITIVE_INFINITY);
  });
});
