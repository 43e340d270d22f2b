import { expect, it } from "vitest";
import { createEngineMemory } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { enginesOfThread, threadCount, viewMemories } from "../../../../src/adapters/shared-memory/engine-threads.ts";

it("gives every engine a thread of its own while there are cores, and no more threads than those", () => {
  const threads = (engines: number, cores: number) => threadCount(engines, cores);
  expect([threads(1, 1), threads(3, 4), threads(4, 4)]).toEqual([1, 3, 4]);
  expect([threads(8, 2), threads(3, 2), threads(64, 1), threads(2, 0)]).toEqual([2, 2, 1, 1]);
});

it("gives every engine to one thread, its first to the one of the same number", () => {
  for (const [engines, threads] of [
    [1, 1],
    [5, 2],
    [8, 3],
    [64, 64],
  ] as const) {
    const byThread = Array.from({ length: threads }, (_, thread) => enginesOfThread(thread, engines, threads));
    expect(byThread.map(([first]) => first)).toEqual(Array.from({ length: threads }, (_, thread) => thread));
    expect(byThread.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: engines }, (_, engine) => engine));
    const sizes = byThread.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  }
});

it("has engines of one thread share a bell, and no others", () => {
  const views = viewMemories(Array.from({ length: 5 }, createEngineMemory), 2);
  const bells = () => views.map((view) => view.bell());
  expect(bells()).toEqual([0, 0, 0, 0, 0]);
  views[2]?.ringBell();
  expect(bells()).toEqual([1, 0, 1, 0, 1]);
  views[1]?.ringBell();
  views[4]?.ringBell();
  expect(bells()).toEqual([2, 1, 2, 1, 2]);
  // A bell that was rung since it was looked at keeps the thread awake.
  views[0]?.sleep(1, 10_000);
  expect(bells()).toEqual([2, 1, 2, 1, 2]);
});
