import { describe, expect, it } from "vitest";
import { mostDeparted } from "../../../../src/web/view/departed-series.ts";

const ONSET_MS = Date.parse("2026-01-31T12:00:00Z");
const series = (instance: string, before: number, behind: number | null) => ({
  attributes: { instance },
  points: [...Array.from({ length: 10 }, () => before), behind, behind].map((value, at) => ({
    timestamp: new Date(ONSET_MS + (at - 10) * 60_000).toISOString(),
    value: value === null ? null : value + (at % 2),
  })),
});

describe("the series that is shown as evidence", () => {
  const still = series("a", 0, 0);
  const broken = series("b", 0, 20);
  const gone = series("c", 5, null);

  it("is the one that departed at the onset, wherever it stands in the list (B4)", () => {
    for (const all of [
      [still, broken, gone],
      [gone, still, broken],
      [broken, gone, still],
    ])
      expect(mostDeparted(all, ONSET_MS, null)).toBe(broken);
  });

  it("is of the instance that the cause names", () => {
    expect(mostDeparted([still, broken, gone], ONSET_MS, "a")).toBe(still);
    expect(mostDeparted([still, broken], ONSET_MS, "unknown")).toBe(broken);
  });

  it("is none of none, and one of those that have no values behind the onset", () => {
    expect(mostDeparted([], ONSET_MS, null)).toBeUndefined();
    expect(mostDeparted([gone], ONSET_MS, null)).toBe(gone);
  });
});
