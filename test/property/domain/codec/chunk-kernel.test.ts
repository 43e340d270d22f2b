// The kernel's chunks against the encoder in TypeScript, byte for byte, over rings of every kind.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../../../src/core/layout/chunk-record.ts";
import { SCRATCH } from "../../../../src/core/layout/memory-map.ts";
import {
  FIRST_MAX,
  FLAG_COUNTER,
  FLAG_HAS_RAW,
  SR_ANCHOR,
  SR_COUNT,
  SR_FLAGS,
  SR_HASH,
  SR_HEAD,
  SR_LAST_RAW,
  SR_LAST_TIME,
  SR_UNCHUNKED,
  WINDOW_MAX,
} from "../../../../src/core/layout/stream-record.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import {
  CHUNK_BYTES_MAX,
  decodeSampleChunk,
  encodeCountedChunk,
  encodeSampleChunk,
  readSampleChunk,
} from "../../../../src/domain/codec/sample-chunk.ts";
import { openChunks } from "../../../../src/domain/kernel/open-chunks.ts";
import { SnapshotReader, StreamPacker } from "../../../../src/domain/kernel/stream-snapshot.ts";
import { intervalsOf, seriesOf } from "../../../support/ring-arbitraries.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const rig = new ShardRig({ window: WINDOW_MAX });
const slot = rig.stream();
const record = rig.shard.records.address(slot);
const room = 2048;

interface Ring {
  /** Oldest first; at most WINDOW_MAX. */
  readonly values: readonly number[];
  /** Of the same length; the first lies before the first value. */
  readonly intervals: readonly number[];
  readonly lastTime: number;
  readonly head: number;
  readonly unchunked: number;
}

function fill({ values, intervals, lastTime, head: anyHead, unchunked }: Ring): void {
  const { view } = rig;
  const { records } = rig.shard;
  const isFirst = values.length <= FIRST_MAX; // these lie in the record, from place 0 on
  const head = isFirst ? values.length : anyHead;
  view.setUint32(record + SR_COUNT, values.length, true);
  for (let place = 0; place < (isFirst ? FIRST_MAX : WINDOW_MAX); place++)
    view.setBigUint64(records.valuesAddress(slot) + 8 * place, 0x7ff8_dead_dead_deadn, true);
  const oldest = head + WINDOW_MAX - values.length;
  for (const [i, value] of values.entries()) {
    const place = (oldest + i) % WINDOW_MAX;
    view.setFloat64(records.valuesAddress(slot) + 8 * place, value, true);
    view.setUint32(records.intervalsAddress(slot) + 4 * place, intervals[i] as number, true);
  }
  view.setUint32(record + SR_HEAD, head, true);
  view.setFloat64(record + SR_LAST_TIME, lastTime, true);
  view.setUint32(record + SR_UNCHUNKED, unchunked, true);
}

const times = new Float64Array(255);
const values = new Float64Array(255);
const expected = new Uint8Array(CHUNK_BYTES_MAX);

/** Packs the ring with both encoders and compares; returns the bytes of the chunk. */
function expectSame(ring: Ring): number {
  fill(ring);
  const at = SCRATCH + 4;
  const memory = new Uint8Array(rig.view.buffer, SCRATCH, room);
  memory.fill(0xee);
  const count = ring.unchunked;
  rig.shard.records.readNewest(slot, count, times, values);
  const bytes = rig.shard.packChunk(slot, at);
  if (count === 0) {
    expect(bytes).toBe(0);
    return 0;
  }
  const end = encodeSampleChunk(times, values, count, expected, 0);
  const packed = new Uint8Array(memory.slice(4 + CR_CHUNK, 4 + CR_CHUNK + bytes));
  expect(Buffer.from(packed).toString("hex")).toBe(Buffer.from(expected.subarray(0, end)).toString("hex"));
  expect(rig.view.getUint32(at + CR_CHUNK_BYTES, true)).toBe(bytes);
  expect(rig.view.getFloat64(at + CR_FIRST_TIME, true)).toBe(times[0]);
  expect(rig.view.getFloat64(at + CR_LAST_TIME, true)).toBe(times[count - 1]);
  expect(memory.slice(4 + CR_STREAM, 4 + CR_STREAM + 16)).toEqual(new Uint8Array(rig.view.buffer, record + SR_HASH, 16).slice());
  for (let padding = bytes; padding % 4 !== 0; padding++) expect(memory[4 + CR_CHUNK + padding]).toBe(0);
  expect(memory[room - 1]).toBe(0xee);
  expectDecoded(packed, times.slice(0, count), values.slice(0, count));
  return bytes;
}

function expectDecoded(chunk: Uint8Array, inTimes: Float64Array, inValues: Float64Array): void {
  const outTimes = new Float64Array(255);
  const outValues = new Float64Array(255);
  expect(decodeSampleChunk(chunk, outTimes, outValues)).toBe(inTimes.length);
  expect(new BigUint64Array(outTimes.buffer, 0, inTimes.length)).toEqual(new BigUint64Array(inTimes.buffer));
  expect(new BigUint64Array(outValues.buffer, 0, inValues.length)).toEqual(new BigUint64Array(inValues.buffer));
}

const lastTime = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 4_000_000_000 }).map((ms) => 1_795_000_000_000 + ms) },
  fc.constantFrom(0, 1, 1_795_000_000_000.5, 2 ** 51 - 1, 2 ** 51, 1e300),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }),
);
const rings = seriesOf.chain((list) =>
  fc.record({
    values: fc.constant(list),
    intervals: intervalsOf(list.length),
    lastTime,
    head: fc.nat({ max: WINDOW_MAX - 1 }),
    unchunked: fc.oneof(fc.constant(list.length), fc.nat({ max: list.length })),
  }),
);

describe("packChunk", () => {
  it("gives the bytes of the encoder in TypeScript, which give every bit back", () => {
    fc.assert(
      fc.property(rings, (ring) => void expectSame(ring)),
      { numRuns: 4000 },
    );
  });

  it("does so for every count and place in the ring", () => {
    const steady = Array.from({ length: WINDOW_MAX }, (_, i) => Math.round(1000 * Math.sin(i)) / 1000);
    for (let count = 1; count <= WINDOW_MAX; count++) {
      const intervals = Array<number>(WINDOW_MAX).fill(10_000);
      const ring = { values: steady, intervals, lastTime: 1_795_000_000_000, head: (7 * count) % WINDOW_MAX, unchunked: count };
      expectSame(ring);
      expectSame({ ...ring, values: steady.map(Math.sqrt).map((value) => (Number.isNaN(value) ? -1 : value)) });
      expectSame({ ...ring, intervals: intervals.map((interval, i) => (i % 50 === 49 ? 2 * interval : interval)) });
    }
  });
});

/** Rings whose times are whole milliseconds, as all that are sent. */
const timedRings = rings.map((ring) => ({
  ...ring,
  lastTime: 1_795_000_000_000 + (Number.isSafeInteger(ring.lastTime) ? ring.lastTime % 1000 : 0),
}));

/** Writes the ring as that of a counter and returns the record to what it was. */
function asCounter(ring: Ring, anchor: number, check: () => void): void {
  fill(ring);
  rig.view.setUint32(record + SR_FLAGS, FLAG_COUNTER | FLAG_HAS_RAW, true);
  rig.view.setFloat64(record + SR_ANCHOR, anchor === 0 ? -0 : anchor, true);
  rig.view.setFloat64(record + SR_LAST_RAW, 77, true);
  try {
    check();
  } finally {
    rig.view.setUint32(record + SR_FLAGS, 0, true);
    rig.view.setFloat64(record + SR_ANCHOR, 0, true);
  }
}

const anchors = fc.oneof(
  fc.constantFrom(0, Number.NaN, 1, -1, 2 ** 51 - 1, 2 ** 51, 0.1, 1e300),
  fc.nat(),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }),
);

describe("packChunk of a counter", () => {
  it("begins with what its deltas count from, as the encoder in TypeScript has it", () => {
    fc.assert(
      fc.property(timedRings, anchors, (ring, anchor) => {
        asCounter(ring, anchor, () => {
          const memory = new Uint8Array(rig.view.buffer);
          const opened = rig.shard.openChunk(slot, SCRATCH + 4, memory);
          const count = rig.shard.records.readNewest(slot, ring.unchunked, times, values);
          if (count === 0) {
            expect(opened).toBeUndefined();
            return;
          }
          const gapMs = ring.intervals[ring.values.length - count] as number;
          const end = encodeCountedChunk({ anchor, gapMs }, times, values, count, expected, 0);
          expect(Buffer.from(opened as Uint8Array).toString("hex")).toBe(Buffer.from(expected.subarray(0, end)).toString("hex"));
          const [outTimes, outValues] = [new Float64Array(255), new Float64Array(255)];
          const read = readSampleChunk(opened as Uint8Array, outTimes, outValues);
          expect(read).toMatchObject({ meaning: "counted", count, anchor: Number.isNaN(anchor) ? 0 : anchor + 0 });
          if (!Number.isNaN(anchor) && gapMs > 0) expect(read?.anchorMs).toBe((times[0] as number) - gapMs);
        });
      }),
      { numRuns: 2000 },
    );
  });

  it("is what a snapshot of the stream says too", () => {
    const packer = new StreamPacker(rig.shard.records, rig.kernel);
    const reader = new SnapshotReader();
    fc.assert(
      fc.property(timedRings, anchors, fc.boolean(), (ring, anchor, isCounter) => {
        const check = () => {
          const opened = rig.shard.openChunk(slot, SCRATCH + 4, new Uint8Array(rig.view.buffer));
          const writer = new ByteWriter();
          packer.pack(slot, writer);
          expect(reader.decode({ bytes: writer.bytes, at: 0, end: writer.at })).toBe(true);
          const chunks = openChunks(reader);
          if (opened !== undefined) expect(chunks).toEqual([opened]);
          else if (isCounter) expect(readSampleChunk(chunks[0] as Uint8Array, times, values)).toMatchObject({ meaning: "sent", count: 1 });
          else expect(chunks).toEqual([]);
        };
        if (isCounter) asCounter(ring, anchor, check);
        else {
          fill(ring);
          check();
        }
      }),
      { numRuns: 1000 },
    );
  });
});
