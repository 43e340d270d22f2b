import { expect, it } from "vitest";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { MESSAGE_BYTES_MAX, messagesOf, piecesOf, writeMessage } from "../../../../src/domain/codec/shard-message.ts";

function encodeMessage(partition: number, payload: Uint8Array): Uint8Array {
  const writer = new ByteWriter(8);
  writeMessage(writer, partition, payload);
  return writer.bytes.slice(0, writer.at);
}

it("cuts a section between messages", () => {
  const section = Buffer.concat([20, 8, 100, 8, 8].map((bytes, partition) => encodeMessage(partition, new Uint8Array(bytes))));
  const pieces = (bytesMax: number) =>
    [...piecesOf(section, bytesMax)].map((piece) => [...messagesOf(piece)].map(({ partition }) => partition));
  expect(pieces(section.length)).toEqual([[0, 1, 2, 3, 4]]);
  expect(pieces(section.length - 1)).toEqual([[0, 1, 2, 3], [4]]);
  expect(pieces(48)).toEqual([[0, 1], [2], [3, 4]]);
  expect(pieces(1)).toEqual([[0], [1], [2], [3], [4]]);
  expect([...piecesOf(new Uint8Array(0), 8)]).toEqual([]);
});

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
