import { expect, it } from "vitest";
import { BodyPort } from "../../../../src/actors/front/body-port.ts";
import { createEngineMemory, EngineMemory } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { COPIED_BYTES_PER_SLICE } from "../../../../src/core/config/body-limits.ts";
import { BODIES_WAITING_BYTES_MAX, SMALL_BODY_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { readDescriptor } from "../../../../src/core/layout/body-descriptor.ts";
import { BODY_RING, BODY_RING_BYTES, LARGE_BODY } from "../../../../src/core/layout/memory-map.ts";
import { STATUS_SET_ASIDE } from "../../../../src/core/protocol/engine-control.ts";

it("keeps a large body that waits for the place of large ones, though its sender's buffer is used again", () => {
  const memory = new EngineMemory(createEngineMemory());
  const port = new BodyPort(memory, () => 1);
  const answers: number[] = [];
  const submit = (bytes: Uint8Array) =>
    port.submit(
      { bytes, kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0, isAnonymous: false, sender: 0 },
      { answer: (status) => answers.push(status) },
    );
  const pooled = Buffer.alloc(SMALL_BODY_BYTES_MAX + 1, 1);
  expect(submit(pooled)).toBe(true);
  pooled.fill(2);
  expect(submit(pooled)).toBe(true);
  pooled.fill(3);
  port.publish();
  expect(memory.bytes.subarray(LARGE_BODY, LARGE_BODY + pooled.length).every((byte) => byte === 1)).toBe(true);
  port.answer({ counts: [], statuses: [], bodies: [], written: [], large: { status: 204, body: null, written: null }, overtaken: [] });
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
    const body = { bytes: pooled, kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0, isAnonymous: false, sender: 0 };
    return port.submit(body, { answer: (status) => answers.push(100 * value + status) });
  };
  /** Whether the body of that value, which was the last to be placed, is whole. */
  const placed = (value: number) => {
    const from = readDescriptor(memory.view, value - 1).pointer;
    return memory.bytes.subarray(from, from + pooled.length).every((byte) => byte === value);
  };
  const inRing = [1, 2, 3].map(submit);
  const kept = Array.from({ length: BODIES_WAITING_BYTES_MAX / SMALL_BODY_BYTES_MAX }, (_, i) => submit(4 + i));
  expect([...inRing, ...kept].every((taken) => taken)).toBe(true);
  expect(submit(99)).toBe(false);
  expect(port.waiting).toBe(inRing.length + kept.length);
  port.publish();
  const answerOne = () => port.answer({ counts: [1], statuses: [7], bodies: [null], written: [null], large: null, overtaken: [] });
  answerOne();
  const first = memory.bytes.subarray(BODY_RING, BODY_RING + pooled.length);
  expect(first.every((byte) => byte === 4)).toBe(true);
  expect(submit(12)).toBe(true);
  for (let value = 5; port.waiting > 0; value++) {
    answerOne();
    if (value <= 12) expect(placed(value)).toBe(true);
  }
  expect(answers).toEqual([...Array.from({ length: 12 }, (_, i) => 100 * (i + 1) + 7)]);
  expect(port.ringFill).toBe(0);
});

it("begins the ring anew when nothing lies in it: the first bytes are in the caches", () => {
  const memory = new EngineMemory(createEngineMemory());
  const port = new BodyPort(memory, () => 1);
  const submit = () =>
    port.submit(
      { bytes: new Uint8Array(5000), kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0, isAnonymous: false, sender: 0 },
      { answer: () => undefined },
    );
  const placeOf = (body: number) => readDescriptor(memory.view, body).pointer;
  expect([submit(), submit()]).toEqual([true, true]);
  port.publish();
  expect(placeOf(1)).toBeGreaterThan(placeOf(0));
  port.answer({ counts: [1], statuses: [204], bodies: [null], written: [null], large: null, overtaken: [] });
  expect(submit()).toBe(true);
  expect(placeOf(2)).toBeGreaterThan(placeOf(1));
  port.publish();
  port.answer({ counts: [2], statuses: [204, 204], bodies: [null, null], written: [null, null], large: null, overtaken: [] });
  expect(submit()).toBe(true);
  expect(placeOf(3)).toBe(placeOf(0));
});

it("copies an inflated body over several turns, and hands it over when it is whole", async () => {
  const memory = new EngineMemory(createEngineMemory());
  const port = new BodyPort(memory, () => 1);
  const pieces = Array.from({ length: 80 }, (_, i) => Buffer.alloc(64 * 1024, i + 1));
  const [bytes, ...rest] = pieces as [Buffer, ...Buffer[]];
  const answers: string[] = [];
  const body = { kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0, isAnonymous: false, sender: 0 };
  expect(port.submit({ ...body, bytes, rest }, { answer: (status) => answers.push(`large ${status}`) })).toBe(true);
  expect(port.submit({ ...body, bytes: new Uint8Array(5) }, { answer: (status) => answers.push(`small ${status}`) })).toBe(true);
  expect(port.waiting).toBe(2);
  let turns = 0;
  for (port.publish(); memory.bodiesHead() < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(turns).toBeGreaterThanOrEqual((80 * 64 * 1024) / COPIED_BYTES_PER_SLICE - 1);
  expect(Buffer.from(memory.bytes.subarray(LARGE_BODY, LARGE_BODY + 80 * 64 * 1024)).equals(Buffer.concat(pieces))).toBe(true);
  expect(memory.bytes[LARGE_BODY + 80 * 64 * 1024]).toBe(0);
  const large = { status: 204, body: null, written: null };
  port.answer({ counts: [1], statuses: [200], bodies: [null], written: [null], large: null, overtaken: [] });
  expect(port.waiting).toBe(1);
  port.answer({ counts: [], statuses: [], bodies: [], written: [], large, overtaken: [] });
  expect(answers).toEqual(["small 200", "large 204"]);
  expect(port.waiting).toBe(0);
});

it("frees the bytes of a body that was set aside, and answers it by its number, behind those that overtook it", () => {
  const memory = new EngineMemory(createEngineMemory());
  let admissions = 40;
  const port = new BodyPort(memory, () => ++admissions);
  const answers: string[] = [];
  const size = BODY_RING_BYTES / 8;
  const submit = (value: number) => {
    const bytes = new Uint8Array(size).fill(value);
    const body = { bytes, kind: 0, tenant: 0, idempotencyKey: "", arrivalMs: 0, wallMs: 0, isAnonymous: false, sender: 0 };
    return port.submit(body, { answer: (status) => answers.push(`${value} ${status}`) });
  };
  const next = (...statuses: number[]) =>
    port.answer({
      counts: statuses.map(() => 1),
      statuses,
      bodies: statuses.map(() => null),
      written: statuses.map(() => null),
      large: null,
      overtaken: [],
    });
  const late = (admission: number, status: number) =>
    port.answer({
      counts: [],
      statuses: [],
      bodies: [],
      written: [],
      large: null,
      overtaken: [{ admission, status, body: null, written: null }],
    });
  expect([1, 2, 3].map(submit)).toEqual([true, true, true]);
  next(200, STATUS_SET_ASIDE, 204);
  expect(answers).toEqual(["1 200", "3 204"]);
  expect([port.waiting, port.ringFill]).toEqual([1, 0]);
  for (let value = 4; value < 30; value++) {
    expect(submit(value)).toBe(true);
    next(value === 9 ? STATUS_SET_ASIDE : 200);
  }
  late(49, 208);
  late(42, 207);
  expect(answers.slice(-2)).toEqual(["9 208", "2 207"]);
  expect([port.waiting, port.ringFill]).toEqual([0, 0]);
  expect(new Set(answers).size).toBe(29);
});

it("gives a tenant eight places and half of the bytes where large bodies wait, and tenants their turns at the large place", () => {
  const port = new BodyPort(new EngineMemory(createEngineMemory()), () => 1);
  const answered: number[] = [];
  const submit = (tenant: number, mebibytes: number) => {
    const bytes = new Uint8Array(SMALL_BODY_BYTES_MAX + 1);
    const rest = mebibytes === 0 ? [] : [new Uint8Array(mebibytes * 2 ** 20)];
    const body = { bytes, rest, kind: 0, tenant, idempotencyKey: "", arrivalMs: 0, wallMs: 0, isAnonymous: false, sender: 0 };
    return port.submit(body, { answer: () => answered.push(tenant) });
  };
  expect(submit(1, 0)).toBe(true);
  expect(Array.from({ length: 9 }, () => submit(1, 0))).toEqual([...Array.from({ length: 8 }, () => true), false]);
  expect([submit(2, 60), submit(2, 60), submit(2, 60)]).toEqual([true, true, false]);
  expect([submit(3, 60), submit(3, 40), submit(4, 60)]).toEqual([true, true, false]);
  expect(submit(4, 0)).toBe(true);
  port.publish();
  const large = { status: 204, body: null, written: null };
  const answer = () => port.answer({ counts: [], statuses: [], bodies: [], written: [], large, overtaken: [] });
  for (let i = 0; i < 2; i++) answer();
  expect(answered).toEqual([1, 1]);
});
