import { expect, it } from "vitest";
import { BodyPort } from "../../src/actors/front/body-port.ts";
import { createEngineMemory, EngineMemory } from "../../src/adapters/runtime/engine-memory.ts";
import { BODIES_WAITING_BYTES_MAX, SMALL_BODY_BYTES_MAX } from "../../src/core/config/limits.ts";
import { BODY_RING, DESCRIPTOR_BYTES, DESCRIPTOR_POINTER, DESCRIPTORS, LARGE_BODY } from "../../src/core/layout/memory-map.ts";

it("keeps a large body that waits for the place of large ones, though its sender's buffer is used again", () => {
  const memory = new EngineMemory(createEngineMemory());
  const port = new BodyPort(memory, () => 1);
  const answers: number[] = [];
  const submit = (bytes: Uint8Array) =>
    port.submit({ bytes, kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0 }, { answer: (status) => answers.push(status) });
  const pooled = Buffer.alloc(SMALL_BODY_BYTES_MAX + 1, 1);
  expect(submit(pooled)).toBe(true);
  pooled.fill(2);
  expect(submit(pooled)).toBe(true);
  pooled.fill(3);
  port.publish();
  expect(memory.bytes.subarray(LARGE_BODY, LARGE_BODY + pooled.length).every((byte) => byte === 1)).toBe(true);
  port.answer({ counts: [1], statuses: [204], bodies: [null], written: [null] });
  expect(answers).toEqual([204]);
  expect(memory.bytes.subarray(LARGE_BODY, LARGE_BODY + pooled.length).every((byte) => byte === 2)).toBe(true);
});

it("keeps bodies that find no room in the ring, in their order, up to a bound", () => {
  const memory = new EngineMemory(createEngineMemory());
  const port = new BodyPort(memory, () => 1);
  const answers: number[] = [];
  const pooled = Buffer.alloc(SMALL_BODY_BYTES_MAX);
  const submit = (value: number) => {
    pooled.fill(value);
    const body = { bytes: pooled, kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0 };
    return port.submit(body, { answer: (status) => answers.push(100 * value + status) });
  };
  /** Whether the body of that value, which was the last to be placed, is whole. */
  const placed = (value: number) => {
    const from = memory.view.getUint32(DESCRIPTORS + (value - 1) * DESCRIPTOR_BYTES + DESCRIPTOR_POINTER, true);
    return memory.bytes.subarray(from, from + pooled.length).every((byte) => byte === value);
  };
  const inRing = [1, 2, 3].map(submit);
  const kept = Array.from({ length: BODIES_WAITING_BYTES_MAX / SMALL_BODY_BYTES_MAX }, (_, i) => submit(4 + i));
  expect([...inRing, ...kept].every((taken) => taken)).toBe(true);
  expect(submit(99)).toBe(false);
  expect(port.waiting).toBe(inRing.length + kept.length);
  port.publish();
  const answerOne = () => port.answer({ counts: [1], statuses: [0], bodies: [null], written: [null] });
  answerOne();
  const first = memory.bytes.subarray(BODY_RING, BODY_RING + pooled.length);
  expect(first.every((byte) => byte === 4)).toBe(true);
  expect(submit(12)).toBe(true);
  for (let value = 5; port.waiting > 0; value++) {
    answerOne();
    if (value <= 12) expect(placed(value)).toBe(true);
  }
  expect(answers).toEqual([...Array.from({ length: 12 }, (_, i) => 100 * (i + 1))]);
  expect(port.ringFill).toBe(0);
});

it("begins the ring anew when nothing lies in it: the first bytes are in the caches", () => {
  const memory = new EngineMemory(createEngineMemory());
  const port = new BodyPort(memory, () => 1);
  const submit = () =>
    port.submit(
      { bytes: new Uint8Array(5000), kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0 },
      { answer: () => undefined },
    );
  const placeOf = (body: number) => memory.view.getUint32(DESCRIPTORS + body * DESCRIPTOR_BYTES + DESCRIPTOR_POINTER, true);
  expect([submit(), submit()]).toEqual([true, true]);
  port.publish();
  expect(placeOf(1)).toBeGreaterThan(placeOf(0));
  port.answer({ counts: [1], statuses: [204], bodies: [null], written: [null] });
  expect(submit()).toBe(true);
  expect(placeOf(2)).toBeGreaterThan(placeOf(1));
  port.publish();
  port.answer({ counts: [2], statuses: [204, 204], bodies: [null, null], written: [null, null] });
  expect(submit()).toBe(true);
  expect(placeOf(3)).toBe(placeOf(0));
});
