// Series with a period of their own whose event does not come, or is twice as large: news, though the level alone sees nothing out of the ordinary.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../src/domain/detection/pair/pair-detector.ts";
import { DAY_MINUTES, HABIT_START_MS, type HabitKind, MINUTE_MS } from "../../eval/habits/habit-kind.ts";
import { OWN_PERIODS } from "../../eval/habits/rhythms.ts";

/** None that the report is made with. */
const SEED = 17;
const ROWS = ["saw-tooth, 180 to 360 minutes", "pulse, 40 to 90 minutes", "decay, 90 to 180 minutes"];
const KINDS = OWN_PERIODS.kinds.filter(({ row, noise }) => ROWS.includes(row) && noise === 0.05);

/** Minutes in which people would be told of a series. */
function toldOf({ values }: { readonly values: readonly number[] }): number[] {
  const detector = new PairDetector();
  return values.flatMap((value, minute) => (detector.observe(HABIT_START_MS + minute * MINUTE_MS, value).reports ? [minute] : []));
}

function kindOf(row: string, noise: number): HabitKind {
  return OWN_PERIODS.kinds.find((kind) => kind.row === row && kind.noise === noise) as HabitKind;
}

describe("an event of a period of the series' own", () => {
  it.each(KINDS.flatMap(({ row, faults }) => faults.map(({ name, series }) => [row, name, series] as const)))(
    "%s: %s is told within a quarter of the period",
    (_, __, series) => {
      const faulty = series(SEED);
      const told = toldOf(faulty).filter((minute) => minute >= faulty.faultMinute);
      expect(told[0]).toBeLessThanOrEqual(faulty.faultMinute + faulty.withinMinutes);
    },
  );

  it.each([14, 15])("of exact levels is told, missing or twice as high, wherever in the hour it is due (%i)", (seed) => {
    for (const { name, series } of kindOf("pulse, 180 to 360 minutes", 0).faults) {
      const faulty = series(seed);
      const inTime = toldOf(faulty).filter((minute) => minute >= faulty.faultMinute && minute <= faulty.faultMinute + faulty.withinMinutes);
      expect([name, inTime.length > 0]).toEqual([name, true]);
    }
  });

  it("is none where its end comes within a part of the period", () => {
    const told = toldOf(kindOf("pulse, 360 to 700 minutes", 0.05).quiet(16));
    expect(told.filter((minute) => minute >= 3 * DAY_MINUTES)).toEqual([]);
  });
});
