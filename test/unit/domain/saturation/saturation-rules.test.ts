import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LevelInput, levelRule } from "../../../../src/domain/saturation/level-rules.ts";
import { saturationTier } from "../../../../src/domain/saturation/saturation-tier.ts";

describe("tier by time to exhaustion", () => {
  it.each([
    [0, "high"],
    [60, "high"],
    [60.01, "medium"],
    [359.99, "medium"],
    [360, "medium"],
    [360.01, "low"],
    [1440, "low"],
    [1440.01, null],
    [Number.POSITIVE_INFINITY, null],
  ] as const)("%d minutes: %s", (minutes, tier) => expect(saturationTier(minutes, null)).toBe(tier));
  it.each([
    ["high", 75, "high"],
    ["high", 75.01, "medium"],
    ["medium", 75, "medium"],
    ["medium", 60, "high"],
    ["medium", 450, "medium"],
    ["medium", 450.01, "low"],
    ["low", 1800, "low"],
    ["low", 1800.01, null],
    ["low", 450, "low"],
  ] as const)("%s holds at %d minutes: %s", (held, minutes, tier) => expect(saturationTier(minutes, held)).toBe(tier));
  it("never falls as the end comes closer", () => {
    const rank = { high: 3, medium: 2, low: 1 } as const;
    const held = fc.constantFrom("high", "medium", "low", null);
    const minutes = fc.double({ min: 0, max: 3000, noNaN: true });
    fc.assert(
      fc.property(held, minutes, minutes, (before, a, b) => {
        const [sooner, later] = [Math.min(a, b), Math.max(a, b)].map((time) => saturationTier(time, before));
        expect(sooner ? rank[sooner] : 0).toBeGreaterThanOrEqual(later ? rank[later] : 0);
      }),
    );
  });
});

describe("level rules", () => {
  const quiet: LevelInput = { level: 0.5, baseline: 0.5, corroborated: false, wasBreached: false };
  const tier = (change: Partial<LevelInput>): string => {
    const { rule, tier: found } = levelRule({ ...quiet, ...change });
    return `${rule} ${found}`;
  };
  it.each([
    ["below the floor", { level: 0.9199 }, "headroom_breach null"],
    ["at the floor", { level: 0.92 }, "headroom_breach medium"],
    ["above the floor", { level: 0.9201 }, "headroom_breach medium"],
    ["corroborated", { level: 0.92, corroborated: true }, "headroom_breach high"],
    ["corroborated below the floor", { level: 0.9199, corroborated: true }, "headroom_breach null"],
    ["holding at 90 %", { level: 0.9, wasBreached: true }, "headroom_breach medium"],
    ["holding below 90 %", { level: 0.8999, wasBreached: true }, "headroom_breach null"],
    ["with a baseline just at 85 %", { level: 0.93, baseline: 0.85 }, "headroom_breach medium"],
  ])("headroom breach %s", (_, change, expected) => expect(tier(change)).toBe(expected));
  it.each([
    ["alone at 99 %", { level: 0.99, baseline: 0.8501 }, "resident_high null"],
    ["half of the room gone, alone", { level: 0.95, baseline: 0.9 }, "resident_high null"],
    ["half of the room gone, corroborated", { level: 0.9501, baseline: 0.9, corroborated: true }, "resident_high high"],
    ["less than half, corroborated", { level: 0.9499, baseline: 0.9, corroborated: true }, "resident_high null"],
    ["at its usual level, corroborated", { level: 0.9, baseline: 0.9, corroborated: true }, "resident_high null"],
    ["usually over capacity", { level: 1.2, baseline: 1.1, corroborated: true }, "resident_high high"],
  ])("resident-high %s", (_, change, expected) => expect(tier(change)).toBe(expected));
  it("says which gate held it back", () => {
    const { gates } = levelRule({ ...quiet, level: 0.95, baseline: 0.9, corroborated: false });
    expect(gates.filter((gate) => !gate.passed).map((gate) => gate.name)).toContain("corroborated");
  });
});
