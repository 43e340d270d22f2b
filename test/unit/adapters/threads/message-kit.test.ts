import { afterEach, expect, it, vi } from "vitest";
import { EngineInbox, type EngineInboxDependencies } from "../../../../src/actors/engine/engine-inbox.ts";
import { ActorHandle } from "../../../../src/adapters/threads/actor-handle.ts";
import { type ActorFailure, ActorThread, BackOff } from "../../../../src/adapters/threads/actor-thread.ts";
import { createChannel, dispatch, type Handlers } from "../../../../src/adapters/threads/mailbox.ts";
import { Requests } from "../../../../src/adapters/threads/requests.ts";
import { task } from "../../../../src/core/faults/guard.ts";

type Ask =
  | { readonly type: "add"; readonly id: number; readonly terms: readonly number[] }
  | { readonly type: "name"; readonly id: number };
type Answer = { readonly type: "sum"; readonly id: number; readonly sum: number } | { readonly type: "ready" };

const asks: Handlers<Ask, string> = {
  add: ({ terms }) => String(terms.reduce((sum, term) => sum + term, 0)),
  name: () => "adder",
};

afterEach(() => vi.useRealTimers());

it("gives each message to the handler of its type, and refuses what has none, by name", () => {
  expect(dispatch(asks, { type: "add", id: 1, terms: [1, 2] })).toBe("3");
  expect(dispatch(asks, { type: "name", id: 2 })).toBe("adder");
  const foreign = { type: "toString", id: 3 } as never;
  expect(() => dispatch(asks, foreign)).toThrow('no handler takes messages of type "toString": add, name');
});

it("does not compile where a handler is missing, or takes another message", () => {
  // @ts-expect-error "name" has no handler
  const missing: Handlers<Ask> = { add: () => undefined };
  // @ts-expect-error an "add" has no such field
  const wrong: Handlers<Ask> = { ...missing, add: ({ factors }) => factors };
  expect(Object.keys(wrong)).toEqual(["add"]);
});

it("hands messages over in order: to handlers where there is an event loop, one by one where a thread blocks", async () => {
  const { first, second } = createChannel<Answer, Ask>();
  second.send({ type: "sum", id: 1, sum: 3 });
  second.send({ type: "ready" });
  const got: unknown[] = [];
  await new Promise<void>((resolve) => {
    first.serve({ sum: ({ sum }) => got.push(sum), ready: () => resolve() }, task("a test"));
  });
  expect(got).toEqual([3]);
  first.send({ type: "name", id: 1 });
  first.send({ type: "add", id: 2, terms: [] });
  expect([second.take(), second.take()?.type, second.take()]).toEqual([{ type: "name", id: 1 }, "add", undefined]);
  first.close();
});

it("moves what is transferred", () => {
  const { first, second } = createChannel<{ readonly type: "bytes"; readonly bytes: Uint8Array }, Ask>();
  const bytes = Uint8Array.of(1, 2, 3);
  second.send({ type: "bytes", bytes }, [bytes.buffer]);
  expect(bytes.length).toBe(0);
  expect(first.take()?.bytes).toEqual(Uint8Array.of(1, 2, 3));
  first.close();
});

it("answers a question once, or says that it is late, and passes over what comes afterwards", () => {
  vi.useFakeTimers();
  const requests = new Requests<{ readonly id: number; readonly text: string }>();
  const reported: string[] = [];
  const outcome = (name: string) => ({
    answered: ({ text }: { readonly text: string }) => void reported.push(`${name} ${text}`),
    late: (ms: number) => void reported.push(`${name} late after ${ms}`),
  });
  requests.add(1, 100, outcome("a"));
  requests.add(2, 200, outcome("b"));
  expect(() => requests.add(2, 1, outcome("c"))).toThrow("request 2 is under way already");
  expect([requests.settle({ id: 1, text: "yes" }), requests.settle({ id: 1, text: "again" })]).toEqual([true, false]);
  vi.advanceTimersByTime(200);
  expect([requests.settle({ id: 2, text: "too late" }), requests.size]).toEqual([false, 0]);
  requests.add(3, 100, outcome("d"));
  requests.drop();
  vi.advanceTimersByTime(1000);
  expect(reported).toEqual(["a yes", "b late after 200"]);
});

it("numbers its own questions, and answers nothing in place of what is late", async () => {
  vi.useFakeTimers();
  const requests = new Requests<{ readonly id: number; readonly text: string }>();
  const sent: number[] = [];
  const [first, second] = [requests.ask(100, (id) => sent.push(id)), requests.ask(100, (id) => sent.push(id))];
  expect(sent).toEqual([1, 2]);
  requests.settle({ id: 2, text: "yes" });
  vi.advanceTimersByTime(100);
  expect(await Promise.all([first, second])).toEqual([undefined, { id: 2, text: "yes" }]);
  expect(requests.next()).toBe(3);
});

it("doubles the wait between starts up to its most, and begins again after a sound run", () => {
  const backOff = new BackOff({ firstMs: 100, mostMs: 500, soundMs: 60_000 });
  const waits = [0, 10, 59_999, 0, 0, 60_000, 5].map((ranMs) => backOff.waitMs(ranMs));
  expect(waits).toEqual([100, 200, 400, 500, 500, 100, 200]);
});

it("takes an actor's stop for itself, and leaves the rest to the handlers", async () => {
  const { first, second } = createChannel<{ readonly type: "ready" } | { readonly type: "stopped" }, { readonly type: "stop" }>();
  const handle = new ActorHandle<{ readonly type: "ready" }, never>(first);
  handle.serve({ ready: () => handle.ready.give() }, task("a test"));
  second.send({ type: "ready" });
  await handle.ready.resolved;
  handle.reportStop();
  expect(second.take()).toEqual({ type: "stop" });
  second.send({ type: "stopped" });
  await handle.stopped;
  first.close();
});

const worker = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);

/** Starts an actor of this source; `failures` resolves once it has failed so often. */
function start(source: string, failures: number, restart?: { firstMs: number; mostMs: number; soundMs: number }) {
  const failed: ActorFailure[] = [];
  let thread: ActorThread | undefined;
  const often = new Promise<void>((resolve) => {
    const note = (failure: ActorFailure) => {
      failed.push(failure);
      if (failed.length === failures) resolve();
    };
    thread = new ActorThread({ name: "adder", file: worker(source), failed: note, ...(restart && { restart }) }, () => ({
      data: null,
      ports: [],
    }));
  });
  return { thread: thread as ActorThread, failed, often };
}

it("says which actor ended and with what, once, and does not start it again", async () => {
  const thrown = start("throw new TypeError('no such state')", 1);
  await thrown.thread.ended;
  expect(thrown.failed.map(({ actor, error }) => [actor, error.name, error.message])).toEqual([["adder", "TypeError", "no such state"]]);
  const exited = start("process.exit(3)", 1);
  await exited.thread.ended;
  expect(exited.failed.map(({ error }) => error.message)).toEqual(["its thread ended with code 3"]);
  expect([thrown.thread.restarts, exited.thread.restarts]).toEqual([0, 0]);
});

it("takes the end of an actor without a policy, and one that was asked for, for no failure", async () => {
  const done = start("0", 1);
  await done.thread.ended;
  const idle = start("setInterval(() => {}, 1000)", 1);
  await idle.thread.terminate();
  expect([done.failed, idle.failed]).toEqual([[], []]);
});

it("starts an actor with a policy again whenever it ends, counted, until its end is asked for", async () => {
  const { thread, failed, often } = start("throw new Error('down')", 3, { firstMs: 1, mostMs: 4, soundMs: 60_000 });
  await often;
  await thread.terminate();
  expect([thread.restarts, failed.length]).toEqual([2, 3]);
  const waiting = start("0", 1, { firstMs: 3_600_000, mostMs: 3_600_000, soundMs: 60_000 });
  await waiting.often;
  await new Promise((resolve) => setImmediate(resolve));
  await waiting.thread.terminate();
  expect([waiting.thread.restarts, waiting.failed[0]?.error.message]).toEqual([0, "its thread ended with code 0"]);
});

it("has an engine take notices at once, streams once its states are there, and questions once it serves", () => {
  const requests: unknown[] = [];
  const taken: string[] = [];
  const note = (name: string) => () => void taken.push(name);
  const inbox = new EngineInbox({
    takeRequest: () => requests.shift(),
    metadata: { take: note("metadata") },
    shard: { returns: { take: note("streams") }, profiles: { take: note("settings") } },
    delayed: { add: note("question") },
    restore: note("part"),
    markLog: note("mark"),
  } as unknown as EngineInboxDependencies);
  const part = { type: "state-part" };
  const mark = { type: "log-mark" };
  const metadata = { type: "metric-metadata", metadata: [] };
  const streams = { type: "returned-streams" };
  const phases = {
    restoring: [part, mark, streams, metadata],
    replaying: [part, streams, { type: "series" }],
    serving: [streams],
  } as const;
  for (const phase of ["restoring", "replaying", "serving"] as const) {
    requests.push(...phases[phase]);
    while (inbox.takeOne(phase)) taken.push(phase);
  }
  expect(taken.filter((word) => !(word in phases))).toEqual(["part", "metadata", "streams", "mark", "question", "question", "streams"]);
  expect(taken.filter((word) => word === "serving")).toHaveLength(3);
  requests.push(part);
  expect(() => inbox.takeOne("serving")).toThrow("a part of a state came after the start");
});
