import { expect, it } from "vitest";
import { BodyPort } from "../../src/actors/front/body-port.ts";
import { createEngineMemory, EngineMemory } from "../../src/adapters/runtime/engine-memory.ts";
import { SMALL_BODY_BYTES_MAX } from "../../src/core/config/limits.ts";
import { LARGE_BODY } from "../../src/core/layout/memory-map.ts";

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
