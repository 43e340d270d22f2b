import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawnPlaces } from "../../../../src/modules/series/series-points.ts";

const EVERY_MS = 15_000;

describe("the values that a picture is drawn from", () => {
  it("hold each peak and each trough of a week, however narrow", () => {
    const times = Float64Array.from({ length: 40_320 }, (_, at) => at * EVERY_MS);
    const values = times.map((_, at) => (at === 20_111 ? 777 : at === 31_007 ? 3 : 100 + ((at * 7919) % 13)));
    const places = drawnPlaces(times, values, 0, 400);
    expect(places.length).toBeLessThanOrEqual(802);
    expect(places).toEqual(expect.arrayContaining([0, 20_111, 31_007, 40_319]));
  });

  it("have in each part its least and its greatest, in order, each once, with the first and the last of all", () => {
    const series = fc.array(fc.tuple(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: -50, max: 50 })), {
      minLength: 1,
      maxLength: 400,
    });
    fc.assert(
      fc.property(series, fc.integer({ min: 1, max: 60 }), fc.nat(20), (steps, parts, before) => {
        let now = 0;
        const times = Float64Array.from(steps, ([step]) => (now += step));
        const values = Float64Array.from(steps, ([, value]) => value);
        const first = Math.min(before, times.length - 1);
        const places = drawnPlaces(times, values, first, parts);
        expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
        expect([places[0], places.at(-1)]).toEqual([first, times.length - 1]);
        expect(places.length).toBeLessThanOrEqual(2 * parts + 2);
        const width = Math.max(1, ((times.at(-1) as number) - (times[first] as number) + 1) / parts);
        const partOf = (at: number) => Math.floor(((times[at] as number) - (times[first] as number)) / width);
        for (let at = first; at < times.length; at++) {
          const kept = places.filter((place) => partOf(place) === partOf(at)).map((place) => values[place] as number);
          expect(Math.min(...kept)).toBeLessThanOrEqual(values[at] as number);
          expect(Math.max(...kept)).toBeGreaterThanOrEqual(values[at] as number);
        }
      }),
    );
  });
});
