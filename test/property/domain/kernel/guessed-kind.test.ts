// Series whose kind is guessed: they count until their values show that they are no counters, as the slow twin says; counters that begin anew now and then go on.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EVENT_NO_COUNTER } from "../../../../src/core/layout/kernel-event.ts";
import { FLAG_COUNTER, FLAG_GUESSED } from "../../../../src/core/layout/stream-record.ts";
import { gaugeOf } from "../../../../src/domain/kernel/guessed-kind.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START = 1_700_000_000_000;
const STEP_MS = 10_000;
const FALLS_APART = 12;

/** Place of the first value that no counter has; -1 where there is none. */
function firstShown(values: readonly number[]): number {
  let [lastFall, most] = [Number.NEGATIVE_INFINITY, 0];
  for (let i = 1; i < values.length; i++) {
    const [before, value] = [values[i - 1] as number, values[i] as number];
    if (value >= before) {
      most = Math.max(most, value - before);
      continue;
    }
    if (i - lastFall <= FALLS_APART || value < 0 || (value > before / 2 && value > most)) return i;
    lastFall = i;
    most = Math.max(most, countedAfter(value, most, i));
  }
  return -1;
}

/** As shard-counter.ts stores it: what a fall that no start explains counts. */
function countedAfter(value: number, most: number, deltas: number): number {
  if (value <= 10 * most) return value;
  return deltas - 1 >= FALLS_APART ? 0 : most > 0 ? most : value;
}

/** Where the kernel says it; no ring of so few values loses one. */
function shownByKernel(rig: ShardRig, values: readonly number[]): number {
  const slot = rig.stream(FLAG_COUNTER | FLAG_GUESSED);
  return values.findIndex((value, i) => rig.apply(slot, START + i * STEP_MS, value).some(({ kind }) => kind === EVENT_NO_COUNTER));
}

describe("the kind of a series that is guessed", () => {
  it("is no counter from the value on that no counter has", () => {
    const rig = new ShardRig({ window: 120 });
    const value = fc.oneof(fc.integer({ min: -2, max: 20 }), fc.integer({ min: 0, max: 1000 }));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 100 }), (values) => {
        expect(shownByKernel(rig, values)).toBe(firstShown(values));
      }),
      { numRuns: 1000 },
    );
  });

  it("stays a counter that begins anew from time to time", () => {
    const rig = new ShardRig({ window: 120 });
    const run = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: FALLS_APART + 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 3 }), (runs) => {
        const values = runs.flatMap((increases) => increases.map((_, i) => increases.slice(0, i + 1).reduce((sum, by) => sum + by, 0)));
        expect(shownByKernel(rig, values)).toBe(-1);
      }),
      { numRuns: 300 },
    );
  });

  it("takes the value that shows it for a gauge's first", () => {
    const rig = new ShardRig({ window: 120 });
    const slot = rig.stream(FLAG_COUNTER | FLAG_GUESSED);
    for (const [i, value] of [70, 75].entries()) rig.apply(slot, START + i * STEP_MS, value);
    const [shown] = rig.apply(slot, START + 2 * STEP_MS, 60);
    expect(shown?.kind).toBe(EVENT_NO_COUNTER);
    rig.shard.records.restart(slot, gaugeOf(rig.shard.records.flags(slot)));
    rig.apply(slot, START + 2 * STEP_MS, 60);
    expect([rig.shard.records.count(slot), rig.shard.records.lastTimeMs(slot)]).toEqual([1, START + 2 * STEP_MS]);
  });
});
