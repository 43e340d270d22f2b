import protobuf from "protobufjs";
import { expect, it } from "vitest";
import { bytesField, varintBytes } from "../../../../src/domain/codec/protobuf-field.ts";

it.each([0, 1, 127, 128, 300, 16_384, 2 ** 32, Number.MAX_SAFE_INTEGER])("writes %d as protobuf reads it", (value) => {
  expect(Number(protobuf.Reader.create(Uint8Array.from(varintBytes(value))).uint64())).toBe(value);
});

it.each([0, 1, 127, 128, 1_000])("writes a field of %d bytes as protobuf reads it", (length) => {
  const content = Uint8Array.from({ length }, (_, i) => i % 256);
  const reader = protobuf.Reader.create(Uint8Array.from(bytesField(3, content)));
  expect(reader.uint32()).toBe((3 << 3) | 2);
  expect([...reader.bytes()]).toEqual([...content]);
});
