// Known days: as they are looked up, what baselines make of them, and the calendar as it is set, stored and told to engines.
import { describe, expect, it } from "vitest";
import type { SettingsUpdate } from "../../../../src/core/protocol/engine-control.ts";
import { isDate, KnownDays } from "../../../../src/domain/calendar/known-days.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import { Rig } from "../../../support/coordinator-rig.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MONDAY = Date.UTC(2026, 0, 5);
const HOLIDAY = { date: "2026-01-21", name: "founding", like: "weekend", yearly: false } as const;
const SALE = { date: "2026-01-21", name: "sale", like: "unusual", yearly: false } as const;

describe("known days", () => {
  it("are looked up by local time, and a date goes before one that comes back", () => {
    const days = new KnownDays([
      { date: "2025-12-25", name: "Christmas", like: "weekend", yearly: true },
      { date: "2027-12-25", name: "move", like: "unusual", yearly: false },
    ]);
    const kinds = ["2026-12-24T23:59:59Z", "2026-12-25T00:00:00Z", "2027-12-25T12:00:00Z", "2028-12-25T12:00:00Z"];
    expect(kinds.map((at) => days.kindAt(Date.parse(at)))).toEqual([null, "weekend", "unusual", "weekend"]);
    expect(["2026-02-28", "2026-02-30", "26-1-1", "2026-13-01"].map(isDate)).toEqual([true, false, false, false]);
  });

  /** Five-minute values of a service that rests at night and at weekends; how many of a Wednesday's values are told of, and of the Thursday's that goes the same way. */
  const told = (days: KnownDays | undefined, wednesday: (hour: number, usual: number) => number): [number, number] => {
    const { normal } = generator(11);
    const detector = new PairDetector();
    const counts: [number, number] = [0, 0];
    for (let at = MONDAY; at < MONDAY + 18 * DAY_MS; at += 5 * MINUTE_MS) {
      const day = Math.floor((at - MONDAY) / DAY_MS);
      const hour = (at % DAY_MS) / HOUR_MS;
      const weekend = 20;
      const working = hour >= 8 && hour < 18 ? 100 : 20;
      const usual = day % 7 >= 5 ? weekend : working;
      const value = (day === 16 ? wednesday(hour, usual) : usual) + normal();
      const { reports } = detector.observe(at, value, { ...SURROUNDED_BY_NOTHING, knownDays: days });
      if (reports && day === 16) counts[0]++;
      if (reports && day === 17) counts[1]++;
    }
    return counts;
  };

  it("that go as weekends do raise nothing, and leave what is usual on working days as it was", () => {
    expect(told(undefined, () => 20)[0]).toBeGreaterThan(0);
    expect(told(new KnownDays([HOLIDAY]), () => 20)).toEqual([0, 0]);
  });

  it("that go as no day does raise nothing but what is far out", () => {
    const sale = (hour: number, usual: number) => usual + (hour >= 9 && hour < 12 ? 60 : 0);
    expect(told(undefined, sale)[0]).toBeGreaterThan(0);
    expect(told(new KnownDays([SALE]), sale)).toEqual([0, 0]);
    expect(told(new KnownDays([SALE]), (hour, usual) => (hour >= 10 && hour < 11 ? 5_000 : usual))[0]).toBeGreaterThan(0);
  });
});

describe("the calendar", () => {
  const set = (rig: Rig, days: unknown) => rig.ask("setCalendar", {}, {}, "default", { days });

  it("is set anew as a whole, stored, audited, and told to every engine", async () => {
    const rig = await Rig.open();
    expect((await rig.ask("calendar", {})).body).toEqual({ days: [], updated_at: null });
    const { body } = await set(rig, [
      { ...HOLIDAY, yearly: undefined },
      { ...SALE, date: "2025-11-28" },
    ]);
    expect(body.days.map(({ date, yearly }: { date: string; yearly: boolean }) => `${date} ${yearly}`)).toEqual([
      "2025-11-28 false",
      "2026-01-21 false",
    ]);
    for (const { reported } of rig.engines) {
      const updates = reported.filter((each): each is SettingsUpdate => each.type === "watchdog-settings");
      expect(updates.at(-1)?.calendars.map(({ tenant, days }) => [tenant, days.length])).toEqual([["default", 2]]);
    }
    expect((await rig.ask("audit", {})).body.entries[0]).toMatchObject({ action: "calendar.set" });
    const restarted = await rig.restarted();
    expect((await restarted.ask("calendar", {})).body).toEqual(body);
    await set(restarted, []);
    expect((await restarted.ask("calendar", {})).body.days).toEqual([]);
  });
});
