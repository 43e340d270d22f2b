// Which vectors a model learns from, training after training over weeks of made-up history: the bound, the halves, whole runs, and their spread over all of it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TimedRows } from "../../../../src/domain/detection/multivariate/service-model.ts";
import { chooseRows, RUN_ROWS } from "../../../../src/domain/detection/multivariate/training-rows.ts";
import { decodeTrainingRows, encodeTrainingRows } from "../../../../src/domain/detection/multivariate/training-rows-coding.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const START_MS = Date.UTC(2026, 0, 5);
const WIDTH = 2;
/** Vectors of five minutes: weeks of them are quickly made. */
const INTERVAL_MS = 300_000;
const ROWS_MAX = 1_008;

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
  const minutes = times.map((timeMs) => (timeMs - START_MS) / 60_000);
  return { times: Float64Array.from(times), values: Float64Array.from(minutes.flatMap((minute) => [minute, -minute])), width: WIDTH };
}

/** The outcome of each training, which knows what the one before has kept. */
function trainings(world: World) {
  let toMs = START_MS;
  let kept: TimedRows | undefined;
  return world.apart.map((days) => {
    toMs += days * DAY_MS;
    const newest = newestOf(toMs, world);
    const left = Uint8Array.from(newest.times, (timeMs) => (world.strange.has(hourOf(timeMs)) ? 1 : 0));
    const { rows, aside } = chooseRows({ kept, newest, left, rowsMax: ROWS_MAX });
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

describe("kept vectors", () => {
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
