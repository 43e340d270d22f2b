// When an engine works for the Watchdog, on a virtual clock: beside bodies that wait, and without.
import { describe, expect, it } from "vitest";
import { EngineWatchdog, type EngineWatchdogDependencies } from "../../../../../src/actors/engine/watchdog/cycle/engine-watchdog.ts";
import { WATCHDOG_ANSWER_MS, WATCHDOG_BUSY_MS } from "../../../../../src/core/config/pace-limits.ts";

const QUESTION = { type: "watchdog", id: 1, cycle: 1, detector: "pairs", nowMs: 0, workMs: 2, sliceMs: 0.5 } as const;

function asked(yields: boolean) {
  const clock = { ms: 0 };
  const dependencies: Partial<EngineWatchdogDependencies> = { monotonicMs: () => clock.ms };
  const watchdog = new EngineWatchdog({}, dependencies as EngineWatchdogDependencies);
  watchdog.ask({ ...QUESTION, yields });
  return { clock, watchdog };
}

describe("a slice of a cycle", () => {
  it("is due where a question is asked, until it is answered", () => {
    const { watchdog } = asked(true);
    expect(watchdog.isDue(false)).toBe(true);
    expect(watchdog.step()).toMatchObject({ id: 1, done: true, wasBusy: false });
    expect(watchdog.isDue(false)).toBe(false);
  });

  it("leaves bodies that wait their turn, until its answer is due", () => {
    const { clock, watchdog } = asked(true);
    expect(watchdog.isDue(true)).toBe(false);
    clock.ms = WATCHDOG_ANSWER_MS - 1;
    expect(watchdog.isDue(true)).toBe(false);
    expect(watchdog.isDue(false)).toBe(true);
    clock.ms = WATCHDOG_ANSWER_MS;
    expect(watchdog.isDue(true)).toBe(true);
  });

  it("of a cycle that is late has its turn between bodies", () => {
    expect(asked(false).watchdog.isDue(true)).toBe(true);
  });

  it("tells of bodies that came a while ago, also before it was asked", () => {
    const { clock, watchdog } = asked(true);
    watchdog.noteBody();
    watchdog.step();
    for (const [ms, wasBusy] of [
      [WATCHDOG_BUSY_MS - 1, true],
      [WATCHDOG_BUSY_MS, false],
    ] as const) {
      clock.ms = ms;
      watchdog.ask({ ...QUESTION, yields: true });
      expect(watchdog.isDue(false)).toBe(true);
      expect(watchdog.step()).toMatchObject({ wasBusy });
    }
  });
});
