// The edges of a working day, by the clock on the wall, over both changes of the clocks: what rises and falls there each day is no news; a fall to nothing by day is.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../src/domain/detection/pair/pair-detector.ts";
import { TimeZoneHours } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { generator } from "../../support/generator.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Days, from the begin on, of which people would be told; `down` are hours of silence, counted from the begin too. */
function toldDays(zone: string, startMs: number, days: number, seed: number, down?: readonly [from: number, to: number]): number[] {
  const { offsetMs } = new TimeZoneHours(zone);
  const { normal } = generator(seed);
  const detector = new PairDetector(undefined, offsetMs);
  const told: number[] = [];
  for (let timeMs = startMs; timeMs < startMs + days * DAY; timeMs += MINUTE) {
    const localMs = timeMs + offsetMs(timeMs);
    const isOpen = (Math.floor(localMs / DAY) + 3) % 7 < 5 && localMs % DAY >= 9 * HOUR && localMs % DAY < 17 * HOUR;
    const hours = (timeMs - startMs) / HOUR;
    const isDown = down !== undefined && hours >= down[0] && hours < down[1];
    const value = isOpen && !isDown ? Math.max(0, Math.round(100 + 10 * normal())) : 0;
    if (detector.observe(timeMs, value).reports) told.push((timeMs - startMs) / DAY);
  }
  return told;
}

describe.each([
  ["America/New_York", Date.UTC(2026, 1, 4)],
  ["Europe/Berlin", Date.UTC(2026, 8, 21)],
])("office hours in %s over a change of the clocks", (zone, startMs) => {
  it.each([1, 2, 3])("are told of in their first week alone (seed %d)", (seed) => {
    expect(toldDays(zone, startMs, 45, seed).filter((day) => day > 7)).toEqual([]);
  });
});

it("nothing at noon of a working day is told within ten minutes", () => {
  const fromHours = 29 * 24 + 12;
  const told = toldDays("UTC", Date.UTC(2026, 0, 5), 30, 1, [fromHours, fromHours + 2]);
  expect(told.filter((day) => day > 28).map((day) => day * 24 * 60 - fromHours * 60)).toEqual([
    expect.toSatisfy((minutes) => minutes <= 10),
  ]);
});
