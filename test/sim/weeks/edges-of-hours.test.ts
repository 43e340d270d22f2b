// What the hour brings is no news, nor how counts stray there: Mondays behind weekends of nearly nothing.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../src/domain/detection/pair/pair-detector.ts";
import { SURROUNDED_BY_NOTHING } from "../../../src/domain/detection/pair/pair-surroundings.ts";
import { generator } from "../../support/generator.ts";

/** A Monday. */
const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const DAY = 1440;

/** Days on which people would be told, from a day on. */
function toldDays(days: number, fromDay: number, counts: number, valueAt: (minute: number) => number): number[] {
  const detector = new PairDetector();
  const around = { ...SURROUNDED_BY_NOTHING, counts };
  const told: number[] = [];
  for (let minute = 0; minute < days * DAY; minute++)
    if (detector.observe(START + minute * MINUTE, valueAt(minute), around).reports && minute >= fromDay * DAY) told.push(minute / DAY);
  return told;
}

describe.each([1, 2, 3, 4, 5, 6])("seed %d", (seed) => {
  it.each([0.02, 0.1])("Mondays behind weekends at %f of the traffic are none to hear of from the third on", (share) => {
    const { normal } = generator(seed);
    const told = toldDays(29, 14 - 1 / 24, 1, (minute) => {
      const daily = 115 - 85 * Math.cos((2 * Math.PI * minute) / DAY - 0.6);
      const mean = daily * (Math.floor(minute / DAY) % 7 < 5 ? 1 : share);
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    });
    expect(told).toEqual([]);
  });
});
