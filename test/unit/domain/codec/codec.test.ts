import { describe, expect, it } from "vitest";
import { KEY_BYTES_MAX } from "../../../../src/core/config/key-limits.ts";
import { crc32 } from "../../../../src/core/hashing/crc32.ts";
import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../../../src/core/layout/chunk-record.ts";
import { CHUNK_OVERHEAD_BYTES, ChunkBlock, chunkBlockBytes } from "../../../../src/domain/codec/chunk-block.ts";
import { ChunkBlockBuilder } from "../../../../src/domain/codec/chunk-block-builder.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../../../src/domain/codec/key.ts";
import { CHUNK_BYTES_MAX, decodeSampleChunk, encodeSampleChunk } from "../../../../src/domain/codec/sample-chunk.ts";

const START_MS = 1_795_000_000_000;
const out = new Uint8Array(CHUNK_BYTES_MAX);

function chunkBytes(values: number[], timeOf: (index: number) => number = (index) => START_MS + 10_000 * index): number {
  const times = Float64Array.from(values, (_, index) => timeOf(index));
  return encodeSampleChunk(times, Float64Array.from(values), values.length, out, 0);
}

/** A 3-decimal random walk with steps of up to half, from a fixed linear congruential sequence. */
function walk(count: number, seed: number): number[] {
  let state = seed;
  let value = 50;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    value += state / 2 ** 32 - 0.5;
    return Math.round(value * 1000) / 1000;
  });
}

describe("crc32", () => {
  const text = (value: string) => new TextEncoder().encode(value);
  it.each([
    ["empty", new Uint8Array(0), 0],
    ["check value of CRC-32/ISO-HDLC", text("123456789"), 0xcbf43926],
    ["32 zeros", new Uint8Array(32), 0x190a55ad],
    ["32 ones", new Uint8Array(32).fill(0xff), 0xff6cab0b],
    ["ascending", Uint8Array.from({ length: 32 }, (_, i) => i), 0x91267e8a],
  ])("%s", (_, bytes, expected) => expect(crc32(bytes)).toBe(expected));

  it("goes on from a previous part and reads shared memory", () => {
    const whole = new Uint8Array(new SharedArrayBuffer(100)).fill(9);
    for (const cut of [0, 1, 7, 8, 63, 100]) expect(crc32(whole.subarray(cut), crc32(whole.subarray(0, cut)))).toBe(crc32(whole));
  });
});

describe("sample chunk sizes", () => {
  it("takes at most 1.42 bytes a sample for a 3-decimal walk at a constant interval", () => {
    let bytes = 0;
    for (let seed = 0; seed < 100; seed++) bytes += chunkBytes(walk(120, seed));
    expect(bytes / 12_000).toBeLessThan(1.42);
    expect(bytes / 12_000).toBeGreaterThan(1.25); // the entropy of the steps
  });

  it.each([
    ["constant value", Array.from({ length: 120 }, () => 42.5), 20],
    ["steady counter", Array.from({ length: 120 }, (_, i) => 1e9 + 250 * i), 24],
    ["page counts in bytes", Array.from({ length: 120 }, (_, i) => 4096 * (1000 + ((i * 7919) % 16))), 90],
    ["one sample", [1.25], 13],
  ])("%s", (_, values, bytes) => expect(chunkBytes(values)).toBeLessThanOrEqual(bytes));

  it("pays one bit a sample for gaps at a constant interval", () => {
    const values = Array.from({ length: 120 }, () => 1);
    expect(chunkBytes(values, (i) => START_MS + 10_000 * (i > 60 ? i + 1 : i))).toBeLessThan(40);
  });

  it("never takes more than plain doubles", () => {
    const values = Array.from({ length: 255 }, (_, i) => (-1) ** i * Math.sqrt(i + 2) * 10 ** (i % 300));
    expect(chunkBytes(values, (i) => START_MS + Math.sqrt(i))).toBeLessThanOrEqual(5 + 16 * 255);
    expect(chunkBytes([Math.PI])).toBeLessThanOrEqual(21);
  });

  it("takes off full mantissas what their exponents, and off 32-bit floats what their mantissas have in common", () => {
    const random = walk(120, 3).map((value) => Math.abs(Math.sqrt(value)));
    expect(chunkBytes(random) / 120).toBeLessThan(7.2);
    expect(chunkBytes(random.map(Math.fround)) / 120).toBeLessThan(3.6);
  });

  it("refuses a count outside 1 to 255 and too little room", () => {
    const many = new Float64Array(256);
    expect(() => encodeSampleChunk(many, many, 0, out, 0)).toThrow(RangeError);
    expect(() => encodeSampleChunk(many, many, 256, out, 0)).toThrow(RangeError);
    expect(() => encodeSampleChunk(many, many, 1, new Uint8Array(100), 0)).toThrow(RangeError);
  });

  it("calls a chunk cut anywhere or followed by a byte malformed", () => {
    const length = chunkBytes(walk(30, 5));
    const times = new Float64Array(255);
    for (let cut = 0; cut < length; cut++) expect(decodeSampleChunk(out.slice(0, cut), times, times)).toBeUndefined();
    expect(decodeSampleChunk(out.slice(0, length + 1), times, times)).toBeUndefined();
    expect(decodeSampleChunk(out.slice(0, length), times, times)).toBe(30);
  });
});

describe("chunk block", () => {
  const streamId = (n: number) => new Uint8Array(16).fill(n);
  const chunk = (n: number) => Uint8Array.of(n, n + 1);

  function filled(): ChunkBlockBuilder {
    const builder = new ChunkBlockBuilder();
    for (const [stream, first, isFirst] of [
      [7, 3000, true],
      [2, 1000, true],
      [7, 1000, false],
      [2, 2000, false],
      [5, 1500, true],
    ] as const) {
      builder.append(streamId(stream), chunk(stream * 10 + Math.floor(first / 1000)), START_MS + first, START_MS + first + 999.5, isFirst);
    }
    return builder;
  }

  it("finds the chunks of a stream in order", () => {
    const builder = filled();
    const expectedBytes = builder.byteLength;
    const bytes = builder.finish();
    expect(bytes.length).toBe(expectedBytes);
    expect(builder.byteLength).toBe(chunkBlockBytes(0, 0, 0));
    const block = ChunkBlock.open(bytes)!;
    expect([block.count, block.minMs - START_MS, block.maxMs - START_MS]).toEqual([5, 1000, 3999.5]);
    const found = (stream: number) => [...block.chunksOf(streamId(stream))].map((each) => each.chunk[0]);
    expect([2, 5, 7, 6, 0, 255].map(found)).toEqual([[21, 22], [51], [71, 73], [], [], []]);
    expect([...block.chunks()].map((each) => each.chunk[0])).toEqual([21, 22, 51, 71, 73]);
  });

  it("refuses a block with any bit flipped or cut short", () => {
    const bytes = filled().finish();
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1 << (at % 8);
      expect(ChunkBlock.open(damaged)).toBeUndefined();
      expect(ChunkBlock.open(bytes.subarray(0, at))).toBeUndefined();
    }
  });

  it("keeps chunks of one stream by first time, then order of appending, and streams apart whose ids begin alike", () => {
    const builder = new ChunkBlockBuilder();
    const twin = Uint8Array.of(...streamId(1).subarray(0, 15), 0);
    for (const [id, name, first] of [
      [streamId(1), 1, 30],
      [twin, 2, 20],
      [streamId(1), 3, 10],
      [streamId(1), 4, 30],
      [twin, 5, 10],
    ] as const)
      builder.append(id, Uint8Array.of(name), START_MS + first, START_MS + first + 5);
    const block = ChunkBlock.open(builder.finish())!;
    expect([block.count, block.minMs - START_MS, block.maxMs - START_MS]).toEqual([5, 10, 35]);
    expect([...block.chunks()].map((each) => each.chunk[0])).toEqual([5, 2, 3, 1, 4]);
    expect([...block.chunksOf(twin)].map((each) => each.chunk[0])).toEqual([5, 2]);
    expect([...block.chunksOf(streamId(1))].map((each) => each.streamId)).toEqual([streamId(1), streamId(1), streamId(1)]);
  });

  it("takes records as the kernel writes them, and leaves room ahead of a block", () => {
    const plain = new ChunkBlockBuilder();
    const recorded = new ChunkBlockBuilder();
    for (let length = 1; length <= 9; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => i + 1);
      const record = new Uint8Array(new SharedArrayBuffer(64));
      record.set(streamId(length), CR_STREAM);
      const view = new DataView(record.buffer);
      view.setFloat64(CR_FIRST_TIME, START_MS + length, true);
      view.setFloat64(CR_LAST_TIME, START_MS + 2 * length, true);
      view.setUint32(CR_CHUNK_BYTES, length, true);
      record.set(bytes, CR_CHUNK);
      const memory = new Uint32Array(new SharedArrayBuffer(128));
      memory.set(new Uint32Array(record.buffer), 5);
      recorded.appendRecord(memory, 5);
      plain.append(streamId(length), bytes, START_MS + length, START_MS + 2 * length);
    }
    expect(recorded.serialise()).toEqual(plain.serialise());
    expect(recorded.byteLength).toBe(plain.byteLength);
    const framed = recorded.finish(8);
    expect(framed.subarray(0, 8)).toEqual(new Uint8Array(8));
    expect(framed.slice(8)).toEqual(plain.finish());
  });

  it("has room for what leaves the block within its bytes", () => {
    const builder = filled();
    const next = new Uint8Array(11);
    const bytes = builder.byteLength + CHUNK_OVERHEAD_BYTES + next.length;
    expect([builder.hasCapacity(next.length, bytes), builder.hasCapacity(next.length, bytes - 1)]).toEqual([true, false]);
    builder.append(streamId(100), next, 0, 1);
    expect(builder.finish().length).toBe(bytes);
  });

  it("restores a state of more bytes than its first buffer has", () => {
    const builder = new ChunkBlockBuilder();
    for (let i = 0; i < 100; i++) builder.append(new Uint8Array(16).fill(i), new Uint8Array(200).fill(i), i, i + 1);
    const restored = ChunkBlockBuilder.restore(builder.serialise());
    expect(restored?.finish()).toEqual(builder.finish());
  });

  it("comes back from a checkpoint and goes on", () => {
    const whole = filled();
    const restored = ChunkBlockBuilder.restore(whole.serialise())!;
    for (const builder of [whole, restored]) builder.append(streamId(9), chunk(1), 1, 2);
    expect(restored.count).toBe(6);
    expect(restored.finish()).toEqual(whole.finish());
    const state = filled().serialise();
    for (let cut = 0; cut < state.length; cut++) expect(ChunkBlockBuilder.restore(state.subarray(0, cut))).toBeUndefined();
    expect(ChunkBlockBuilder.restore(new ChunkBlockBuilder().serialise())?.count).toBe(0);
  });

  it("refuses what its fields cannot say", () => {
    const builder = new ChunkBlockBuilder();
    expect(() => builder.finish()).toThrow(RangeError);
    expect(() => builder.append(new Uint8Array(15), chunk(1), 0, 1)).toThrow(RangeError);
    expect(() => builder.append(streamId(1), new Uint8Array(0), 0, 1)).toThrow(RangeError);
    expect(() => builder.append(streamId(1), new Uint8Array(70_000), 0, 1)).toThrow(RangeError);
    expect(() => builder.append(streamId(1), chunk(1), 2, 1)).toThrow(RangeError);
    expect(() => builder.append(streamId(1), chunk(1), Number.NaN, 1)).toThrow(RangeError);
  });
});

describe("key", () => {
  it("reads back what it composed", () => {
    const id = Uint8Array.from({ length: 16 }, (_, i) => i);
    const key = new KeyBuilder().u16(7).u32(4e9).time(-1.5).timeDescending(START_MS).text("a\0ü\u{1f600}").fixed(id).finish();
    const reader = new KeyReader(key);
    expect([reader.u16(), reader.u32(), reader.time(), reader.timeDescending(), reader.text()]).toEqual([
      7,
      4e9,
      -1.5,
      START_MS,
      "a\0ü\u{1f600}",
    ]);
    expect(reader.fixed(16)).toEqual(id);
    expect(reader.remaining).toBe(0);
    expect(() => reader.u16()).toThrow(RangeError);
  });

  it.each<[string, (key: KeyBuilder) => unknown]>([
    ["a fraction", (key) => key.u16(1.5)],
    ["a negative integer", (key) => key.u32(-1)],
    ["an integer that is too large", (key) => key.u16(65_536)],
    ["NaN", (key) => key.time(Number.NaN)],
    ["a lone surrogate", (key) => key.text("\ud800")],
    ["too many bytes", (key) => key.fixed(new Uint8Array(KEY_BYTES_MAX + 1))],
  ])("refuses %s", (_, compose) => expect(() => compose(new KeyBuilder())).toThrow(RangeError));

  it("bounds a prefix from above", () => {
    expect(prefixEnd(Uint8Array.of(1, 2))).toEqual(Uint8Array.of(1, 3));
    expect(prefixEnd(Uint8Array.of(1, 0xff))).toEqual(Uint8Array.of(2));
    expect(prefixEnd(Uint8Array.of(0xff))).toBeUndefined();
    expect(prefixEnd(new Uint8Array(0))).toBeUndefined();
  });
});
