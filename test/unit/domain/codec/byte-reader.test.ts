import { describe, expect, it } from "vitest";
import { ByteReader } from "../../../../src/domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";

const DAMAGE = "a test is damaged";
const TEXT_BYTES_MAX = 1000;
const read = (...bytes: number[]) => new ByteReader(Uint8Array.from(bytes), DAMAGE);

/** One of each kind, with what reads it back. */
const KINDS: ReadonlyArray<
  readonly [name: string, write: (writer: ByteWriter) => void, read: (reader: ByteReader) => unknown, value: unknown]
> = [
  ["u8", (writer) => writer.u8(255), (reader) => reader.u8(), 255],
  ["u32", (writer) => writer.u32(0xfffffffe), (reader) => reader.u32(), 0xfffffffe],
  ["double", (writer) => writer.double(-0.1), (reader) => reader.double(), -0.1],
  ["varint of one byte", (writer) => writer.varint(127), (reader) => reader.varint(), 127],
  ["varint of eight bytes", (writer) => writer.varint(2 ** 53), (reader) => reader.varint(), 2 ** 53],
  ["text", (writer) => writer.text("aü€😀"), (reader) => reader.text(TEXT_BYTES_MAX), "aü€😀"],
  ["long text", (writer) => writer.text("€".repeat(300)), (reader) => reader.text(TEXT_BYTES_MAX), "€".repeat(300)],
  ["text of 64 characters", (writer) => writer.text("x".repeat(64)), (reader) => reader.text(TEXT_BYTES_MAX), "x".repeat(64)],
  ["text of 63 characters", (writer) => writer.text("x".repeat(63)), (reader) => reader.text(TEXT_BYTES_MAX), "x".repeat(63)],
  ["empty text", (writer) => writer.text(""), (reader) => reader.text(TEXT_BYTES_MAX), ""],
  ["latin1", (writer) => writer.latin1("\0a\xff"), (reader) => reader.latin1(), "\0a\xff"],
  ["hex", (writer) => writer.copy(Uint8Array.of(0, 0xab, 0xff)), (reader) => reader.hex(3), "00abff"],
];

it.each(["0g", "ABCD", "a é0", "00\u01300"])("a sink takes no hex with %s in it, and writes nothing of it", (digits) => {
  const writer = new ByteWriter(1);
  writer.u8(7);
  expect(writer.tryHex(digits)).toBe(false);
  expect(writer.at).toBe(1);
  expect(writer.tryHex("09af")).toBe(true);
  expect([...writer.bytes.subarray(0, writer.at)]).toEqual([7, 0x09, 0xaf]);
});

function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter(1);
  write(writer);
  return writer.bytes.slice(0, writer.at);
}

describe("byte reader", () => {
  it.each(KINDS)("reads the %s that a sink wrote, wherever it lies", (_, write, readOne, value) => {
    const bytes = written(write);
    const wider = new Uint8Array(bytes.length + 9).fill(1);
    wider.set(bytes, 5);
    const reader = new ByteReader(wider.subarray(3, 5 + bytes.length), DAMAGE, 2);
    expect(readOne(reader)).toBe(value);
    expect(reader.at).toBe(2 + bytes.length);
    expect(reader.isAtEnd).toBe(true);
  });

  it.each(KINDS)("refuses a %s that is cut off anywhere, though bytes follow in the same memory", (_, write, readOne) => {
    const bytes = written(write);
    for (let end = 0; end < bytes.length; end++) {
      const reader = new ByteReader(bytes.subarray(0, end), DAMAGE);
      expect(() => readOne(reader)).toThrow(DAMAGE);
      expect(reader.at).toBeLessThanOrEqual(end);
    }
  });

  it("refuses a varint of more than eight bytes", () => {
    expect(read(...Array.from({ length: 7 }, () => 0x80), 0).varint()).toBe(0);
    expect(() => read(...Array.from({ length: 8 }, () => 0x80), 0).varint()).toThrow(DAMAGE);
  });

  it("refuses a text beyond its bound", () => {
    expect(read(3, 97, 98, 99).text(3)).toBe("abc");
    expect(() => read(3, 97, 98, 99).text(2)).toThrow(DAMAGE);
    expect(() => read(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 97).text(Number.POSITIVE_INFINITY)).toThrow(DAMAGE);
  });

  it("shows bytes that are no UTF-8 as replacement characters, and goes behind them", () => {
    const reader = read(3, 97, 0xff, 98, 7);
    expect(reader.text(TEXT_BYTES_MAX)).toBe("a\ufffdb");
    expect(reader.u8()).toBe(7);
  });

  it("takes a place behind the end for the end", () => {
    const reader = new ByteReader(Uint8Array.of(1, 2), DAMAGE, 3);
    expect(reader.isAtEnd).toBe(true);
    for (const one of [() => reader.u8(), () => reader.u32(), () => reader.varint(), () => reader.hex(0)]) expect(one).toThrow(DAMAGE);
  });

  it("throws for the caller in the same words", () => {
    expect(() => read().fail()).toThrow(new Error(DAMAGE));
  });
});
