/** Parts live as their list says: started and stepped in its order, stopped in the reverse order. */
import { expect, it } from "vitest";
import { PartList } from "../../../../src/modules/state/part.ts";

function listOf(calls: string[]): PartList {
  const list = new PartList();
  list.add({
    start: async () => {
      await Promise.resolve();
      calls.push("start a");
    },
    step: () => {
      calls.push("step a");
      return 70;
    },
    stop: () => calls.push("stop a"),
  });
  list.add({ start: () => void calls.push("start b"), stop: () => calls.push("stop b") });
  list.add({
    step: () => {
      calls.push("step c");
      return 50;
    },
  });
  return list;
}

it("starts one part behind the other, also where one waits", async () => {
  const calls: string[] = [];
  await listOf(calls).start();
  expect(calls).toEqual(["start a", "start b"]);
});

it("steps those that have a step, and is due when the first of them is", () => {
  const calls: string[] = [];
  expect(listOf(calls).step()).toBe(50);
  expect(calls).toEqual(["step a", "step c"]);
  expect(new PartList().step()).toBe(Number.POSITIVE_INFINITY);
});

it("stops the last part first", () => {
  const calls: string[] = [];
  listOf(calls).stop();
  expect(calls).toEqual(["stop b", "stop a"]);
});

it("does the work of rounds that is due, and no other", async () => {
  const list = new PartList();
  const drained: boolean[] = [];
  list.addWork({ dueMs: 10, step: async (isDrained) => void drained.push(isDrained) });
  list.addWork({ dueMs: 20, step: () => Promise.reject(new Error("not due")) });
  expect(list.workDueMs).toBe(10);
  await list.stepWork(15, true);
  expect(drained).toEqual([true]);
  expect(new PartList().workDueMs).toBe(Number.POSITIVE_INFINITY);
});
