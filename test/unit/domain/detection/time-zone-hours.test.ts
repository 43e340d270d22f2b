// The clock on the wall in seasonal baselines, at both changes of Europe/Berlin in 2026.
import { describe, expect, it } from "vitest";
import { hourOf } from "../../../../src/domain/detection/seasonal/hour-profile.ts";
import { TimeZoneHours } from "../../../../src/domain/detection/seasonal/time-zone-hours.ts";

const HOUR_MS = 3_600_000;

function hours(timeZone: string, fromMs: number, count: number): number[] {
  const { offsetMs } = new TimeZoneHours(timeZone);
  return Array.from({ length: count }, (_, i) => fromMs + i * HOUR_MS).map((at) => hourOf(at + offsetMs(at)).hour);
}

describe("hours of a time zone", () => {
  it("leave one out in spring", () => {
    // 2026-03-29 01:00 UTC: 02:00 becomes 03:00.
    expect(hours("Europe/Berlin", Date.UTC(2026, 2, 28, 23), 5)).toEqual([0, 1, 3, 4, 5]);
  });

  it("come twice in autumn", () => {
    // 2026-10-25 01:00 UTC: 03:00 becomes 02:00.
    expect(hours("Europe/Berlin", Date.UTC(2026, 9, 24, 23), 5)).toEqual([1, 2, 2, 3, 4]);
  });

  it("change to the millisecond", () => {
    const { offsetMs } = new TimeZoneHours("Europe/Berlin");
    const jump = Date.UTC(2026, 2, 29, 1);
    expect([offsetMs(jump - 1), offsetMs(jump), offsetMs(jump - 1)]).toEqual([HOUR_MS, 2 * HOUR_MS, HOUR_MS]);
  });

  it("decide what is a weekend", () => {
    const { offsetMs } = new TimeZoneHours("Asia/Tokyo");
    const fridayEvening = Date.UTC(2026, 0, 9, 16); // Saturday, one o'clock in Tokyo
    expect(hourOf(fridayEvening)).toEqual({ hour: 16, isWeekend: false });
    expect(hourOf(fridayEvening + offsetMs(fridayEvening))).toEqual({ hour: 1, isWeekend: true });
  });

  it("know zones whose offset is no whole hour", () => {
    const { offsetMs } = new TimeZoneHours("Asia/Kathmandu");
    expect(offsetMs(Date.UTC(2026, 0, 1))).toBe(5.75 * HOUR_MS);
  });

  it("are refused for a zone that is unknown, by its name", () => {
    expect(() => new TimeZoneHours("Mars/Olympus")).toThrow(/Mars\/Olympus.*unknown.*Europe\/Berlin/);
  });
});
