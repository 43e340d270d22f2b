// Values of fast streams are one observation a minute, the same whenever they are looked at.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupObservations } from "../../../../src/domain/detection/rolling/observation-groups.ts";

const MINUTE = 60_000;
const START = 1_000 * MINUTE;

/** Observations of values that come in pieces of the given sizes, as passes take them. */
function observed(times: readonly number[], values: readonly number[], pieces: readonly number[]): Array<readonly [number, number]> {
  const found: Array<readonly [number, number]> = [];
  let sinceMs = 0;
  for (let seen = 0, piece = 0; ; piece++) {
    seen = Math.min(times.length, seen + (pieces[piece] ?? times.length));
    const from = times.findIndex((time) => time > sinceMs);
    const [t, v] = from < 0 ? [[], []] : [times.slice(from, seen), values.slice(from, seen)];
    const [inTimes, inValues] = [Float64Array.from(t), Float64Array.from(v)];
    const groups = groupObservations(inTimes, inValues, t.length, sinceMs);
    for (let i = 0; i < groups; i++) found.push([inTimes[i] as number, inValues[i] as number]);
    sinceMs = found.at(-1)?.[0] ?? 0;
    if (seen === times.length) return found;
  }
}

describe("observations", () => {
  it("are the values themselves where these lie 30 seconds apart, to the millisecond", () => {
    const times = [START, START + 30_000, START + 5 * MINUTE];
    expect(observed(times, [1, 2, 3], [])).toEqual(times.map((time, i) => [time, i + 1]));
  });

  it("are means of a minute where they are closer, once the minute is over", () => {
    const times = Array.from({ length: 130 }, (_, i) => START - 1000 + i * 1000);
    const values = times.map((_, i) => i);
    // The first is alone; the last nine may go on.
    expect(observed(times, values, [])).toEqual([
      [START - 1000, 0],
      [START + 59_000, 30.5],
      [START + 119_000, 90.5],
    ]);
  });

  it("stay finite on the largest values", () => {
    const times = Array.from({ length: 100 }, (_, i) => START + i * 1000);
    for (const [, value] of observed(
      times,
      times.map(() => Number.MAX_VALUE),
      [],
    ))
      expect(Number.isFinite(value)).toBe(true);
  });

  it("are the same in whatever pieces the values come", () => {
    const gaps = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 29_990, max: 30_010 }), fc.integer({ min: 1, max: 400_000 })),
      {
        minLength: 1,
        maxLength: 100,
      },
    );
    fc.assert(
      fc.property(gaps, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 }), (between, pieces) => {
        let at = START;
        const times = between.map((gap) => (at += gap));
        const values = times.map((_, i) => i * i);
        expect(observed(times, values, pieces)).toEqual(observed(times, values, []));
      }),
    );
  });
});
