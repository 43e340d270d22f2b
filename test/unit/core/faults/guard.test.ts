import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  after,
  afterTurn,
  answerFault,
  background,
  connection,
  critical,
  every,
  type Fault,
  failedPart,
  fatal,
  guarded,
  guardedOf,
  guardedOr,
  lastInTurn,
  listen,
  listenOnce,
  reportFaults,
  run,
  sleep,
  task,
  turnEnd,
} from "../../../../src/core/faults/guard.ts";

const TASK = task("a task");
const failure = new Error("broken");
const fail = () => {
  throw failure;
};
let faults: Fault[] = [];
let stop = () => {};

beforeEach(() => {
  faults = [];
  stop = reportFaults((fault) => faults.push(fault));
});
afterEach(() => stop());

const FAULT = { where: "task", name: "a task", error: failure };

it("counts what a listener throws, and calls it again with the next event", () => {
  const emitter = new EventEmitter();
  const seen: number[] = [];
  listen(emitter, "value", TASK, (value: number) => {
    seen.push(value);
    if (value === 1) throw failure;
  });
  listenOnce(emitter, "value", TASK, fail);
  emitter.emit("value", 1);
  emitter.emit("value", 2);
  expect(seen).toEqual([1, 2]);
  expect(faults).toEqual([FAULT, FAULT]);
});

it("takes the home from what a listener is called with", () => {
  const ended: string[] = [];
  const server = new EventEmitter();
  listen(
    server,
    "connection",
    (name: string) => connection("a connection", () => ended.push(name)),
    (_name: string) => fail(),
  );
  server.emit("connection", "third");
  expect(ended).toEqual(["third"]);
  expect(faults).toEqual([{ where: "connection", name: "a connection", error: failure }]);
});

it("goes on behind a call that threw: timers, turns, promises", async () => {
  let ticks = 0;
  const ticked = new Promise<void>((resolve) => {
    const timer = every(1, TASK, () => {
      if (++ticks < 3) throw failure;
      clearInterval(timer);
      resolve();
    });
  });
  after(1, TASK, fail);
  afterTurn(TASK, fail);
  background(TASK, Promise.reject(failure));
  run(TASK, async () => fail());
  await Promise.all([ticked, sleep(2), turnEnd()]);
  await expect.poll(() => faults.length).toBe(6);
  expect(faults).toEqual(Array.from({ length: 6 }, () => FAULT));
});

it("ends a turn in order: what waits for it, then what comes last, and what that adds in the next turn", async () => {
  const seen: string[] = [];
  lastInTurn(TASK, () => {
    seen.push("last");
    lastInTurn(TASK, () => seen.push("last of the next"));
  });
  afterTurn(TASK, () => {
    seen.push("first");
    afterTurn(TASK, () => seen.push("next"));
    lastInTurn(TASK, () => seen.push("last, of this turn too"));
  });
  afterTurn(TASK, fail);
  afterTurn(TASK, () => seen.push("second"));
  const order = ["first", "second", "last", "last, of this turn too", "next", "last of the next"];
  await expect.poll(() => seen).toEqual(order);
  expect(faults).toEqual([FAULT]);
});

it("asks for the home of a listener's owner only where it throws", () => {
  const asked: string[] = [];
  const home = (owner: string) => {
    asked.push(owner);
    return TASK;
  };
  const listener = guardedOf("a request", home, (_owner, value: number) => {
    if (value > 1) throw failure;
  });
  listener(1);
  expect(asked).toEqual([]);
  listener(2);
  expect(asked).toEqual(["a request"]);
  expect(faults).toEqual([FAULT]);
});

it("gives who asked the answer of a call, and another where it threw", () => {
  expect(guardedOr(TASK, true, (value: number) => value > 1)(1)).toBe(false);
  expect(guardedOr(TASK, true, fail)()).toBe(true);
  expect(faults).toEqual([FAULT]);
});

it("counts an answer that throws itself, and the fault besides", () => {
  const second = new Error("worse");
  const home = connection("a connection", () => {
    throw second;
  });
  guarded(home, fail)();
  expect(faults.map(({ error }) => error)).toEqual([second, failure]);
});

it("throws on what a fatal part throws, with the part's name", () => {
  expect(() => run(fatal("a step"), fail)).toThrow(failure);
  expect(failedPart(failure)).toBe("a step");
  delete (failure as { failedPart?: string }).failedPart;
  expect(faults).toEqual([]);
});

it("lets nobody on the way take what a critical call throws", async () => {
  const commit = () => critical("a commit", () => Promise.reject(new Error("half applied")));
  await expect(commit()).rejects.toThrow("half applied");
  const broken = () => critical("a commit", () => fail2());
  const fail2 = () => {
    throw new Error("half applied");
  };
  expect(() => run(TASK, broken)).toThrow("half applied");
  expect(() => answerFault(TASK, Object.assign(new Error("of another thread"), { failedPart: "a commit" }))).toThrow("of another thread");
  expect(faults).toEqual([]);
});

it("throws on where nobody counts, but for what has an answer of its own", () => {
  stop();
  const ended: unknown[] = [];
  expect(() => run(TASK, fail)).toThrow(failure);
  run(
    connection("a connection", () => ended.push("ended")),
    fail,
  );
  expect(ended).toEqual(["ended"]);
});
