// Forecasts of the next value beside each other, where hours of the day are not always known.
import { describe, expect, it } from "vitest";
import { LOCAL_LEVELS_LENGTH, LocalLevels } from "../../../../src/domain/detection/departure/local-levels.ts";
import { generator } from "../../../support/generator.ts";

const NOISE = 0.1;
const SLOPE = 0.04;

/** Levels that have learned a climb of which hours know nearly everything: these speak. */
class Climb {
  readonly levels = new LocalLevels(new Float64Array(LOCAL_LEVELS_LENGTH));
  readonly #random = generator(17);
  #minute = 0;
  value = 0;

  /** How far off the forecasts of so many values are; with hours that are known or not. */
  pass(values: number, isHourKnown: boolean, rise = SLOPE): number[] {
    return Array.from({ length: values }, () => {
      const hour = SLOPE * ++this.#minute;
      this.value += rise;
      const value = this.value + NOISE * this.#random.normal();
      this.levels.forecast(isHourKnown ? hour : Number.NaN, false);
      const off = Math.abs(value - this.levels.expected);
      this.levels.learn(value, false, 0);
      return off;
    });
  }
}

describe("forecasts of the next value", () => {
  it("of hours go on from the level behind hours that were not known", () => {
    const climb = new Climb();
    climb.pass(1_000, true);
    // The level goes another way than its hours, which nothing of it is known of.
    climb.pass(60, false, 2 * SLOPE);
    expect(Math.max(...climb.pass(60, true))).toBeLessThan(1);
  });

  it("of hours speak again as they did where the level went with them", () => {
    const climb = new Climb();
    const before = climb.pass(2_000, true).slice(-200);
    climb.pass(60, false);
    const behind = climb.pass(200, true);
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(behind)).toBeLessThan(1.5 * mean(before));
  });
});
