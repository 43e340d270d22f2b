// Series that alternate between two levels, at no period: they have none of the two for their own, and what is beyond both is news. Some incidents make no such series.
import { expect, it } from "vitest";
import { hasShownLevel } from "../../../../src/domain/detection/departure/new-level.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { generator } from "../../../support/generator.ts";

const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const DAY = 1_440;

/** Minutes whose values are told of. */
function notifiedAt(detector: PairDetector, from: number, until: number, valueAt: (minute: number) => number): number[] {
  const told: number[] = [];
  for (let minute = from; minute < until; minute++) {
    if (detector.observe(START + minute * MINUTE, valueAt(minute)).reports) told.push(minute);
  }
  return told;
}

it("a series that alternates is told of in its first day at most, and three times its higher level is news", () => {
  const { uniform, normal } = generator(11);
  const detector = new PairDetector();
  let [isHigh, left] = [false, 0];
  const alternating = () => {
    if (left-- <= 0) [isHigh, left] = [!isHigh, 20 + Math.floor(40 * uniform())];
    return (isHigh ? 140 : 40) + 2 * normal();
  };
  expect(notifiedAt(detector, 0, 4 * DAY, alternating).filter((minute) => minute >= DAY)).toEqual([]);
  expect(notifiedAt(detector, 4 * DAY, 4 * DAY + 10, () => 420).length).toBeGreaterThan(0);
});

it("a series with two long outages in its first hours keeps its level", () => {
  const { normal } = generator(12);
  const detector = new PairDetector();
  const outages = (minute: number) => (minute % 150 >= 60 && minute % 150 < 135 && minute < 300 ? 500 : 100) + 2 * normal();
  notifiedAt(detector, 0, DAY, outages);
  expect(notifiedAt(detector, DAY, DAY + 5, () => 130)[0]).toBe(DAY);
});

it("a level is shown by two thirds of the values, or by few departures", () => {
  expect(
    [
      [360, 240, 9],
      [360, 239, 2],
      [360, 239, 3],
    ].map(([values, ofLevel, departures]) => hasShownLevel(values as number, ofLevel as number, departures as number)),
  ).toEqual([true, true, false]);
});
