import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { ProtobufReader, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../../src/domain/codec/protobuf-reader.ts";

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
          const reader = new ProtobufReader(written(integer, zigzag, double, text, integers, doubles));
          const fields: unknown[] = [];
          while (reader.next()) {
            const { field } = reader;
            fields.push(
              field === 1
                ? [WIRE_VARINT, reader.wireType, reader.integer]
                : field === 2
                  ? reader.zigzag
                  : field === 3
                    ? [WIRE_FIXED64, reader.wireType, reader.double]
                    : field === 4
                      ? [WIRE_BYTES, reader.wireType, Uint8Array.from(reader.content)]
                      : field === 5
                        ? reader.packedZigzags()
                        : field === 6
                          ? reader.packedDoubles()
                          : field,
            );
          }
          expect(reader.isMalformed).toBe(false);
          expect(fields).toEqual([[0, 0, integer], zigzag, [1, 1, double], [2, 2, Uint8Array.from(text)], [...integers], [...doubles], 7]);
        },
      ),
    );
  });

  it("says of every cut of a message whether it is malformed", () => {
    const whole = written(300, -5, 1.5, new Uint8Array(200), [1, 2], [3]);
    const ends = new Set<number>();
    const reader = new ProtobufReader(whole);
    const lengths: number[] = [];
    while (reader.next()) lengths.push(reader.field);
    expect(lengths).toEqual([1, 2, 3, 4, 5, 6, 7]);
    for (let end = 0; end <= whole.length; end++) {
      const cut = new ProtobufReader(whole.subarray(0, end));
      while (cut.next());
      if (!cut.isMalformed) ends.add(end);
    }
    expect(ends.size).toBe(8); // before the first field and behind each
  });

  it("refuses groups, field 0 and varints of more than ten bytes", () => {
    for (const bytes of [
      [0x0b],
      [0x00, 0x01],
      [0x08, ...Array.from({ length: 10 }, () => 0x80), 1],
      [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    ]) {
      const reader = new ProtobufReader(Uint8Array.from(bytes));
      expect([reader.next(), reader.isMalformed]).toEqual([false, true]);
    }
  });
});
