// Which vectors a model learns from, training after training over weeks of made-up history: the bound, the halves, whole runs, and their spread over all of it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TimedRows } from "../../../../src/domain/detection/multivariate/service-model.ts";
import { chooseRows, RUN_ROWS } from "../../../../src/domain/detection/multivariate/training-rows.ts";
import { decodeTrainingRows, encodeTrainingRows } from "../../../../src/domain/detection/multivariate/training-rows-coding.ts";
import { median } from "../../../../src/domain/detection/robust.ts";
import { generator } from "../../../support/generator.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const START_MS = Date.UTC(2026, 0, 5);
const WIDTH = 2;
/** Vectors of five minutes: weeks of them are quickly made. */
const INTERVAL_MS = 300_000;
const ROWS_MAX = 1_008;
/** Below that single precision knows nothing. */
const SINGLE_MIN = 2 ** -149;

interface World {
  /** Trainings, days apart. */
  readonly apart: readonly number[];
  /** Hours from the beginning at which the service was silent, and at which it was strange; an hour each. */
  readonly silent: ReadonlySet<number>;
  readonly strange: ReadonlySet<number>;
}

const worlds: fc.Arbitrary<World> = fc.record({
  apart: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 10 }),
  silent: fc.array(fc.nat(24 * 70), { maxLength: 60 }).map((hours) => new Set(hours)),
  strange: fc.array(fc.nat(24 * 70), { maxLength: 60 }).map((hours) => new Set(hours)),
});

const hourOf = (timeMs: number) => Math.floor((timeMs - START_MS) / 3_600_000);

/** What raw samples give: the newest week. A vector says its own time. */
function newestOf(toMs: number, { silent }: World): TimedRows {
  const times: number[] = [];
  for (let timeMs = Math.max(START_MS, toMs - WEEK_MS + INTERVAL_MS); timeMs <= toMs; timeMs += INTERVAL_MS) {
    if (!silent.has(hourOf(timeMs))) times.push(timeMs);
  }
  const values = new Float64Array(WIDTH * times.length);
  for (const [row, timeMs] of times.entries()) values.set([(timeMs - START_MS) / 60_000, (START_MS - timeMs) / 60_000], WIDTH * row);
  return { times: Float64Array.from(times), values, width: WIDTH };
}

/** The outcome of each training, which knows what the one before has kept. */
function trainings(world: World) {
  let toMs = START_MS;
  let kept: TimedRows | undefined;
  return world.apart.map((days) => {
    toMs += days * DAY_MS;
    const newest = newestOf(toMs, world);
    const left = Uint8Array.from(newest.times, (timeMs) => (world.strange.has(hourOf(timeMs)) ? 1 : 0));
    const { rows, aside } = chooseRows({ retained: kept, newest, left, rowsMax: ROWS_MAX });
    kept = decodeTrainingRows(encodeTrainingRows(rows), WIDTH);
    return { toMs, rows, aside, newest, left };
  });
}

describe("the vectors that a model learns from", () => {
  it("are never more than the bound, ascend, and are what the service was at their times", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { rows } of trainings(world)) {
          expect(rows.times.length).toBeLessThanOrEqual(ROWS_MAX);
          const { times, values } = rows;
          expect(times.findIndex((timeMs, row) => row > 0 && timeMs <= (times[row - 1] as number))).toBe(-1);
          expect(times.findIndex((timeMs, row) => values[WIDTH * row] !== (timeMs - START_MS) / 60_000)).toBe(-1);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("are half of the newest week, as far as there are so many, and nothing of what is strange in it", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { toMs, rows, newest, left } of trainings(world)) {
          const youngMs = toMs - WEEK_MS + RUN_ROWS * INTERVAL_MS;
          const young = rows.times.filter((timeMs) => timeMs >= youngMs);
          expect(young.some((timeMs) => world.strange.has(hourOf(timeMs)))).toBe(false);
          // Slots that an hour of silence or strangeness cuts are not whole.
          const cut = RUN_ROWS * (world.silent.size + world.strange.size + 3);
          const calm = newest.times.filter((_, row) => left[row] === 0).length;
          expect(young.length).toBeGreaterThanOrEqual(Math.min(ROWS_MAX / 2 - 2 * RUN_ROWS, calm - cut));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("are whole runs: between two breaks each follows the one before", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { rows } of trainings({ ...world, silent: new Set() })) {
          const { times, breaks } = rows;
          const isTorn = (row: number) => row > 0 && times[row] !== (times[row - 1] as number) + INTERVAL_MS && breaks?.[row] !== 1;
          expect(times.findIndex((_, row) => isTorn(row))).toBe(-1);
        }
      }),
    );
  });

  it("are spread over all of history: no gap is more than four times the usual one", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 8, maxLength: 40 }), (apart) => {
        const { toMs, rows } = trainings({ apart, silent: new Set(), strange: new Set() }).at(-1) as ReturnType<typeof trainings>[number];
        const begins = rows.times.filter((timeMs, row) => timeMs < toMs - WEEK_MS && (row === 0 || rows.breaks?.[row] === 1));
        if (begins.length < 4) return;
        const usual = (toMs - WEEK_MS - START_MS) / begins.length;
        const gaps = begins.map((beginMs, run) => beginMs - (run === 0 ? START_MS : (begins[run - 1] as number)));
        expect(Math.max(...gaps)).toBeLessThanOrEqual(4 * Math.max(usual, RUN_ROWS * INTERVAL_MS));
      }),
      { numRuns: 10 },
    );
  });

  it("leave calm runs of the newest week aside, which nothing is learned from", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { rows, aside } of trainings(world)) {
          const learned = new Set(rows.times);
          expect(aside.times.some((timeMs) => learned.has(timeMs) || world.strange.has(hourOf(timeMs)))).toBe(false);
        }
      }),
      { numRuns: 30 },
    );
  });
});

/** Vectors a minute apart of one metric that scatters by a part of a large level, one of counts, one that is mostly still, one of any numbers, and one that jumps far once. */
const metrics = fc
  .record({
    noise: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 8, maxLength: 60 }),
    level: fc.double({ min: -1e9, max: 1e9, noNaN: true }),
    scale: fc.constantFrom(1e-9, 1e-3, 1, 1e6),
    odd: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }),
  })
  .map(({ noise, level, scale, odd }) => {
    const rows = noise.flatMap((of, i) => [
      level + scale * of,
      Math.round(100 * of),
      i === 3 ? 0.25 + level : 0.25,
      i % 2 === 0 ? odd : of,
      i === 5 ? 1e12 : of,
    ]);
    return { times: Float64Array.from(noise, (_, i) => START_MS + 60_000 * i), values: Float64Array.from(rows), width: 5 };
  });

/** Half of the changes from a vector to the next are at most so large. */
function usualChange({ values, width }: TimedRows, metric: number): number {
  const column = values.filter((_, i) => i % width === metric);
  return median(column.slice(1).map((value, i) => Math.abs(value - (column[i] as number))));
}

describe("kept vectors", () => {
  it("are what they were to a 128th of what a metric usually changes by, or to single precision; counts to the last", () => {
    fc.assert(
      fc.property(metrics, (rows) => {
        const kept = decodeTrainingRows(encodeTrainingRows(rows), rows.width) as TimedRows;
        expect(kept.times).toEqual(rows.times);
        const off = kept.values.findIndex((value, i) => {
          const was = rows.values[i] as number;
          const error = Math.max(usualChange(rows, i % rows.width) / 128, Math.abs(was) * 2 ** -24, SINGLE_MIN);
          return i % rows.width === 1 ? value !== was : !(Math.abs(value - was) <= error);
        });
        expect(off).toBe(-1);
      }),
    );
  });

  it("are the same however often they are kept", () => {
    fc.assert(
      fc.property(metrics, (rows) => {
        const kept = decodeTrainingRows(encodeTrainingRows(rows), rows.width) as TimedRows;
        const again = decodeTrainingRows(encodeTrainingRows(kept), rows.width) as TimedRows;
        const off = again.values.findIndex(
          (value, i) => !(Math.abs(value - (kept.values[i] as number)) <= usualChange(rows, i % rows.width) / 64),
        );
        expect(off).toBe(-1);
      }),
    );
  });

  it("take less than half of what single precision does where metrics scatter", () => {
    const random = generator(3);
    const [length, width] = [1_000, 8];
    const times = Float64Array.from({ length }, (_, i) => START_MS + 60_000 * i);
    const values = Float64Array.from({ length: length * width }, () => 100 + 10 * random.normal());
    expect(encodeTrainingRows({ times, values, width }).length).toBeLessThan(9 * length + 2 * length * width);
  });

  it("are read where they are of version 1", () => {
    const stored = new Uint8Array(16 + 2 * (8 + 4 * 2 + 1));
    new Uint32Array(stored.buffer, 0, 4).set([1, 2, 2, 0]);
    new Float64Array(stored.buffer, 16, 2).set([START_MS, START_MS + 60_000]);
    new Float32Array(stored.buffer, 32, 4).set([1, 2.5, 3, -4]);
    stored.set([1, 0], 48);
    const { times, values, breaks } = decodeTrainingRows(stored, 2) as TimedRows;
    expect([[...times], [...values], [...(breaks ?? [])]]).toEqual([
      [START_MS, START_MS + 60_000],
      [1, 2.5, 3, -4],
      [1, 0],
    ]);
    expect(decodeTrainingRows(stored.subarray(0, 49), 2)).toBeUndefined();
  });

  it("are none where their bytes are cut, changed in their head, or of other metrics", () => {
    const { rows } = trainings({ apart: [3], silent: new Set(), strange: new Set([5]) })[0] as ReturnType<typeof trainings>[number];
    const bytes = encodeTrainingRows(rows);
    expect(decodeTrainingRows(bytes, WIDTH)?.times).toEqual(rows.times);
    expect(decodeTrainingRows(bytes, WIDTH + 1)).toBeUndefined();
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 11 }), fc.integer({ min: 1, max: 255 }), (length, at, flip) => {
        expect(decodeTrainingRows(bytes.subarray(0, length), WIDTH)).toBeUndefined();
        const changed = bytes.slice();
        changed[at] = (changed[at] as number) ^ flip;
        expect(decodeTrainingRows(changed, WIDTH)).toBeUndefined();
      }),
    );
  });
});
