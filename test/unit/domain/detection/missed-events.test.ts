// Series with a period of their own whose event does not come, or is twice as large: news, though the level alone sees nothing out of the ordinary.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { HABIT_START_MS, MINUTE_MS } from "../../../eval/habits/habit-kind.ts";
import { OWN_PERIODS } from "../../../eval/habits/rhythms.ts";

/** None that the report is made with. */
const SEED = 17;
const ROWS = ["saw-tooth, 180 to 360 minutes", "pulse, 40 to 90 minutes", "decay, 90 to 180 minutes"];
const KINDS = OWN_PERIODS.kinds.filter(({ row, noise }) => ROWS.includes(row) && noise === 0.05);

describe("an event of a period of the series' own", () => {
  it.each(KINDS.flatMap(({ row, faults }) => faults.map(({ name, series }) => [row, name, series] as const)))(
    "%s: %s is told within a quarter of the period",
    (_, __, series) => {
      const { values, faultMinute, withinMinutes } = series(SEED);
      const detector = new PairDetector();
      const told = values.flatMap((value, minute) =>
        detector.observe(HABIT_START_MS + minute * MINUTE_MS, value).reports && minute >= faultMinute ? [minute] : [],
      );
      expect(told[0]).toBeLessThanOrEqual(faultMinute + withinMinutes);
    },
  );
});
