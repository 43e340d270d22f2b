import { describe, expect, it } from "vitest";
import { SLICE_MS } from "../../../../src/core/config/limits.ts";
import { LoopClock } from "../../../../src/modules/queries/query-runner.ts";
import { inSlices, mapInSlices, Slices } from "../../../../src/modules/state/slices.ts";

/** A thread whose clock goes on by what is worked, and that counts turns. */
function thread() {
  const state = { nowMs: 0, turns: 0 };
  const turn = async () => void state.turns++;
  return { state, slices: new Slices({ monotonicMs: () => state.nowMs, resume: turn }) };
}

describe("slices", () => {
  it("give others their turn after each slice of work", async () => {
    const { state, slices } = thread();
    const work = (value: number) => {
      state.nowMs += SLICE_MS / 2;
      return value * 2;
    };
    const mapped = await mapInSlices([1, 2, 3, 4, 5, 6], work, slices.pause);
    expect([mapped, state.turns]).toEqual([[2, 4, 6, 8, 10, 12], 3]);
  });

  it("take steps to their end", async () => {
    const { state, slices } = thread();
    const steps = function* () {
      for (let step = 0; step < 10; step++) {
        state.nowMs += 1;
        yield;
      }
      return "done";
    };
    expect([await inSlices(steps(), slices.pause), state.turns]).toEqual(["done", 2]);
  });

  it("begin anew where the work has waited", () => {
    const { state, slices } = thread();
    state.nowMs += 10 * SLICE_MS;
    slices.restart();
    expect(slices.pause()).toBeUndefined();
  });
});

describe("the clock of turns", () => {
  it("measures a turn once, whoever worked in it", async () => {
    const seconds: number[] = [];
    let nowMs = 0;
    let end = () => {};
    const yieldToLoop = () => new Promise<void>((resolve) => (end = resolve));
    const clock = new LoopClock({ counters: { turn: (each) => seconds.push(each) }, monotonicMs: () => nowMs, yieldToLoop: yieldToLoop });
    clock.begin();
    nowMs += 4;
    clock.begin();
    nowMs += 3;
    end();
    await Promise.resolve();
    expect(seconds).toEqual([0.007]);
    clock.begin();
    end();
    await Promise.resolve();
    expect(seconds).toEqual([0.007, 0]);
  });
});
