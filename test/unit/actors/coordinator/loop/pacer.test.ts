import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StepReport } from "../../../../../src/actors/coordinator/loop/loop.ts";
import { Pacer } from "../../../../../src/actors/coordinator/loop/pacer.ts";
import { CoordinatorRingReader, CoordinatorRingWriter } from "../../../../../src/adapters/shared-memory/coordinator-ring.ts";
import { createEngineMemory, EngineMemory } from "../../../../../src/adapters/shared-memory/engine-memory.ts";
import { FRAME_BLOCK, FRAME_CLOSING, FRAME_VERDICT } from "../../../../../src/core/protocol/coordinator-frame.ts";

const IDLE: StepReport = { more: false, mayGather: false, isPaused: false, awaits: "any", dueMs: 1_000_000 };
const COMMITTED: StepReport = { ...IDLE, more: true, mayGather: true };

function paced(reports: StepReport[], { takesMs = 0, frames = [] as boolean[] } = {}) {
  const steps: number[] = [];
  let spentMs = 0;
  const pacer = new Pacer({
    step: async () => {
      steps.push(performance.now());
      spentMs += takesMs; // timers know nothing of it
      return reports.shift() ?? IDLE;
    },
    awaitFrames: () => frames.shift() ?? false,
    monotonicMs: () => performance.now() + spentMs,
  });
  return { steps, pacer, sinceFirst: () => steps.map((ms) => ms - (steps[0] as number)) };
}

describe("the pacer", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  it("steps at once when it is woken, and then waits for what is gathered", async () => {
    const { pacer, sinceFirst } = paced([COMMITTED, COMMITTED], { frames: [true, true] });
    pacer.wake();
    await pass(1);
    expect(sinceFirst()).toEqual([0]);
    await pass(20);
    expect(sinceFirst()).toEqual([0, 2, 4]);
  });

  it("does not step where nothing has gathered, but rests until it is due, or nudged or woken", async () => {
    const dueMs = performance.now() + 100;
    const { pacer, sinceFirst } = paced([{ ...COMMITTED, dueMs }]);
    pacer.wake();
    await pass(99);
    expect(sinceFirst()).toEqual([0]);
    await pass(2);
    expect(sinceFirst()).toEqual([0, 100]);
    const woken = paced([COMMITTED]);
    woken.pacer.wake();
    await pass(10);
    woken.pacer.nudge();
    await pass(1);
    expect(woken.sinceFirst()).toEqual([0, 10]);
    for (const { pacer: each } of [{ pacer }, woken]) each.stop();
  });

  it("gathers for ten times as long as the commit took, within bounds", async () => {
    const { pacer, sinceFirst } = paced([COMMITTED, COMMITTED], { takesMs: 1, frames: [true, true] });
    pacer.wake();
    await pass(30);
    expect(sinceFirst()).toEqual([0, 10, 20]);
    const slow = paced([COMMITTED], { takesMs: 50, frames: [true] });
    slow.pacer.wake();
    await pass(200);
    expect(slow.sinceFirst()).toEqual([0, 20]);
  });

  it("goes on without a pause where more than frames waits", async () => {
    const { pacer, sinceFirst } = paced([{ ...COMMITTED, mayGather: false }, COMMITTED]);
    pacer.wake();
    await pass(1);
    expect(sinceFirst()).toEqual([0, 0]);
  });

  it("does not wait where a command comes meanwhile, also while a step runs", async () => {
    const { pacer, sinceFirst } = paced([COMMITTED, COMMITTED, COMMITTED]);
    pacer.wake();
    await pass(1);
    pacer.wake();
    await pass(0);
    expect(sinceFirst()).toEqual([0, 1]);
    const busy = paced([COMMITTED]);
    busy.pacer.wake();
    busy.pacer.wake();
    await pass(0);
    expect(busy.sinceFirst()).toEqual([0, 0]);
  });

  it("lets frames gather where it is but nudged, and steps at once where none do", async () => {
    const { pacer, sinceFirst } = paced([COMMITTED]);
    pacer.wake();
    pacer.nudge();
    await pass(1);
    pacer.nudge();
    await pass(10);
    expect(sinceFirst()).toEqual([0, 2]);
    pacer.nudge();
    await pass(0);
    expect(sinceFirst()).toEqual([0, 2, 11]);
    const idle = paced([]);
    idle.pacer.wake();
    idle.pacer.nudge();
    await pass(0);
    expect(idle.sinceFirst()).toEqual([0, 0]);
  });

  it("steps once more for frames that came before the engines were asked for word, and for those that are not taken even then after a rest", async () => {
    const { pacer, sinceFirst } = paced([], { frames: [true, true, true, false] });
    pacer.wake();
    await pass(50);
    expect(sinceFirst()).toEqual([0, 0, 2, 2]);
  });

  it("rests until the store may be tried again where that does not take frames", async () => {
    const paused: StepReport = { ...IDLE, isPaused: true, dueMs: performance.now() + 100 };
    const { pacer, sinceFirst } = paced([paused, COMMITTED], { frames: [true] });
    pacer.wake();
    await pass(101);
    expect(sinceFirst()).toEqual([0, 100]);
  });

  it("never rests without having asked for word of the next frame", async () => {
    const memory = new EngineMemory(createEngineMemory(), { rings: { coordinatorBytes: 4096, inboxBytes: 4096 } });
    const writer = new CoordinatorRingWriter(memory);
    const reader = new CoordinatorRingReader(memory);
    let steps = 0;
    /** As an engine sends: word of a frame only to who has asked for it. */
    const send = () => {
      writer.write(1, new Uint8Array(8));
      if (writer.isAwaited()) pacer.wake();
    };
    const pacer = new Pacer({
      step: async () => {
        steps++;
        // The second frame comes with the engine's word, before the step that looks for the first, which came behind the first step's look into the ring.
        if (steps === 2) send();
        const more = reader.take(10).length > 0;
        if (steps === 1) send();
        return { ...IDLE, more, mayGather: more };
      },
      awaitFrames: () => reader.awaitFrames("any"),
      monotonicMs: () => performance.now(),
    });
    pacer.wake();
    await pass(1_000);
    send();
    await pass(10);
    expect(reader.fill).toBe(0);
  });

  it("rests on frames that may wait until it is due, and is woken by one that may not", async () => {
    const memory = new EngineMemory(createEngineMemory(), { rings: { coordinatorBytes: 4096, inboxBytes: 4096 } });
    const writer = new CoordinatorRingWriter(memory);
    const reader = new CoordinatorRingReader(memory);
    const steps: number[] = [];
    const startMs = performance.now();
    const send = (kind: number) => {
      writer.write(kind, new Uint8Array(8));
      if (writer.isAwaited()) pacer.wake();
    };
    const pacer = new Pacer({
      step: async () => {
        steps.push(performance.now() - startMs);
        reader.take(10);
        return { ...IDLE, awaits: "prompt", dueMs: performance.now() + 25 };
      },
      awaitFrames: (awaited) => reader.awaitFrames(awaited),
      monotonicMs: () => performance.now(),
    });
    pacer.wake();
    await pass(5);
    send(FRAME_BLOCK);
    await pass(5);
    expect(steps).toEqual([0]);
    send(FRAME_VERDICT);
    await pass(1);
    expect(steps).toEqual([0, 10]);
    send(FRAME_BLOCK);
    await pass(50);
    expect(steps.slice(0, 3)).toEqual([0, 10, 35]);
    pacer.stop();
  });

  it("wakes when it is due, and not after it was stopped", async () => {
    const dueMs = performance.now() + 100;
    const { pacer, steps } = paced([{ ...IDLE, dueMs }, IDLE]);
    pacer.wake();
    await pass(99);
    expect(steps).toHaveLength(1);
    await pass(2);
    expect(steps).toHaveLength(2);
    pacer.stop();
    pacer.wake();
    await pass(100_000);
    expect(steps).toHaveLength(2);
  });
});

describe("the ring to the coordinator", () => {
  const ring = () => {
    const memory = new EngineMemory(createEngineMemory(), { rings: { coordinatorBytes: 4096, inboxBytes: 4096 } });
    return { writer: new CoordinatorRingWriter(memory), reader: new CoordinatorRingReader(memory) };
  };

  it("has word sent of a frame once each time that the reader asks", () => {
    const { writer, reader } = ring();
    writer.write(1, new Uint8Array(8));
    expect(writer.isAwaited()).toBe(false);
    expect(reader.awaitFrames("any")).toBe(true);
    reader.take(10);
    expect(reader.awaitFrames("any")).toBe(false);
    writer.write(1, new Uint8Array(8));
    expect([writer.isAwaited(), writer.isAwaited()]).toEqual([true, false]);
  });

  it("has word sent of prompt frames alone where the reader rests on others, or of a ring that fills", () => {
    const { writer, reader } = ring();
    const send = (kind: number, bytes = 8) => {
      writer.write(kind, new Uint8Array(bytes));
      return writer.isAwaited();
    };
    expect(reader.awaitFrames("prompt")).toBe(false);
    expect([send(FRAME_BLOCK), send(FRAME_CLOSING)]).toEqual([false, false]);
    expect(reader.awaitFrames("prompt")).toBe(false);
    expect(send(FRAME_VERDICT)).toBe(true);
    expect(send(FRAME_VERDICT)).toBe(false);
    expect(reader.awaitFrames("prompt")).toBe(true);
    reader.take(10);
    expect(reader.awaitFrames("prompt")).toBe(false);
    expect(send(FRAME_BLOCK, 1100)).toBe(true);
    expect(reader.awaitFrames("prompt")).toBe(true);
    reader.take(1);
    expect(reader.awaitFrames("prompt")).toBe(false);
    send(FRAME_VERDICT);
    send(FRAME_BLOCK);
    expect(reader.awaitFrames("prompt")).toBe(true);
    reader.take(1);
    expect([reader.awaitFrames("prompt"), reader.awaitFrames("any")]).toEqual([false, true]);
  });

  it("has the writer woken once each time that it waits for room", () => {
    const { writer, reader } = ring();
    while (writer.write(1, new Uint8Array(100)));
    expect(reader.isSpaceAwaited()).toBe(false);
    writer.awaitSpace();
    reader.take(3);
    expect([reader.isSpaceAwaited(), reader.isSpaceAwaited()]).toEqual([true, false]);
  });
});
