import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitLength, packBits, packedBytes, packUint32s, unpackBits, unpackUint32s } from "../../../../src/domain/codec/bit-packing.ts";
import { ChunkBlock } from "../../../../src/domain/codec/chunk-block.ts";
import { ChunkBlockBuilder } from "../../../../src/domain/codec/chunk-block-builder.ts";
import { compareKeys, KeyBuilder, KeyReader, prefixEnd } from "../../../../src/domain/codec/key.ts";
import { CHUNK_BYTES_MAX, decodeSampleChunk, encodeSampleChunk } from "../../../../src/domain/codec/sample-chunk.ts";

const out = new Uint8Array(CHUNK_BYTES_MAX);
const times = new Float64Array(255);
const values = new Float64Array(255);

/** Returns their bytes as text: two texts are compared at once, two arrays entry by entry. */
function bitsOf({ buffer, byteOffset, byteLength }: Float64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
}

function expectRoundTrip(inTimes: Float64Array, inValues: Float64Array): void {
  const end = encodeSampleChunk(inTimes, inValues, inTimes.length, out, 0);
  expect(end).toBeLessThanOrEqual(5 + 16 * inTimes.length);
  expect(decodeSampleChunk(out.slice(0, end), times, values)).toBe(inTimes.length);
  expect(bitsOf(times.subarray(0, inTimes.length))).toBe(bitsOf(inTimes));
  expect(bitsOf(values.subarray(0, inTimes.length))).toBe(bitsOf(inValues));
}

function running(start: number, steps: number[], power: number): Float64Array {
  let sum = start;
  return Float64Array.from(steps, (step) => {
    sum += step;
    return sum / power;
  });
}

const special = fc.constantFrom(
  0,
  -0,
  Number.NaN,
  Infinity,
  -Infinity,
  5e-324,
  -5e-324,
  2.2e-308,
  Number.MAX_VALUE,
  2 ** 51,
  -(2 ** 51),
  2 ** 51 + 1,
  2 ** 53,
  0.1,
  1e-6,
  1e-7,
);
const decimal = fc.tuple(fc.integer({ min: -(2 ** 51), max: 2 ** 51 }), fc.integer({ min: 0, max: 6 })).map(([m, k]) => m / 10 ** k);
const anyDouble = fc.double();
const length = { minLength: 1, maxLength: 255 };
const steps = (magnitude: number) => fc.array(fc.integer({ min: -magnitude, max: magnitude }), length);
const column = fc.oneof(
  fc.array(anyDouble, length).map((list) => Float64Array.from(list)),
  fc.array(decimal, length).map((list) => Float64Array.from(list)),
  fc.array(fc.oneof(special, decimal), length).map((list) => Float64Array.from(list)),
  fc.array(fc.constantFrom(-(2 ** 51), 2 ** 51, 0), length).map((list) => Float64Array.from(list)),
  fc.tuple(fc.integer(), steps(500), fc.constantFrom(1, 10, 1000, 1e6)).map(([start, list, power]) => running(start, list, power)),
  fc.tuple(fc.maxSafeNat(), steps(2 ** 31)).map(([start, list]) => running(start % 2 ** 50, list.map(Math.abs), 1)),
  fc.tuple(fc.oneof(special, anyDouble), fc.integer({ min: 1, max: 255 })).map(([value, count]) => new Float64Array(count).fill(value)),
);
const timeColumn = (count: number) =>
  fc.oneof(
    fc
      .tuple(fc.double({ min: 0, max: 4e12, noNaN: true }), fc.constantFrom(1, 1000, 15_000, 0.5))
      .map(([start, step]) => Float64Array.from({ length: count }, (_, i) => start + step * i)),
    fc
      .tuple(fc.integer({ min: 0, max: 4e12 / 1 }), fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: count, maxLength: count }))
      .map(([start, list]) => running(start, list, 1)),
    fc
      .array(fc.double({ min: 0, max: 4e12, noNaN: true }), { minLength: count, maxLength: count })
      .map((list) => Float64Array.from(list).sort()),
  );

describe("sample chunk", () => {
  it("gives every bit back", () => {
    const samples = column.chain((list) => fc.tuple(timeColumn(list.length), fc.constant(list)));
    fc.assert(
      fc.property(samples, ([inTimes, inValues]) => expectRoundTrip(inTimes, inValues)),
      { numRuns: 1500 },
    );
  });

  it("keeps NaN payloads", () => {
    const payloads = new Float64Array(new BigUint64Array([0x7ff8_0000_0000_0123n, 0xfff0_0000_0000_0001n, 0x7ff0_0000_0000_0001n]).buffer);
    expectRoundTrip(Float64Array.of(1, 2, 3), payloads);
  });

  it("answers hostile bytes with undefined or a count", () => {
    const mutated = column.map((list) => out.slice(0, encodeSampleChunk(list, list, list.length, out, 0)));
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc
        .tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ minLength: 2100, maxLength: 4200 }))
        .map(([first, rest]) => Uint8Array.of(first, ...rest)),
      fc.tuple(mutated, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([bytes, at, mask]) => {
        bytes[at % bytes.length]! ^= mask;
        return bytes;
      }),
    );
    const isCount = (count: number | undefined) => count === undefined || (count >= 1 && count <= 255);
    fc.assert(
      fc.property(hostile, (bytes) => isCount(decodeSampleChunk(bytes, times, values))),
      { numRuns: 2000 },
    );
  });
});

describe("bit packing", () => {
  it("gives integers of every width back", () => {
    const packed = fc
      .integer({ min: 0, max: 53 })
      .chain((width) => fc.tuple(fc.constant(width), fc.array(fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }), { maxLength: 60 })));
    fc.assert(
      fc.property(packed, ([width, list]) => {
        const numbers = Float64Array.from(list, Number);
        const bytes = new Uint8Array(packedBytes(numbers.length, width));
        expect(packBits(numbers, 0, numbers.length, width, bytes, 0)).toBe(bytes.length);
        const back = new Float64Array(numbers.length);
        unpackBits(bytes, 0, width, back, 0, back.length);
        expect(back).toEqual(numbers);
        for (const number of list) expect(bitLength(Number(number))).toBe(number === 0n ? 0 : number.toString(2).length);
      }),
    );
  });

  it("gives words of up to 64 bits back", () => {
    const packed = fc
      .integer({ min: 0, max: 64 })
      .chain((width) => fc.tuple(fc.constant(width), fc.array(fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }), { maxLength: 60 })));
    fc.assert(
      fc.property(packed, ([width, list]) => {
        const words = new Uint32Array(BigUint64Array.from(list).buffer);
        const bytes = new Uint8Array(packedBytes(list.length, width));
        expect(packUint32s(words, list.length, width, bytes, 0)).toBe(bytes.length);
        const back = new Uint32Array(words.length).fill(7);
        unpackUint32s(bytes, 0, width, back, list.length);
        expect(back).toEqual(words);
      }),
    );
  });
});

describe("chunk block", () => {
  const entry = fc.record({
    stream: fc.integer({ min: 0, max: 5 }),
    firstMs: fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.double({ min: 0, max: 4e12, noNaN: true })),
    spanMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    chunk: fc.uint8Array({ minLength: 1, maxLength: 20 }),
  });

  it("finds every chunk, stream by stream, by first time and order of appending", () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 40 }), (entries) => {
        const builder = new ChunkBlockBuilder();
        for (const { stream, firstMs, spanMs, chunk } of entries)
          builder.append(new Uint8Array(16).fill(stream), chunk, firstMs, firstMs + spanMs);
        const restored = ChunkBlockBuilder.restore(builder.serialise())!;
        const bytes = restored.finish();
        expect(bytes).toEqual(builder.finish());
        const block = ChunkBlock.open(bytes)!;
        expect(block.count).toBe(entries.length);
        expect(block.minMs).toBe(Math.min(...entries.map((each) => each.firstMs)));
        expect(block.maxMs).toBe(Math.max(...entries.map((each) => each.firstMs + each.spanMs)));
        for (let stream = 0; stream < 6; stream++) {
          const found = [...block.chunksOf(new Uint8Array(16).fill(stream))].map((each) => each.chunk.join());
          const wanted = entries.filter((each) => each.stream === stream).sort((a, b) => a.firstMs - b.firstMs);
          expect(found).toEqual(wanted.map((each) => each.chunk.join()));
        }
      }),
    );
  });

  it("answers hostile bytes with undefined", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => ChunkBlock.open(bytes) === undefined));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void ChunkBlockBuilder.restore(Uint8Array.of(2, ...bytes))));
  });
});

describe("key", () => {
  const text = fc.string({ unit: "binary", maxLength: 6 });
  const time = fc.double({ noNaN: true }).map((ms) => ms + 0);
  const tuple = fc.record({
    a: fc.integer({ min: 0, max: 2 }),
    text,
    time: fc.oneof(time, fc.constantFrom(0, 1, 2)),
    later: fc.oneof(time, fc.constantFrom(0, 1)),
    b: fc.nat(),
  });
  type Tuple = { a: number; text: string; time: number; later: number; b: number };
  const compose = (t: Tuple) => new KeyBuilder().u16(t.a).text(t.text).time(t.time).timeDescending(t.later).u32(t.b).finish();
  const compareTuples = (x: Tuple, y: Tuple) =>
    x.a - y.a ||
    Buffer.compare(Buffer.from(x.text), Buffer.from(y.text)) ||
    compareNumbers(x.time, y.time) ||
    compareNumbers(y.later, x.later) ||
    x.b - y.b;

  it("sorts as its tuple does and reads back", () => {
    fc.assert(
      fc.property(tuple, tuple, fc.boolean(), (x, y, sameText) => {
        const other = sameText ? { ...y, a: x.a, text: x.text } : y;
        expect(Math.sign(compareKeys(compose(x), compose(other)))).toBe(Math.sign(compareTuples(x, other)));
        expect(Math.sign(Buffer.compare(compose(x), compose(other)))).toBe(Math.sign(compareTuples(x, other)));
        const reader = new KeyReader(compose(x));
        expect({ a: reader.u16(), text: reader.text(), time: reader.time(), later: reader.timeDescending(), b: reader.u32() }).toEqual(x);
      }),
      { numRuns: 1000 },
    );
  });

  it("puts everything that starts with a prefix, and nothing else, below the prefix's end", () => {
    const bytes = fc.uint8Array({ maxLength: 4 });
    fc.assert(
      fc.property(bytes, bytes, (prefix, key) => {
        const end = prefixEnd(prefix);
        const inside = compareKeys(key, prefix) >= 0 && (end === undefined || compareKeys(key, end) < 0);
        expect(inside).toBe(Buffer.from(key).subarray(0, prefix.length).equals(prefix));
      }),
      { numRuns: 1000 },
    );
  });
});

function compareNumbers(x: number, y: number): number {
  return x < y ? -1 : x > y ? 1 : 0;
}
