import { expect, it } from "vitest";
import { Outbox } from "../../../../../src/actors/engine/report/outbox.ts";
import { CoordinatorRingReader } from "../../../../../src/adapters/shared-memory/coordinator-ring.ts";
import { createEngineMemory, EngineMemory } from "../../../../../src/adapters/shared-memory/engine-memory.ts";
import { FRAME_CHECKPOINT, FRAME_RECORD, FRAME_SPAN_BLOCK } from "../../../../../src/core/protocol/coordinator-frame.ts";

function rig() {
  const memory = new EngineMemory(createEngineMemory());
  const told = { bells: 0 };
  const outbox = new Outbox(memory, () => told.bells++);
  const reader = new CoordinatorRingReader(memory);
  const first = () => reader.take(100).map(({ kind, payload }) => `${kind} ${payload[0]} ${payload.byteLength}`);
  return { memory, outbox, reader, told, first };
}

it("has views of a buffer that is used again arrive in order behind what waits, and tells the coordinator once", () => {
  const { memory, outbox, reader, told, first } = rig();
  const bytes = memory.rings.coordinatorBytes / 4;
  const shared = new Uint8Array(bytes);
  const sendView = (value: number) => outbox.sendView(FRAME_SPAN_BLOCK, shared.fill(value));
  expect(reader.awaitFrames("any")).toBe(false);
  for (let value = 1; value <= 6; value++) sendView(value);
  outbox.send(FRAME_RECORD, Uint8Array.of(7));
  sendView(8);
  shared.fill(99);
  expect(outbox.frames).toBeGreaterThan(0);
  expect(outbox.flush()).toBe(true);
  expect(told.bells).toBe(1);
  const taken: string[] = [];
  for (let turns = 0; turns < 10; turns++) {
    taken.push(...first());
    outbox.flush();
  }
  const views = (values: readonly number[]) => values.map((value) => `${FRAME_SPAN_BLOCK} ${value} ${bytes}`);
  expect(taken).toEqual([...views([1, 2, 3, 4, 5, 6]), `${FRAME_RECORD} 7 1`, ...views([8])]);
  expect([outbox.frames, outbox.waitingBytes, outbox.drained]).toEqual([0, 0, true]);
});

it("tells of a view that went straight into the ring", () => {
  const { outbox, reader, told, first } = rig();
  reader.awaitFrames("any");
  outbox.sendView(FRAME_SPAN_BLOCK, Uint8Array.of(5));
  expect([outbox.frames, told.bells]).toEqual([0, 0]);
  expect(outbox.flush()).toBe(true);
  expect(told.bells).toBe(1);
  expect(outbox.flush()).toBe(false);
  expect(first()).toEqual([`${FRAME_SPAN_BLOCK} 5 1`]);
});

it("carries a checkpoint until it is in the ring, also when it was given as a view", () => {
  const { memory, outbox, first } = rig();
  outbox.sendView(FRAME_CHECKPOINT, Uint8Array.of(1));
  expect(outbox.isCarrying).toBe(false);
  outbox.sendView(FRAME_SPAN_BLOCK, new Uint8Array(memory.rings.coordinatorBytes - 64));
  outbox.sendView(FRAME_CHECKPOINT, new Uint8Array(128));
  expect(outbox.isCarrying).toBe(true);
  for (let turns = 0; turns < 3; turns++) {
    first();
    outbox.flush();
  }
  expect(outbox.isCarrying).toBe(false);
});
