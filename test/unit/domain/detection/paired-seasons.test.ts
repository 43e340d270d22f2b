// Series that are the sum of two courses which repeat: both periods are found, values are expected as the sum goes, and half of either that is gone departs.
import { describe, expect, it } from "vitest";
import { PAIRED_SEASONS_DOUBLES, PairedSeasons } from "../../../../src/domain/detection/departure/paired-seasons.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import { RECENT_LENGTH, RecentValues } from "../../../../src/domain/detection/rolling/recent-values.ts";
import { HABIT_START_MS } from "../../../eval/habits/habit-kind.ts";
import { TWO_PERIODS } from "../../../eval/habits/two-periods.ts";
import { generator } from "../../../support/generator.ts";

const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const DAY = 1_440;
const wave = (minute: number, period: number) => 50 - 50 * Math.cos((2 * Math.PI * minute) / period);

interface Clock {
  /** From UTC to the clock on the wall, and the time since the value before. */
  readonly offsetMs?: number;
  readonly stepMs?: number;
}

function forecast(seasons: PairedSeasons, minute: number, value: number, { offsetMs = 0, stepMs = MINUTE }: Clock = {}): number {
  const timeMs = START + minute * MINUTE;
  seasons.forecast(timeMs, value, { localMs: timeMs + offsetMs, stepMs, intervalMs: MINUTE });
  return seasons.expected;
}

/** Values of minutes, learned as ordinary ones; the first `before` came while two periods were not known yet. */
function learned(minutes: number, valueAt: (minute: number) => number, before = 0): PairedSeasons {
  const seasons = new PairedSeasons(new Float64Array(PAIRED_SEASONS_DOUBLES));
  for (let minute = 0; minute < minutes; minute++) {
    forecast(seasons, minute, valueAt(minute));
    seasons.learn(before + minute + 1, false, Number.POSITIVE_INFINITY);
  }
  return seasons;
}

describe("two periods at once", () => {
  it("finds both periods of a sum of two waves, whatever noise of a tenth is in it, and what values should be", () => {
    const { normal } = generator(7);
    const sum = (minute: number) => 40 + wave(minute, 71) + wave(minute, 457);
    const seasons = learned(6 * DAY, (minute) => sum(minute) + 5 * normal());
    const [quick, slow] = seasons.periodsMs.map((period) => period / MINUTE) as [number, number];
    expect(Math.abs(quick - 71)).toBeLessThan(0.5);
    expect(Math.abs(slow - 457)).toBeLessThan(6);
    for (const minute of [6 * DAY, 6 * DAY + 30, 6 * DAY + 200])
      expect(Math.abs(forecast(seasons, minute, 0) - sum(minute))).toBeLessThan(15);
  });

  it.each([1, 0.5])("finds them in multiples of %d too, and where a series has gone on for months before", (unit) => {
    const seasons = learned(6 * DAY, (minute) => unit * Math.round((40 + wave(minute, 71) + wave(minute, 457)) / unit), 200_000);
    const [quick, slow] = seasons.periodsMs.map((period) => period / MINUTE) as [number, number];
    expect(Math.abs(quick - 71)).toBeLessThan(0.5);
    expect(Math.abs(slow - 457)).toBeLessThan(6);
  });

  it("goes by the clock on the wall where the second one is the day", () => {
    const sum = (minute: number) => 40 + wave(minute, 97) + wave(minute, DAY);
    const seasons = learned(5 * DAY, sum);
    const minute = 5 * DAY + 360;
    const moved = 40 + wave(minute, 97) + wave(minute + 60, DAY);
    expect(Math.abs(forecast(seasons, minute, 0) - sum(minute))).toBeLessThan(10);
    expect(Math.abs(forecast(seasons, minute, 0, { offsetMs: 60 * MINUTE }) - moved)).toBeLessThan(10);
  });

  it("takes values behind a gap for the first of a row, and the level that they are of for the new one", () => {
    const { normal } = generator(9);
    const sum = (minute: number) => 40 + wave(minute, 71) + wave(minute, 457) + 10 * normal();
    const seasons = learned(6 * DAY, sum);
    const newest = new RecentValues(new Float64Array(RECENT_LENGTH));
    const rows: boolean[] = [];
    for (let i = 0; i < 12; i++) {
      const minute = 6 * DAY + 60 + i;
      newest.add(sum(minute) + 40);
      forecast(seasons, minute, newest.newest, i === 0 ? { stepMs: 60 * MINUTE } : {});
      rows.push(seasons.isRowOff({ newest, intervalMs: MINUTE }, START + minute * MINUTE, 10));
    }
    expect([rows.slice(0, 4).includes(true), rows.includes(true)]).toEqual([false, true]);
    const was = forecast(seasons, 6 * DAY + 71, 0);
    seasons.settle(newest, 9);
    expect(Math.abs(forecast(seasons, 6 * DAY + 71, 0) - was - 40)).toBeLessThan(12);
  });

  it("takes the day for the second one where no other shows, and says nothing where one period is all there is", () => {
    const ofDay = learned(4 * DAY, (minute) => 40 + wave(minute, 97) + wave(minute, DAY));
    expect(ofDay.periodsMs[1]).toBe(DAY * MINUTE);
    expect(ofDay.compete(8, Number.POSITIVE_INFINITY)).toBe(true);
    const ofOne = learned(6 * DAY, (minute) => 40 + wave(minute, 97));
    expect(ofOne.compete(8, Number.POSITIVE_INFINITY)).toBe(false);
    expect(ofOne.isCredible(8)).toBe(false);
  });

  it("begins to speak once: what is known of how far values stray holds where it only speaks again", () => {
    const ofDay = learned(4 * DAY, (minute) => 40 + wave(minute, 97) + wave(minute, DAY));
    const begins = [8, 1e-9, 8].map((ofLevels) => [ofDay.compete(ofLevels, ofLevels === 8 ? Number.POSITIVE_INFINITY : 0), ofDay.speak]);
    expect(begins).toEqual([
      [true, true],
      [false, false],
      [false, true],
    ]);
  });

  it("takes values that stray together as a rule for no row, and a shift that is larger for one", () => {
    const rowsOf = (isLearned: boolean): { readonly quiet: number; readonly shifted: boolean } => {
      const { normal } = generator(11);
      const seasons = new PairedSeasons(new Float64Array(PAIRED_SEASONS_DOUBLES));
      const newest = new RecentValues(new Float64Array(RECENT_LENGTH));
      let [drift, quiet, shifted] = [0, 0, false];
      for (let minute = 0; minute < 8 * DAY; minute++) {
        drift = 0.97 * drift + 3 * normal();
        const isShifted = minute >= 8 * DAY - 20;
        newest.add(40 + wave(minute, 71) + wave(minute, 457) + drift + (isShifted ? 100 : 0));
        forecast(seasons, minute, newest.newest);
        const isOff = minute >= 6 * DAY && seasons.isRowOff({ newest, intervalMs: MINUTE }, START + minute * MINUTE, 6);
        if (isShifted) shifted ||= isOff;
        else if (isOff) quiet++;
        seasons.learn(minute + 1, isShifted, Number.POSITIVE_INFINITY, isLearned ? newest : undefined);
      }
      return { quiet, shifted };
    };
    const [before, now] = [rowsOf(false), rowsOf(true)];
    expect(before.quiet).toBeGreaterThan(20);
    expect(now.quiet).toBeLessThan(before.quiet / 10);
    expect([before.shifted, now.shifted]).toEqual([true, true]);
  });

  it("says nothing of noise, of a still series, nor of values that single precision does not hold", () => {
    const { normal } = generator(3);
    const largest = 3e38;
    for (const valueAt of [() => normal(), () => 7, (minute: number) => (minute % 40 < 20 ? largest : -largest)]) {
      const seasons = learned(3 * DAY, valueAt);
      expect(seasons.compete(1, Number.POSITIVE_INFINITY)).toBe(false);
    }
  });

  it("has half of either course that is gone told within ten minutes, and nothing of the two before", () => {
    const { normal } = generator(5);
    for (const broken of [0, 1]) {
      const detector = new PairDetector();
      const faultMinute = 8 * DAY + 457;
      let found: number | undefined;
      for (let minute = 0; minute < faultMinute + 10; minute++) {
        const parts = [wave(minute, 71), wave(minute - faultMinute + 215, 457)];
        const value =
          40 + parts.reduce((sum, part, i) => sum + part * (i === broken && minute >= faultMinute ? 0.5 : 1), 0) + 2.5 * normal();
        const { reports } = detector.observe(START + minute * MINUTE, value);
        if (minute >= 4 * DAY && reports) found ??= minute;
      }
      expect(found).toBeDefined();
      expect((found as number) - faultMinute).toBeGreaterThanOrEqual(0);
    }
  });

  it.each([
    { noise: 0.05, streams: 38, isNotified: true },
    { noise: 0.2, streams: 1, isNotified: true },
    { noise: 0.2, streams: 38, isNotified: false },
  ])("asks a row more of one of many streams, by noise alone ($noise, of $streams)", ({ noise, streams, isNotified }) => {
    const fault = TWO_PERIODS.kinds.find((kind) => kind.row.startsWith("wave of 71") && kind.noise === noise)?.faults[0];
    const { values, faultMinute, withinMinutes } = fault?.series(17) ?? { values: [], faultMinute: 0, withinMinutes: 0 };
    const detector = new PairDetector();
    const told = values.slice(0, faultMinute + withinMinutes + 1).flatMap((value, minute) => {
      const { reports } = detector.observe(HABIT_START_MS + minute * MINUTE, value, { ...SURROUNDED_BY_NOTHING, streams });
      return reports && minute >= faultMinute ? [minute] : [];
    });
    expect(told.length > 0).toBe(isNotified);
  });
});
