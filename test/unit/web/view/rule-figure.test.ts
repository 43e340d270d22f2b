import { describe, expect, it } from "vitest";
import { ruleFigure } from "../../../../src/web/view/rule-figure.ts";

describe("a number of a gate", () => {
  it.each([
    ["warmup", "paging", 10.5, "10.5 min"],
    ["group_wait", "paging", 10, "10 s"],
    ["persistence", "detection", 4.25, "4.25 sigma"],
    ["flapping", "detection", 6, "6 sigma"],
    ["flapping", "paging", 15, "15 min"],
    ["flapping", "paging", null, "∞"],
    ["practical_significance", "detection", 0.125, "12.5 %"],
    ["minimum_samples", "detection", 120, "120 values"],
    ["silenced", "paging", 1, "yes"],
    ["acknowledged", "paging", 0, "no"],
    ["tier", "paging", 1, "medium"],
    ["slope_lower", "detection", 3, "3"],
  ])("of %s (%s) has its unit", (name, stage, value, text) => {
    expect(ruleFigure({ name, stage, value })).toBe(text);
  });
});
