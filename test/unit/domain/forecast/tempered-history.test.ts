// What stands alone in a history, and what forecasts make of it.
import { describe, expect, it } from "vitest";
import { forecastSeries } from "../../../../src/domain/forecast/forecast.ts";
import { temperedHistory } from "../../../../src/domain/forecast/tempered-history.ts";
import { generator } from "../../../support/generator.ts";

const ANY = { lower: Number.NEGATIVE_INFINITY, upper: Number.POSITIVE_INFINITY };
const PERIODS = [24, 168];

function hours(count: number, at: (t: number) => number, { seed = 1, noise = 1 } = {}): Float64Array {
  const random = generator(seed);
  return Float64Array.from({ length: count }, (_, t) => at(t) + noise * random.normal());
}

function oddPlaces(values: Float64Array): number[] {
  const tempered = temperedHistory(values, PERIODS);
  return [...values.keys()].filter((at) => tempered[at] !== values[at]);
}

function meanOf(values: Float64Array, horizon = 24): Float64Array {
  const made = forecastSeries({ values, periods: PERIODS, horizon }, { algorithm: "auto", level: 0.95, range: ANY });
  if (made === undefined) throw new Error("too few values");
  return made.mean;
}

const flat = () => 100;
const daily = (t: number) => 100 + 60 * Math.sin((2 * Math.PI * t) / 24);
const nightly = (t: number) => (t % 24 === 3 ? 500 : 20);
const office = (t: number) => (t % 24 >= 9 && t % 24 < 17 && Math.floor(t / 24) % 7 < 5 ? 100 : 2);
const rising = (t: number) => 10 + 3 * t;

describe("a history", () => {
  it.each([
    ["noise", flat],
    ["a daily course", daily],
    ["a job of each night", nightly],
    ["office hours", office],
    ["a line", rising],
    ["a step", (t: number) => (t < 200 ? 100 : 180)],
    ["an exponential", (t: number) => 10 * 1.02 ** t],
  ])("of %s has nothing odd in it, whenever it ends", (_, course) => {
    for (let count = 336; count < 372; count++) expect([count, oddPlaces(hours(count, course))]).toEqual([count, []]);
  });
  it.each([
    ["noise", flat],
    ["a daily course", daily],
    ["a job of each night", nightly],
    ["a line", rising],
  ])("of %s is rid of one, two and three odd values, at its end too", (_, course) => {
    for (const place of [100, 333]) {
      for (const length of [1, 2, 3]) {
        const values = hours(336, course);
        for (let at = place; at < place + length; at++) values[at] = 9_000;
        expect(oddPlaces(values)).toEqual([100, 101, 102, 333, 334, 335].filter((at) => at >= place && at < place + length));
        const tempered = temperedHistory(values, PERIODS);
        for (let at = place; at < place + length; at++) expect(tempered[at]).toBeLessThan(1_100);
      }
    }
  });
  it("keeps a level of four values, and bursts that are its nature", () => {
    const level = hours(336, flat);
    level.fill(900, 332);
    expect(oddPlaces(level)).toEqual([]);
    const random = generator(4);
    expect(oddPlaces(Float64Array.from({ length: 336 }, () => (random.uniform() < 0.15 ? 50 : 0)))).toEqual([]);
  });
});

describe("a forecast", () => {
  it("rests on no odd value at the end: neither one, nor three of ten times as much, nor a zero", () => {
    for (const [odd, count] of [
      [508, 1],
      [1_000, 3],
      [0, 1],
    ] as const) {
      const values = hours(120, flat);
      values.fill(odd, 120 - count);
      for (const value of meanOf(values)) expect(Math.abs(value - 100)).toBeLessThan(10);
    }
  });
  it("goes no further beyond what was than its slope takes it", () => {
    const level = hours(120, flat);
    level.fill(1_000, 114);
    expect(Math.max(...meanOf(level, 168))).toBeLessThan(1_200);
    // A line goes on.
    expect(meanOf(hours(240, rising), 48).at(-1)).toBeGreaterThan(10 + 3 * 280);
  });
});
