// What comes back after a gap as its hour has it is no news, and what comes back with each week is none after one weekend; five times as much is, in both.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../src/domain/detection/pair/pair-detector.ts";
import { generator } from "../../support/generator.ts";

/** A Monday. */
const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const DAY = 1440;

const daily = (minute: number) => 110 - 90 * Math.cos((2 * Math.PI * minute) / DAY - 0.6);

/** Minutes in which people would be told of counts with these means; none where the mean is not given. */
function told(minutes: number, seed: number, meanAt: (minute: number) => number | undefined): number[] {
  const { normal } = generator(seed);
  const detector = new PairDetector();
  const reported: number[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    const mean = meanAt(minute);
    if (mean === undefined) continue;
    const value = Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    if (detector.observe(START + minute * MINUTE, value).reports) reported.push(minute);
  }
  return reported;
}

describe("behind a gap", () => {
  const gaps = [
    [200, 700],
    [700, 760],
    [900, 1300],
  ] as const;

  it.each(gaps)("from minute %i to %i the level of the hour is no news, and five times it is", (from, to) => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const start = 5 * DAY;
      const usual = (minute: number) => (minute >= start + from && minute < start + to ? undefined : daily(minute));
      expect([seed, told(start + DAY, seed, usual).filter((minute) => minute >= start + from)]).toEqual([seed, []]);
      const fault = start + to + 3;
      const faulty = told(fault + 5, seed, (minute) => (minute >= fault ? 5 * daily(minute) : usual(minute)));
      expect([seed, faulty.filter((minute) => minute >= fault).length > 0]).toEqual([seed, true]);
    }
  });
});

describe("a weekend", () => {
  it.each([0.02, 0.2])("with %f of the working days' traffic is a season after one, and so is the Monday behind it", (share) => {
    for (const seed of [1, 2, 3]) {
      const mean = (minute: number) => daily(minute) * (Math.floor(minute / DAY) % 7 < 5 ? 1 : share);
      const minutes = told(28 * DAY, seed, mean);
      expect([seed, minutes.filter((minute) => minute >= 8 * DAY).length <= 1]).toEqual([seed, true]);
      const fault = 21 * DAY + 600;
      const faulty = told(fault + 30, seed, (minute) => (minute >= fault ? 0.05 * daily(minute) : mean(minute)));
      expect([seed, faulty.some((minute) => minute >= fault)]).toEqual([seed, true]);
    }
  });
});
