// What departs of a series that is too young for a tail of its own, and what it does by itself.
import { describe, expect, it } from "vitest";
import { isYoung, type YoungSurroundings, youngDeparture } from "../../../../src/domain/detection/departure/young-departure.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { generator } from "../../../support/generator.ts";

const START_MS = Date.UTC(2026, 0, 5);
const ALONE: YoungSurroundings = { streams: 1, strictness: 1 };

/** Place of the value with which the first departure is found; undefined where there is none. */
function foundAt(values: readonly number[], intervalS: number, around = ALONE): number | undefined {
  const times = Float64Array.from(values, (_, i) => START_MS + 1000 * intervalS * i);
  const all = Float64Array.from(values);
  for (let end = 1; end <= all.length; end++) {
    const from = Math.max(0, end - 120);
    if (youngDeparture(times.subarray(from, end), all.subarray(from, end), { ageMs: 1000 * intervalS * end, ...around }) !== undefined)
      return end - 1;
  }
  return undefined;
}

const noise = (count: number, variation: number, seed: number, level = 100): number[] => {
  const { normal } = generator(seed);
  return Array.from({ length: count }, () => level * Math.max(0, 1 + variation * normal()));
};
const levels = (...runs: ReadonlyArray<readonly [level: number, count: number]>): number[] =>
  runs.flatMap(([level, count]) => Array(count).fill(level));

describe("a young series", () => {
  it.each([5, 10, 15, 30, 60])(
    "at %i s departs with what stays twice, four times, ten times as high or nothing for three minutes and four values",
    (intervalS) => {
      for (const count of [20, 59, 60, 61, 119, 120, 121])
        for (const factor of [2, 4, 10, 0]) {
          const values = [...noise(count, 0.1, count), ...noise(60, 0.1, count + 1, 100 * factor)];
          const lasting = Math.max(3, Math.ceil(180 / intervalS));
          expect([count, factor, foundAt(values, intervalS)]).toEqual([count, factor, count + lasting]);
        }
    },
  );

  it("departs with the fourth value that says of a resource which hardly moved that nothing remains of it, and of any other series later", () => {
    const remaining = { ...ALONE, isRemaining: true };
    const used = [...noise(200, 0.002, 12), ...levels([50, 2], [2, 40])];
    expect(foundAt(used, 15, remaining)).toBe(200 + 2 + 3);
    expect(foundAt(used, 15)).toBe(200 + 2 + 12);
    // A share that is empty now and then is not used up, and what comes back is none.
    expect(foundAt([...noise(200, 0.1, 13), ...levels([2, 5]), ...noise(60, 0.1, 14)], 15, remaining)).toBeUndefined();
    expect(foundAt([...noise(200, 0.002, 12), ...levels([2, 3], [100, 60])], 15, remaining)).toBeUndefined();
  });

  it("departs within twenty minutes with nothing of a wide series whose values say little of each other, and not with a wide one that dips for long", () => {
    for (const [intervalS, count] of [
      [10, 60],
      [15, 60],
      [15, 200],
      [60, 300],
    ] as const) {
      const place =
        foundAt([...noise(count, 0.6, count + 4), ...levels([0, (20 * 60) / intervalS])], intervalS) ?? Number.POSITIVE_INFINITY;
      expect([intervalS, count, place < count + (20 * 60) / intervalS]).toEqual([intervalS, count, true]);
    }
    const { normal } = generator(6);
    let dip = 0;
    const dipping = Array.from({ length: 350 }, () => {
      dip = 0.9 * dip + 0.44 * normal();
      return 100 * Math.max(0, 1 + 0.6 * dip);
    });
    expect(foundAt(dipping, 15)).toBeUndefined();
  });

  it("does not depart with single odd values, however far, with noise, or with what is over before three minutes", () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const values = noise(300, 0.3, seed);
      for (let i = 7; i < 300; i += 23) values[i] = 100 * (i % 2 === 0 ? 20 : 0);
      expect([seed, foundAt(values, 10), foundAt(values, 60)]).toEqual([seed, undefined, undefined]);
    }
    expect(foundAt([...noise(60, 0.05, 6), ...noise(11, 0.05, 7, 200), ...noise(60, 0.05, 8)], 15)).toBeUndefined();
  });

  it("does not depart with what a process does by itself: levels that climb, a gauge that steps by a tenth or doubles once, and what settles", () => {
    expect(foundAt(levels([100, 40], [110, 200]), 15)).toBeUndefined();
    expect(foundAt(levels([2, 30], [3, 30], [4, 30], [5, 60]), 15)).toBeUndefined();
    expect(foundAt(levels([924, 40], [1848, 80]), 15)).toBeUndefined();
    const filling = noise(240, 0.02, 9).map((value, i) => value * (1 + 5 * (1 - Math.exp(-i / 40))));
    expect(foundAt(filling, 5)).toBeUndefined();
    const settling = noise(240, 0.1, 10).map((value, i) => value * (1 + 8 * Math.exp(-i / 30)));
    expect(foundAt(settling, 5)).toBeUndefined();
  });

  it("departs where a few levels rise threefold, or are gone, once they have been for half an hour", () => {
    for (const to of [3_000, 0]) {
      expect(foundAt(levels([1000, 100], [to, 15]), 15)).toBeUndefined();
      expect(foundAt(levels([1000, 40], [to, 60]), 60)).toBe(43);
      // The values that are looked at are 120, which at 15 s are no half hour: that the series was there before is known all the same.
      for (const hours of [1, 2, 4, 5]) {
        expect([hours, to, foundAt(levels([1000, 240 * hours], [to, 60]), 15)]).toEqual([hours, to, 240 * hours + 12]);
        expect([hours, to, foundAt(levels([1000, 360 * hours], [to, 60]), 10)]).toEqual([hours, to, 360 * hours + 18]);
      }
    }
  });

  it("departs where one level of a few is gone, as that of a target that is up, and not where counts of a few are nothing for a while", () => {
    for (const [intervalS, lasting] of [
      [10, 18],
      [15, 12],
      [30, 6],
      [60, 3],
    ] as const) // prettier
      for (const level of [1, 2, 3]) expect(foundAt(levels([level, 300], [0, 40]), intervalS)).toBe(300 + lasting);
    const few = generator(3);
    const counts = Array.from({ length: 300 }, () => Math.floor(3 * few.uniform()));
    expect(foundAt([...counts, ...levels([0, 20])], 15)).toBeUndefined();
  });

  it("is asked for more while its service is one of many streams, and by a higher threshold", () => {
    const values = [...noise(60, 0.1, 11), ...noise(60, 0.1, 12, 165)];
    expect(foundAt(values, 60)).toBe(63);
    expect(foundAt(values, 60, { streams: 1, strictness: 2 })).toBeUndefined();
    expect(foundAt(values, 15, { streams: 400, strictness: 1 })).toBeUndefined();
  });

  it.each([2, 4, 10, 0])(
    "that comes of age while it is %d times what it was is told of that: it was too late to be looked at before",
    (factor) => {
      for (const before of [356, 357, 358, 359]) {
        const detector = new PairDetector();
        const values = [...noise(before, 0.1, 5), ...noise(30, 0.1, 6, 100 * factor)];
        const told = values.map((value, i) => detector.observe(START_MS + 60_000 * i, value).reports);
        const first = told.indexOf(true);
        expect([before, first >= before && first <= before + 5]).toEqual([before, true]);
      }
    },
  );

  it("is young for a day, and for six hours of minutes", () => {
    expect([isYoung(359, 60_000), isYoung(360, 60_000), isYoung(23, 3_600_000), isYoung(24, 3_600_000)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
