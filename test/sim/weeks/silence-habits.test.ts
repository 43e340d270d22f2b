// Silence has habits: senders of many shapes over five weeks, in several time zones. Quiet is what they always do; told is what they never did.
import { describe, expect, it } from "vitest";
import { TimeZoneHours } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { ArrivalRhythm } from "../../../src/domain/detection/service/arrival-rhythm.ts";
import { pieceReader, StatePieces } from "../../../src/domain/distribution/series-state.ts";
import { generator } from "../../support/generator.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Monday, four weeks before the clocks of Europe and three before those of America change. */
const START = Date.UTC(2026, 1, 16);

interface Told {
  readonly sinceMs: number;
  readonly atMs: number;
}

/** Silences that are told of a sender with these arrivals, that was there until `untilMs`. */
function silences(
  arrivals: readonly number[],
  zone = "UTC",
  untilMs = arrivals.at(-1) as number,
  restartsMs: readonly number[] = [],
): Told[] {
  const { offsetMs } = new TimeZoneHours(zone);
  let rhythm = new ArrivalRhythm(offsetMs);
  const told: Told[] = [];
  let restarts = 0;
  for (const timeMs of [...arrivals, untilMs]) {
    if (timeMs >= (restartsMs[restarts] ?? Number.POSITIVE_INFINITY)) {
      rhythm = restored(rhythm, offsetMs);
      restarts++;
    }
    const sinceMs = rhythm.lastSeenMs;
    const { isStale, limitMs, usualSilenceMs } = rhythm.judge(timeMs, 0);
    if (isStale) told.push({ sinceMs, atMs: sinceMs + Math.max(limitMs, usualSilenceMs) });
    rhythm.observe(timeMs);
  }
  return told;
}

/** As it is read from a checkpoint. */
function restored(rhythm: ArrivalRhythm, offsetMs: (timeMs: number) => number): ArrivalRhythm {
  const pieces = new StatePieces();
  rhythm.write(pieces.writer);
  const [piece] = [...pieces.rest()];
  return ArrivalRhythm.read(pieceReader(piece as Uint8Array), offsetMs);
}

const since = (told: readonly Told[], days: number) => told.filter(({ atMs }) => atMs >= START + days * DAY);

/** A value a minute while it is there by the clock on the wall. */
function sender(zone: string, days: number, isHere: (localMs: number, timeMs: number) => boolean): number[] {
  const { offsetMs } = new TimeZoneHours(zone);
  const arrivals: number[] = [];
  for (let timeMs = START; timeMs < START + days * DAY; timeMs += MINUTE)
    if (isHere(timeMs + offsetMs(timeMs), timeMs)) arrivals.push(timeMs);
  return arrivals;
}

const hourOf = (localMs: number) => (localMs % DAY) / HOUR;
/** 0 is a Monday. */
const weekdayOf = (localMs: number) => (Math.floor(localMs / DAY) + 3) % 7;
const isOffice = (localMs: number) => weekdayOf(localMs) < 5 && hourOf(localMs) >= 9 && hourOf(localMs) < 17;

const SHAPES: ReadonlyArray<readonly [name: string, quietFromDay: number, isHere: (localMs: number, timeMs: number) => boolean]> = [
  ["office hours of five days", 14, isOffice],
  ["an hour a night", 4, (ms) => hourOf(ms) >= 1 && hourOf(ms) < 2],
  ["two silences a day", 4, (ms) => !(hourOf(ms) >= 3 && hourOf(ms) < 4) && !(hourOf(ms) >= 12 && hourOf(ms) < 12.75)],
  ["a silence across midnight", 4, (ms) => hourOf(ms) < 23.5 && hourOf(ms) >= 0.5],
  ["a weekly rest", 22, (ms) => !(weekdayOf(ms) === 2 && hourOf(ms) >= 2 && hourOf(ms) < 6)],
  ["a day of the week only", 22, (ms) => weekdayOf(ms) === 3 && hourOf(ms) >= 8 && hourOf(ms) < 12],
  ["weekdays, all day", 9, (ms) => weekdayOf(ms) < 5],
  ["a run of half an hour every 150 minutes", 2, (_ms, timeMs) => timeMs % (150 * MINUTE) < 30 * MINUTE],
  ["a run of ten minutes each hour", 2, (ms) => ms % HOUR < 10 * MINUTE],
];

describe.each(["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata"])("in %s", (zone) => {
  it.each(SHAPES)("what sends %s is not missed when it does not, from day %d on", (_name, quietFromDay, isHere) => {
    expect(since(silences(sender(zone, 35, isHere), zone), quietFromDay)).toEqual([]);
  });
});

describe("over restarts", () => {
  it.each(SHAPES)("what sends %s is judged as without them", (_name, _day, isHere) => {
    const zone = "Europe/Berlin";
    const arrivals = sender(zone, 35, isHere);
    const daily = Array.from({ length: 35 }, (_, day) => START + day * DAY + 7 * HOUR);
    expect(silences(arrivals, zone, undefined, daily)).toEqual(silences(arrivals, zone));
  });
  it("a Monday on which office hours do not begin is told after a restart on Sunday, and one on which they do is not", () => {
    const monday = START + 28 * DAY;
    const office = sender("UTC", 30, (ms, timeMs) => isOffice(ms) && !(timeMs >= monday && timeMs < monday + DAY));
    const told = since(silences(office, "UTC", undefined, [monday - 12 * HOUR, monday + HOUR]), 20);
    expect(told.map(({ atMs }) => (atMs - monday) / HOUR)).toEqual([expect.toSatisfy((hours) => hours > 9 && hours <= 11)]);
    expect(since(silences(sender("UTC", 29, isOffice), "UTC", undefined, [monday - 12 * HOUR]), 14)).toEqual([]);
  });
});

describe("what never was is told", () => {
  const monday = START + 28 * DAY;
  it("when office hours do not begin, within two hours and not on the evening before", () => {
    const told = since(silences(sender("UTC", 30, (ms, timeMs) => isOffice(ms) && !(timeMs >= monday && timeMs < monday + DAY))), 24);
    expect(told.map(({ atMs }) => (atMs - monday) / HOUR)).toEqual([expect.toSatisfy((hours) => hours > 9 && hours <= 11)]);
  });
  it("when they do not begin for the second time either", () => {
    const isAway = (timeMs: number) => [monday, monday - 7 * DAY].some((day) => timeMs >= day && timeMs < day + DAY);
    const told = since(silences(sender("UTC", 30, (ms, timeMs) => isOffice(ms) && !isAway(timeMs))), 24);
    expect(told.map(({ atMs }) => (atMs - monday) / HOUR)).toEqual([expect.toSatisfy((hours) => hours > 9 && hours <= 11)]);
  });
  it.each([10, 11, 14, 16])("when they break off at %d", (hour) => {
    const fromMs = monday + hour * HOUR;
    const told = silences(sender("UTC", 30, (ms, timeMs) => isOffice(ms) && !(timeMs >= fromMs && timeMs < monday + DAY)));
    const here = told.filter(({ sinceMs }) => Math.abs(sinceMs - fromMs) <= MINUTE);
    expect(here.map(({ atMs }) => atMs - fromMs <= 10 * MINUTE)).toEqual([true]);
  });
  it("when a silence of each night goes on into the day", () => {
    const until = START + 20 * DAY;
    const told = since(silences(sender("UTC", 21, (ms, timeMs) => hourOf(ms) >= 5 && !(timeMs >= until && timeMs < until + 9 * HOUR))), 5);
    expect(told.map(({ atMs }) => (atMs - until) / HOUR)).toEqual([expect.toSatisfy((hours) => hours > 5 && hours <= 6.5)]);
  });
  it("when it falls silent soon after an outage of days", () => {
    const told = silences(
      sender("UTC", 16, (_ms, timeMs) => !(timeMs >= START + 8 * DAY && timeMs < START + 14 * DAY) && timeMs < START + 15.5 * DAY),
      "UTC",
      START + 16 * DAY,
    );
    expect(told.map(({ sinceMs, atMs }) => atMs - sinceMs <= 10 * MINUTE)).toEqual([true, true]);
  });
  it.each([
    ["an hour", HOUR],
    ["three hours", 3 * HOUR],
    ["a day", DAY],
    ["a week", 7 * DAY],
  ])("when a second outage comes %s after the first, longer or shorter", (_name, gapMs) => {
    for (const [first, second] of [
      [30, 240],
      [120, 30],
    ] as const) {
      const [a, b] = [START + 9 * DAY, START + 9 * DAY + first * MINUTE + gapMs];
      const isDown = (timeMs: number) => (timeMs >= a && timeMs < a + first * MINUTE) || (timeMs >= b && timeMs < b + second * MINUTE);
      const told = silences(sender("UTC", 20, (_ms, timeMs) => !isDown(timeMs)));
      expect(told.map(({ sinceMs, atMs }) => atMs - sinceMs <= 10 * MINUTE)).toEqual([true, true]);
    }
  });
});

describe("events at random are judged by their own gaps", () => {
  const events = (seed: number, days: number, gapMs: (uniform: () => number) => number) => {
    const { uniform } = generator(seed);
    const arrivals: number[] = [];
    for (let timeMs = START; timeMs < START + days * DAY; timeMs += 1000 + gapMs(uniform)) arrivals.push(timeMs);
    return arrivals;
  };
  it.each([30, 60, 300, 1200, 3600])(
    "an event each %d s on average: one page in four days at most, and 40 times as long is told",
    (mean) => {
      for (const seed of [1, 2, 3, 4]) {
        const arrivals = events(seed, 20, (uniform) => -Math.log(1 - uniform()) * mean * 1000);
        const endMs = arrivals.at(-1) as number;
        const told = since(silences(arrivals, "UTC", endMs + 40 * mean * 1000), 4);
        expect(told.filter(({ sinceMs }) => sinceMs < endMs).length).toBeLessThanOrEqual(4);
        expect(told.some(({ sinceMs }) => sinceMs === endMs)).toBe(true);
      }
    },
  );
  it("a steady sender with jitter and missed samples is missed as soon as ever", () => {
    const { uniform, normal } = generator(5);
    const arrivals: number[] = [];
    for (let timeMs = START; timeMs < START + 3 * DAY; timeMs += MINUTE) if (uniform() > 0.02) arrivals.push(timeMs + 5000 * normal());
    const endMs = arrivals.at(-1) as number;
    expect(silences(arrivals, "UTC", endMs + HOUR)).toEqual([
      { sinceMs: endMs, atMs: expect.toSatisfy((atMs) => atMs - endMs < 6 * MINUTE) },
    ]);
  });
});
