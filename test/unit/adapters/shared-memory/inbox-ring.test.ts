import { expect, it } from "vitest";
import { createEngineMemory, EngineMemory } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { InboxReader, InboxWriter } from "../../../../src/adapters/shared-memory/inbox-ring.ts";
import { FRAME_ROWS_MAX } from "../../../../src/core/config/limits.ts";
import { INBOX, INBOX_BYTES } from "../../../../src/core/layout/memory-map.ts";
import { FRAME_HEADER_BYTES, ROW_BYTES } from "../../../../src/core/layout/row-frame.ts";
import { generator } from "../../../support/generator.ts";

const head = { kind: 1, baseMs: 0, arrivalMs: 0, segment: 0, offset: 0 };
const lane = 3;

function makeRing() {
  const memory = new EngineMemory(createEngineMemory());
  const [writer, reader] = [new InboxWriter(memory, lane), new InboxReader(memory, lane)];
  const write = (value: number, bytes: number) => writer.write({ ...head, baseMs: value }, new Uint8Array(bytes).fill(value));
  const read = () => {
    const frame = reader.peek();
    if (frame === undefined) return undefined;
    // All bytes are the same where each is as the one before it.
    const frameBytes = Buffer.from(memory.bytes.buffer, frame.pointer, frame.bytes);
    const whole = frameBytes[0] === (frame.baseMs & 0xff) && frameBytes.subarray(1).equals(frameBytes.subarray(0, -1));
    const result = { value: frame.baseMs, bytes: frame.bytes, pointer: frame.pointer, whole };
    reader.release();
    return result;
  };
  return { writer, reader, write, read };
}

it("gives frames of any size in their order, however full the ring is", () => {
  const random = generator(7).uniform;
  const { write, read } = makeRing();
  const sent: Array<{ value: number; bytes: number }> = [];
  let refused = 0;
  let got = 0;
  for (let step = 0; step < 4000; step++) {
    const [bytes, drains] = [1 + Math.floor(random() * FRAME_ROWS_MAX * ROW_BYTES), random() < 0.3];
    if (write(sent.length, bytes)) sent.push({ value: sent.length, bytes });
    else refused++;
    for (let reads = drains ? 100 : Math.floor(random() * 2); reads > 0; reads--) {
      const frame = read();
      if (frame === undefined) break;
      expect(frame).toMatchObject({ ...sent[got++], whole: true });
    }
  }
  expect(got).toBeGreaterThan(2000);
  expect(refused).toBeLessThan(400);
});

it("begins anew when it is empty, where that room is free", () => {
  const { writer, write, read } = makeRing();
  const start = INBOX + lane * INBOX_BYTES + FRAME_HEADER_BYTES;
  expect([write(0, 64), write(1, 4096)]).toEqual([true, true]);
  expect([read()?.pointer, read()?.value, read()]).toEqual([start, 1, undefined]);
  const before = writer.written;
  expect(write(2, 1024)).toBe(true);
  expect(writer.hasRead(before)).toBe(true);
  expect(writer.hasRead(writer.written)).toBe(false);
  expect(read()).toMatchObject({ pointer: start, value: 2, whole: true });
  expect(writer.hasRead(writer.written)).toBe(true);
  // Larger than what lies before its place: it goes on behind.
  expect(write(3, 64 * 1024)).toBe(true);
  expect(read()).toMatchObject({ value: 3, whole: true });
});
