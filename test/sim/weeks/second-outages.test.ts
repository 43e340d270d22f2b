// One departure that people were told of is no habit: a second outage is told within ten minutes of its begin, whenever it comes and however long it is.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../src/domain/detection/pair/pair-detector.ts";
import { generator } from "../../support/generator.ts";

const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const DAY = 1440;
/** Minutes from the begin of an outage in which people are told of it. */
const TOLD_WITHIN = 10;

interface Outage {
  readonly from: number;
  readonly minutes: number;
}

/** Minutes in which people would be told of a series with outages; values are of the level's own noise. */
function told(days: number, level: number, noise: number, share: number, outages: readonly Outage[], seed: number): number[] {
  const { normal } = generator(seed);
  const detector = new PairDetector();
  const minutes: number[] = [];
  for (let minute = 0; minute < days * DAY; minute++) {
    const isDown = outages.some(({ from, minutes: lasts }) => minute >= from && minute < from + lasts);
    const value = level * (1 + noise * normal()) * (isDown ? share : 1);
    if (detector.observe(START + minute * MINUTE, value).reports) minutes.push(minute);
  }
  return minutes;
}

const isNotified = (minutes: readonly number[], from: number, within = TOLD_WITHIN) =>
  minutes.some((minute) => minute >= from && minute <= from + within);

describe("a second outage", () => {
  it.each([60, 120, 185, 740, DAY, 7 * DAY])("is told as the first was, %i minutes after it", (gap) => {
    const from = 3 * DAY + 400;
    for (const [first, second] of [
      [30, 50],
      [50, 30],
    ] as const) {
      const outages = [
        { from, minutes: first },
        { from: from + gap, minutes: second },
      ];
      const minutes = told(4 + Math.ceil(gap / DAY), 100, 0.04, 0.02, outages, gap + first);
      expect([isNotified(minutes, from), isNotified(minutes, from + gap)]).toEqual([true, true]);
    }
  });

  it("is told at any level, noise, depth and distance", () => {
    const shape = fc.record({
      level: fc.constantFrom(0.5, 20, 1000, 1e6),
      noise: fc.constantFrom(0.01, 0.03, 0.06),
      share: fc.constantFrom(0, 0.02, 0.3, 2.5, 4, 10),
      first: fc.integer({ min: 15, max: 240 }),
      gap: fc.integer({ min: 300, max: 1200 }),
      second: fc.integer({ min: 15, max: 300 }),
      seed: fc.integer({ min: 1, max: 1000 }),
    });
    fc.assert(
      fc.property(shape, ({ level, noise, share, first, gap, second, seed }) => {
        const from = 2 * DAY + 100;
        const outages = [
          { from, minutes: first },
          { from: from + gap, minutes: second },
        ];
        const minutes = told(4, level, noise, share, outages, seed);
        return isNotified(minutes, from) && isNotified(minutes, from + gap);
      }),
      { numRuns: 25 },
    );
  });

  it("is told three and seven days after one of eight hours, which nobody has taken for the new level", () => {
    for (const gap of [3 * DAY, 7 * DAY]) {
      const from = 3 * DAY;
      const outages = [
        { from, minutes: 480 },
        { from: from + gap, minutes: 90 },
      ];
      expect(isNotified(told(4 + gap / DAY, 100, 0.04, 0.02, outages, gap), from + gap)).toBe(true);
    }
  });

  it("is told when it lasts longer than those before, of which there were two to fourteen of five minutes", () => {
    for (const before of [2, 4, 9, 14]) {
      const outages = Array.from({ length: before }, (_, place) => ({
        from: 3 * DAY + 147 * place + 31 * place * (place % 3),
        minutes: 5,
      }));
      const from = (outages.at(-1) as Outage).from + 163;
      const minutes = told(6, 100, 0.04, 0.02, [...outages, { from, minutes: 240 }], before);
      expect([before, isNotified(minutes, from, 12)]).toEqual([before, true]);
    }
  });
});

describe("orders that are none at night", () => {
  it.each([5, 7, 10])("are told to be none at eleven, after %i days", (days) => {
    for (const seed of [1, 2, 3]) {
      const { normal } = generator(100 * days + seed);
      const detector = new PairDetector();
      const reported: number[] = [];
      const outage = days * DAY + 660;
      for (let minute = 0; minute < outage + 120; minute++) {
        const mean = 200 * Math.max(0, 0.2 - 0.5 * Math.cos((2 * Math.PI * minute) / DAY - 0.6));
        const value = minute >= outage ? 0 : Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
        if (detector.observe(START + minute * MINUTE, value).reports) reported.push(minute);
      }
      expect([days, seed, isNotified(reported, outage, 30)]).toEqual([days, seed, true]);
    }
  });
});
