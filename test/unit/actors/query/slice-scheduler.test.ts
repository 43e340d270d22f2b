import { describe, expect, it } from "vitest";
import { SliceScheduler } from "../../../../src/actors/query/slice-scheduler.ts";
import type { Evaluating } from "../../../../src/domain/promql/evaluation/sliced-evaluation.ts";
import { QueryBudget } from "../../../../src/domain/promql/query-budget.ts";
import { QueryMemory } from "../../../../src/domain/promql/query-memory.ts";

/** A scheduler whose clock goes on by 10 ms with each step of a query; a slice is two steps. */
function rig(memory = new QueryMemory(1_000, 20)) {
  let nowMs = 0;
  const steps: string[] = [];
  const scheduler = new SliceScheduler({ sliceMs: 15 }, { memory, monotonicMs: () => nowMs });
  const budget = (bounds = {}) =>
    new QueryBudget(
      () => nowMs,
      bounds,
      () => false,
      memory,
    );
  function* query(name: string, count: number, each: () => void = () => undefined): Evaluating<string> {
    for (let step = 0; step < count; step++) {
      nowMs += 10;
      steps.push(name);
      each();
      yield;
    }
    return name;
  }
  const run = (tenant: string, name: string, count: number, own = budget(), each?: () => void) =>
    scheduler.run({ tenant }, own, query(name, count, each));
  return { run, budget, steps, memory };
}

describe("queries of one worker", () => {
  it("go on in slices, so that a short one that comes later ends before a long one", async () => {
    const { run, steps } = rig();
    const ended: string[] = [];
    const note = (name: string) => void ended.push(name);
    await Promise.all([run("a", "long", 100).then(note), run("a", "short", 3).then(note)]);
    expect(ended).toEqual(["short", "long"]);
    expect(steps.lastIndexOf("short")).toBeLessThan(10);
  });

  it("give each tenant the same time, however many queries it has", async () => {
    const { run, steps } = rig();
    const crowd = Array.from({ length: 10 }, (_, index) => run("crowd", `crowd-${index}`, 40));
    await run("quiet", "quiet", 40);
    const before = steps.slice(0, steps.lastIndexOf("quiet"));
    expect(before.filter((name) => name !== "quiet").length).toBeLessThanOrEqual(44);
    await Promise.all(crowd);
  });

  it("say the time in which others had the thread", async () => {
    const { run, budget } = rig();
    const [one, other] = [budget(), budget()];
    await Promise.all([run("a", "one", 10, one), run("b", "other", 10, other)]);
    expect(one.idleMs + other.idleMs).toBeGreaterThan(90);
  });

  it("end with what they throw, and others go on", async () => {
    const { run, budget } = rig();
    const failing = run("a", "failing", 5, budget(), () => {
      throw new Error("broken");
    });
    const late = run("a", "late", 100, budget({ durationMsMax: 50 }));
    const sound = run("a", "sound", 30);
    await expect(failing).rejects.toThrow("broken");
    await expect(late).rejects.toThrow("query timed out");
    expect(await sound).toBe("sound");
  });

  it("have the one with most memory end first where memory is scarce, and refuse none that is within its share", async () => {
    const { run, budget, memory } = rig();
    const ended: string[] = [];
    const grow = (own: QueryBudget, bytes: number) => () => own.reserve(bytes);
    const settled = (own: QueryBudget, name: string) => () => {
      ended.push(name);
      own.settle(0);
    };
    const [large, middle, small] = [budget(), budget(), budget()];
    await Promise.all([
      run("a", "middle", 8, middle, grow(middle, 70)).then(settled(middle, "middle")),
      run("a", "large", 8, large, grow(large, 80)).then(settled(large, "large")),
      run("a", "small", 8, small, grow(small, 3)).then(settled(small, "small")),
    ]);
    expect(ended.indexOf("large")).toBeLessThan(ended.indexOf("middle"));
    expect(ended).toHaveLength(3);
    expect(memory.bytes).toBe(0);
  });

  it("are refused for memory that they and others have together", async () => {
    const memory = new QueryMemory(1_000, 20);
    const { budget } = rig(memory);
    budget().reserve(900);
    const small = budget();
    small.reserve(25);
    small.reserve(0);
    expect(() => budget().reserve(200)).toThrow("too much memory beside other queries: all together more than 1000 bytes");
    expect(() => budget({ bytesMax: 100 }).reserve(101)).toThrow("more than 100 bytes");
  });
});
