// The Watchdog's loop on a virtual clock: passes in their order, no overlap, one catch-up however many were missed.
import { describe, expect, it } from "vitest";
import { StoreError } from "../../../../src/adapters/storage/key-value-store.ts";
import { COORDINATOR_SLOTS } from "../../../../src/core/layout/counters.ts";
import { EngineUnavailableError } from "../../../../src/modules/engines/engine-client.ts";
import { CoordinatorCounters } from "../../../../src/modules/state/coordinator-counters.ts";
import type { WatchdogStage } from "../../../../src/modules/state/watchdog-stage.ts";
import { CyclePace } from "../../../../src/modules/watchdog/cycle-pace.ts";
import { Watchdog } from "../../../../src/modules/watchdog/watchdog.ts";

const COUNTS = { evaluated: 1, learning: 0, skipped: {} };

function rig(stages: (log: string[], ends: Array<() => void>) => readonly WatchdogStage[]) {
  const log: string[] = [];
  const ends: Array<() => void> = [];
  const clock = { ms: 1_000 };
  const completed: number[] = [];
  const watchdog = new Watchdog({ intervalMs: 60_000 }, stages(log, ends), {
    pace: new CyclePace(60_000),
    counters: new CoordinatorCounters(new Float64Array(COORDINATOR_SLOTS)),
    nowMs: () => clock.ms,
    monotonicMs: () => clock.ms,
    cycleEnded: (cycles) => completed.push(cycles),
  });
  return { watchdog, clock, log, ends, completed };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function stage(name: string, every: number, log: string[]): WatchdogStage {
  return {
    name,
    every,
    run: async ({ number }) => {
      log.push(`${name} ${number}`);
      return { counts: COUNTS, workMs: 1 };
    },
  };
}

describe("the cycle of the Watchdog", () => {
  it("makes its passes in order, those of every second cycle in the first, third, ...", async () => {
    const { watchdog, clock, log } = rig((to) => [stage("pairs", 1, to), stage("saturation", 2, to)]);
    for (let cycle = 0; cycle < 3; cycle++, clock.ms += 60_000) {
      watchdog.step();
      await settled();
    }
    expect(log).toEqual(["pairs 1", "saturation 1", "pairs 2", "pairs 3", "saturation 3"]);
    expect(watchdog.facts()).toMatchObject({ state: "ok", cycles: 3, failures: 0 });
  });

  it("does nothing before its interval has passed, to the millisecond", async () => {
    const { watchdog, clock, log } = rig((to) => [stage("pairs", 1, to)]);
    expect(watchdog.step()).toBe(61_000);
    await settled();
    clock.ms = 60_999;
    expect(watchdog.step()).toBe(61_000);
    await settled();
    expect(log).toHaveLength(1);
    clock.ms = 61_000;
    watchdog.step();
    await settled();
    expect(log).toHaveLength(2);
  });

  it("never overlaps, and catches up with one cycle for all that it missed", async () => {
    const { watchdog, clock, log, ends, completed } = rig((to, waiting) => [
      {
        name: "slow",
        every: 1,
        run: async ({ number }) => {
          to.push(`slow ${number}`);
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { counts: COUNTS, workMs: 1 };
        },
      },
    ]);
    watchdog.step();
    clock.ms += 200_000;
    expect(watchdog.step()).toBe(clock.ms + 100);
    await settled();
    expect(log).toEqual(["slow 1"]);
    expect(watchdog.facts().state).toBe("behind");
    ends[0]?.();
    await settled();
    expect(completed).toEqual([1]);
    watchdog.step();
    watchdog.step();
    await settled();
    expect(log).toEqual(["slow 1", "slow 2"]);
  });

  it("ends a cycle that an engine does not answer, and begins anew with the next", async () => {
    let isDead = true;
    const { watchdog, clock, completed } = rig(() => [
      {
        name: "pairs",
        every: 1,
        run: async () => {
          if (isDead) throw new EngineUnavailableError(0, new Error("no answer"));
          return { counts: COUNTS, workMs: 1 };
        },
      },
    ]);
    watchdog.step();
    await settled();
    expect(completed).toEqual([]);
    expect(watchdog.facts()).toMatchObject({ cycles: 0, failures: 1 });
    isDead = false;
    clock.ms += 60_000;
    watchdog.step();
    await settled();
    expect(completed).toEqual([1]);
  });

  it("tells of a cycle that the disk refused, and counts it for nothing: a new start would find the same disk", async () => {
    const { watchdog, completed } = rig(() => [
      {
        name: "pairs",
        every: 1,
        run: async () => {
          throw new StoreError("writing findings", "ENOSPC");
        },
      },
    ]);
    watchdog.step();
    await settled();
    expect(completed).toEqual([0]);
    expect(watchdog.facts()).toMatchObject({ cycles: 0, failures: 1 });
  });
});
