import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { readNumbers, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, WireReader } from "../../../../src/domain/codec/wire-reader.ts";

const exact = fc.maxSafeInteger();
const exactZigzag = fc.integer({ min: -(2 ** 52), max: 2 ** 52 - 1 });

/** Writes one message with every kind of field, by protobufjs. */
function written(
  integer: number,
  zigzag: number,
  double: number,
  text: Uint8Array,
  integers: readonly number[],
  doubles: readonly number[],
): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(8).int64(integer).uint32(16).sint64(zigzag).uint32(25).double(double).uint32(34).bytes(text);
  writer.uint32(42).fork();
  for (const each of integers) writer.sint64(each);
  writer.ldelim().uint32(50).fork();
  for (const each of doubles) writer.double(each);
  return writer.ldelim().uint32(61).fixed32(7).finish();
}

/** The numbers of the field at hand, however many. */
function numbers(reader: WireReader, wire: number, read: () => number): number[] {
  const list: number[] = [];
  readNumbers(reader, wire, Number.POSITIVE_INFINITY, list, read);
  return list;
}

describe("protobuf reader", () => {
  it("reads what protobufjs writes", () => {
    const arrays = [fc.array(exactZigzag, { maxLength: 9 }), fc.array(fc.double(), { maxLength: 9 })] as const;
    fc.assert(
      fc.property(
        exact,
        exactZigzag,
        fc.double(),
        fc.uint8Array({ maxLength: 300 }),
        ...arrays,
        (integer, zigzag, double, text, integers, doubles) => {
          const bytes = written(integer, zigzag, double, text, integers, doubles);
          const reader = new WireReader(bytes);
          const fields: unknown[] = [];
          while (reader.next(bytes.length)) {
            const { field } = reader;
            fields.push(
              field === 1
                ? [WIRE_VARINT, reader.wire, reader.signed()]
                : field === 2
                  ? reader.zigzag64()
                  : field === 3
                    ? [WIRE_FIXED64, reader.wire, reader.double()]
                    : field === 4
                      ? [WIRE_BYTES, reader.wire, Uint8Array.from(reader.content())]
                      : field === 5
                        ? numbers(reader, WIRE_VARINT, () => reader.zigzag64())
                        : field === 6
                          ? numbers(reader, WIRE_FIXED64, () => reader.double())
                          : field,
            );
          }
          expect(reader.failed).toBe(false);
          expect(fields).toEqual([[0, 0, integer], zigzag, [1, 1, double], [2, 2, Uint8Array.from(text)], [...integers], [...doubles], 7]);
        },
      ),
    );
  });

  it("says of every cut of a message whether it is malformed", () => {
    const whole = written(300, -5, 1.5, new Uint8Array(200), [1, 2], [3]);
    const ends = new Set<number>();
    const reader = new WireReader(whole);
    const lengths: number[] = [];
    while (reader.next(whole.length)) lengths.push(reader.field);
    expect(lengths).toEqual([1, 2, 3, 4, 5, 6, 7]);
    for (let end = 0; end <= whole.length; end++) {
      const cut = new WireReader(whole.subarray(0, end));
      while (cut.next(end));
      if (!cut.failed) ends.add(end);
    }
    expect(ends.size).toBe(8); // before the first field and behind each
  });

  it("reads signed numbers of 64 bits to the nearest double, and of packed ones no more than asked", () => {
    const writer = protobuf.Writer.create();
    writer.uint32(8).uint64(new protobuf.util.Long(-1, -1, true)); // the zigzag code of -2^63
    writer.uint32(8).uint64(new protobuf.util.Long(-2, -1, true)); // of 2^63 - 1
    const bytes = writer
      .uint32(18)
      .bytes(Uint8Array.of(1, 2, 3, 0x80))
      .finish();
    const reader = new WireReader(bytes);
    const values: number[] = [];
    for (let i = 0; i < 2; i++) values.push(reader.next(bytes.length) ? reader.zigzag64() : Number.NaN);
    expect(values).toEqual([-(2 ** 63), 2 ** 63]);
    for (const [most, read, failed] of [
      [1, [-1, 1], false],
      [9, [-1, 1, -2], true],
    ] as const) {
      const again = new WireReader(bytes);
      while (again.field !== 2) again.next(bytes.length);
      const list: number[] = [];
      readNumbers(again, WIRE_VARINT, most, list, () => again.zigzag64());
      expect([list, again.failed, again.at]).toEqual([read, failed, bytes.length]);
    }
  });

  it("tells text from bytes that are none, a byte order mark being a character", () => {
    const texts = [[0xef, 0xbb, 0xbf, 97], [0xff], [0xed, 0xa0, 0x80], []].map((content) => {
      const reader = new WireReader(Uint8Array.of(10, content.length, ...content));
      reader.next(2 + content.length);
      return reader.strictText();
    });
    expect(texts).toEqual(["\ufeffa", undefined, undefined, ""]);
    const number = new WireReader(Uint8Array.of(8, 1));
    expect([number.next(2), number.strictText()]).toEqual([true, undefined]);
  });

  it("refuses groups, field 0 and varints of more than ten bytes", () => {
    for (const bytes of [
      [0x0b],
      [0x00, 0x01],
      [0x08, ...Array.from({ length: 10 }, () => 0x80), 1],
      [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    ]) {
      const reader = new WireReader(Uint8Array.from(bytes));
      expect([reader.next(bytes.length), reader.failed]).toEqual([false, true]);
    }
  });
});
