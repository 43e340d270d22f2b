import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SaturationSeries } from "../../../../src/domain/saturation/saturation-series.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE = 60_000;
const DAY = 1440;
const START = Date.UTC(2026, 0, 5);
const PROCESSOR = { metricName: "cpu_percent", unit: null, instance: null };
const USUAL = 30;

/** Minutes at which something is told that was not told at the look before. */
function told(days: number, valueAt: (minute: number) => number, { restartAt = -1, step = 1 } = {}): number[] {
  const minutes: number[] = [];
  let series = new SaturationSeries(PROCESSOR);
  let isFound = false;
  for (let minute = 0; minute < days * DAY; minute += step) {
    if (minute === restartAt) series = SaturationSeries.restore(PROCESSOR, series.serialise());
    series.observe(START + minute * MINUTE, valueAt(minute));
    if (step === 1 && minute % 2 !== 1) continue;
    const { finding } = series.evaluate(START + minute * MINUTE, { limit: null, corroborated: false });
    if (finding !== null && !isFound) minutes.push(minute);
    isFound = finding !== null;
  }
  return minutes;
}

/** A job of each period, with the minutes that it takes, the level that it reaches, and its delay at each turn. */
const jobs = fc.record({
  period: fc.constantFrom(15, 20, 30, 60, 90, 120, 360, 720, DAY),
  phase: fc.double({ min: 0, max: 0.8, noNaN: true }),
  lasts: fc.integer({ min: 5, max: 7 }),
  top: fc.integer({ min: 94, max: 100 }),
  jitter: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer({ min: 1, max: 1e6 }),
});

function levelOf({ period, phase, lasts, top, jitter, seed }: typeof jobs extends fc.Arbitrary<infer T> ? T : never) {
  const random = generator(seed);
  const delays = Array.from({ length: 1000 }, () => (random.uniform() < 0.5 ? 0 : jitter));
  return (minute: number): number => {
    const at = (minute % period) - Math.floor(phase * (period - lasts - 1)) - (delays[Math.floor(minute / period)] as number);
    return at >= 0 && at < lasts ? top : USUAL;
  };
}

describe("a breach of headroom", () => {
  it("that comes by the clock is told a few times and then no more", () => {
    fc.assert(
      fc.property(jobs, (job) => {
        const minutes = told(7, levelOf(job));
        expect(minutes.length).toBeLessThanOrEqual(4);
        expect(minutes.filter((minute) => minute > 5 * Math.max(job.period, 60))).toEqual([]);
      }),
      { numRuns: 8 },
    );
  });
  it("that is known lasts longer, goes deeper or misses its time: it is told", () => {
    const day = 3 * DAY;
    const hourly = (minute: number): number => (minute % 60 < 5 ? 93 : USUAL);
    const late = (changed: (at: number) => number | undefined) =>
      told(4, (minute) => changed(minute - day - 120) ?? hourly(minute)).filter((minute) => minute >= day);
    expect(late(() => undefined)).toEqual([]);
    expect(late((at) => (at >= 0 && at < 40 ? 93 : undefined))).toHaveLength(1);
    expect(late((at) => (at >= 0 && at < 5 ? 99 : undefined))).toHaveLength(1);
    expect(late((at) => (at >= 30 && at < 36 ? 93 : undefined))).toHaveLength(1);
  });
  it("is told the first time and the second one, and where it goes on all day", () => {
    const at = (...hours: number[]) =>
      told(3, (minute) => (hours.some((hour) => minute >= hour * 60 && minute < hour * 60 + 20) ? 97 : USUAL));
    expect(at(20)).toHaveLength(1);
    expect(at(20, 31)).toHaveLength(2);
    expect(told(3, (minute) => (minute > 2000 ? 97 : USUAL))).toHaveLength(1);
  });
  it("that comes once a week is known from the third week on, of full capacity from the fourth, and told where it lasts longer", () => {
    const WEEK = 7 * DAY;
    const weekly = (top: number, lasts: (week: number) => number) => (minute: number) => {
      const at = (minute % WEEK) - DAY - 200;
      return at >= 0 && at < lasts(Math.floor(minute / WEEK)) ? top : USUAL;
    };
    const weeks = (top: number, lasts: (week: number) => number) =>
      told(38, weekly(top, lasts), { step: 5 }).map((minute) => Math.floor(minute / WEEK));
    expect(weeks(95, () => 60)).toEqual([0, 1]);
    expect(weeks(100, () => 60)).toEqual([0, 1, 2]);
    expect(weeks(95, (week) => (week === 3 ? 180 : 60))).toEqual([0, 1, 3]);
  });
  it("is known after a restart as it was before", () => {
    const hourly = (minute: number): number => (minute % 60 < 5 ? 95 : USUAL);
    for (const restartAt of [300, 302, 1000]) expect(told(2, hourly, { restartAt })).toEqual(told(2, hourly));
  });
});
