import { expect, it } from "vitest";
import { encodeMessage, MESSAGE_BYTES_MAX, messagesOf } from "../../src/actors/engine/messages/shard-message.ts";

it("reads back the messages of a section, in order", () => {
  const payloads = [0, 1, 7, 8, 9, MESSAGE_BYTES_MAX].map((bytes) => new Uint8Array(bytes).fill(bytes % 251));
  const section = Buffer.concat(payloads.map((payload, partition) => encodeMessage(partition, payload)));
  expect(section.length % 8).toBe(0);
  expect(
    [...messagesOf(section)].map(({ partition, payload }) => [partition, Buffer.compare(payload, payloads[partition] as Uint8Array)]),
  ).toEqual(payloads.map((_, partition) => [partition, 0]));
});

it("refuses a payload that is too large, and a section that ends within a message", () => {
  expect(() => encodeMessage(1, new Uint8Array(MESSAGE_BYTES_MAX + 1))).toThrow("of at most");
  const section = encodeMessage(3, new Uint8Array(20));
  for (const end of [4, 8, 16, 27]) expect(() => [...messagesOf(section.subarray(0, end))]).toThrow("leaves its section");
});
