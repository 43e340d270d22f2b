// What the kernel reads of a checkpoint against the reader in TypeScript: snapshots of every kind, bytes that are none, and whole parts of many tenants.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PartitionStateVisitor, readPartitionPart } from "../../../../src/actors/engine/recovery/partition-state.ts";
import { BINDINGS, SCRATCH, STAGING, TENANT_HEAD } from "../../../../src/core/layout/memory-map.ts";
import { BINDING_BYTES, BINDING_IS_NEW, BINDING_PARTITION, BINDING_SLOT } from "../../../../src/core/layout/row-frame.ts";
import {
  FIRST_MAX,
  FLAG_PROFILE_MASK,
  SR_BEYOND_SINCE,
  SR_CHUNK_AT,
  SR_COUNT,
  SR_FLAGS,
  SR_HEAD,
  SR_PEAK_HIGH,
  SR_STATE_BYTES,
  SR_TENANT,
  SR_UNCHUNKED,
  WINDOW_MAX,
} from "../../../../src/core/layout/stream-record.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { COLUMN_BYTES_MAX, encodeColumn } from "../../../../src/domain/codec/sample-column.ts";
import type { ByteCursor } from "../../../../src/domain/codec/varint.ts";
import { SnapshotReader } from "../../../../src/domain/kernel/stream-snapshot.ts";
import { identityHead } from "../../../../src/domain/series/stream-identity.ts";
import { intervalsOf, seriesOf } from "../../../support/ring-arbitraries.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const STATE_WORDS = [
  ...Array.from({ length: SR_STATE_BYTES / 8 }, (_, word) => word * 8).filter((at) => at !== SR_COUNT && at !== SR_TENANT),
  SR_PEAK_HIGH,
  SR_BEYOND_SINCE,
];
const PROFILE = 7;

interface Snapshot {
  readonly count: number;
  readonly values: readonly number[];
  readonly intervals: readonly number[];
  /** By the order of STATE_WORDS. */
  readonly words: readonly bigint[];
}

const snapshots: fc.Arbitrary<Snapshot> = fc
  .oneof({ weight: 8, arbitrary: seriesOf }, { weight: 1, arbitrary: fc.constant([]) })
  .chain((values) =>
    fc.record({
      count: fc.constant(values.length),
      values: fc.constant(values),
      intervals: intervalsOf(values.length),
      words: fc
        .array(fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })), {
          minLength: STATE_WORDS.length,
          maxLength: STATE_WORDS.length,
        })
        .map((words) => words.map((word, index) => inBounds(word, STATE_WORDS[index] as number, values.length))),
    }),
  );

/** The word with as many values to be packed, and due, as a ring of `count` may have; flags without a profile. */
function inBounds(word: bigint, at: number, count: number): bigint {
  if (at === SR_UNCHUNKED) return (word % BigInt(count + 1)) | (((word >> 32n) % BigInt(WINDOW_MAX + 1)) << BigInt(8 * (SR_CHUNK_AT - at)));
  return at === SR_FLAGS - 4 ? word & ~(BigInt(FLAG_PROFILE_MASK) << 32n) : word;
}

function bytesOf({ count, values, intervals, words }: Snapshot): Uint8Array {
  const sink = new ByteWriter();
  sink.reserve(4 + 8 * words.length + 2 * COLUMN_BYTES_MAX);
  sink.bytes[sink.at] = count;
  const present = words.reduce((bits, word, index) => bits | (word === 0n ? 0 : 1 << index), 0);
  for (let i = 0; i < 3; i++) sink.bytes[sink.at + 1 + i] = present >>> (8 * i);
  sink.at += 4;
  for (const word of words) {
    if (word === 0n) continue;
    sink.view.setBigUint64(sink.at, word, true);
    sink.at += 8;
  }
  if (count > 0) sink.at = encodeColumn(Float64Array.from(values), count, sink.bytes, sink.at);
  if (count > 0) sink.at = encodeColumn(Float64Array.from(intervals), count, sink.bytes, sink.at);
  return sink.bytes.slice(0, sink.at);
}

const hex = (rig: ShardRig, at: number, bytes: number) => Buffer.from(rig.view.buffer, at, bytes).toString("hex");

/** State, peaks and ring of a slot, bit for bit. */
function stateOf(rig: ShardRig, slot: number): Record<string, string> {
  const { records } = rig.shard;
  const at = records.address(slot);
  return {
    state: hex(rig, at, SR_STATE_BYTES),
    peaks: hex(rig, at + SR_PEAK_HIGH, 8),
    // A ring of so few values has the first of them there.
    beyondSince: records.count(slot) > FIRST_MAX ? hex(rig, at + SR_BEYOND_SINCE, 8) : "",
    values: hex(rig, records.valuesAddress(slot), 8 * records.count(slot)),
    intervals: hex(rig, records.intervalsAddress(slot), 4 * records.count(slot)),
  };
}

/** The same as a reader in TypeScript has it. */
function stateRead({ header, values, intervals, count }: SnapshotReader, profile: number): Record<string, string> {
  const state = Buffer.from(header.buffer.slice(0, SR_STATE_BYTES));
  state.writeUInt32LE(count, SR_COUNT);
  state.writeUInt32LE(count % WINDOW_MAX, SR_HEAD);
  state.writeUInt32LE(((header.getUint32(SR_FLAGS, true) & ~FLAG_PROFILE_MASK) | (profile << 16)) >>> 0, SR_FLAGS);
  return {
    state: state.toString("hex"),
    peaks: Buffer.from(header.buffer.slice(SR_STATE_BYTES, SR_STATE_BYTES + 8)).toString("hex"),
    beyondSince: count > FIRST_MAX ? Buffer.from(header.buffer.slice(SR_STATE_BYTES + 8)).toString("hex") : "",
    values: Buffer.from(values.buffer, 0, 8 * count).toString("hex"),
    intervals: Buffer.from(Uint32Array.from(intervals.subarray(0, count)).buffer).toString("hex"),
  };
}

describe("unpackStream", () => {
  const rig = new ShardRig({ window: WINDOW_MAX });
  const slot = rig.stream();
  const reader = new SnapshotReader();

  /** Unpacks over a dirty record; undefined where the bytes are none. */
  function unpacked(bytes: Uint8Array): { state: Record<string, string>; at: number } | undefined {
    const { records } = rig.shard;
    const state = new Uint8Array(rig.view.buffer, records.address(slot), SR_STATE_BYTES);
    state.fill(0x5a).fill(0, SR_TENANT, SR_TENANT + 8);
    records.setProfile(slot, PROFILE);
    new Uint8Array(rig.view.buffer, SCRATCH, bytes.length + 64).fill(0xee);
    const cursor = { bytes, at: 0, end: bytes.length };
    return rig.shard.unpack(slot, cursor) ? { state: stateOf(rig, slot), at: cursor.at } : undefined;
  }

  it("gives every bit of the record and of the ring, as the reader in TypeScript does", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const bytes = bytesOf(snapshot);
        const cursor = { bytes, at: 0, end: bytes.length };
        expect(reader.decode(cursor)).toBe(true);
        expect(unpacked(bytes)).toEqual({ state: stateRead(reader, PROFILE), at: bytes.length });
        expect(stateOf(rig, slot).values).toBe(Buffer.from(Float64Array.from(snapshot.values).buffer).toString("hex"));
      }),
      { numRuns: 3000 },
    );
  });

  it("takes no bytes that the reader in TypeScript refuses, and the same of others", () => {
    const damages = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 });
    let refused = 0;
    fc.assert(
      fc.property(snapshots, damages, fc.nat(), (snapshot, damage, cut) => {
        const whole = bytesOf(snapshot);
        const bytes = cut % 3 === 0 ? whole.slice(0, cut % (whole.length + 1)) : whole;
        if (bytes.length > 0) for (const [at, byte] of damage) bytes[at % Math.min(bytes.length, cut % 2 === 0 ? 240 : 2_000)] = byte;
        const cursor: ByteCursor = { bytes, at: 0, end: bytes.length };
        const taken = unpacked(bytes);
        const read = reader.decode(cursor);
        if (taken === undefined) refused++;
        else {
          expect(read).toBe(true);
          expect(taken).toEqual({ state: stateRead(reader, PROFILE), at: cursor.at });
        }
      }),
      { numRuns: 3000 },
    );
    expect(refused).toBeGreaterThan(500);
  });
});

describe("restoreStreams", () => {
  const TENANTS = ["default", "other", "dé"];
  /** Numbers of tenants: mostly the first, so that there are runs. */
  const tenants = fc.nat({ max: 9 }).map((number) => Math.max(0, number - 7));
  const streams = fc.array(fc.tuple(tenants, fc.nat({ max: 3 }), snapshots), { minLength: 1, maxLength: 12 });

  /** A part of streams whose identities share their beginnings; each has a number of its own. */
  function partOf(list: ReadonlyArray<readonly [number, number, Snapshot]>): { part: Uint8Array; identities: string[] } {
    const sink = new ByteWriter();
    sink.reserve(2);
    sink.bytes.set([3, 1]);
    sink.at = 2;
    let before = Buffer.alloc(0);
    const identities = list.map(([tenant, service], i) => JSON.stringify([TENANTS[tenant], "", `s${service}`, `metric_${i}`, {}]));
    for (const [i, [, , snapshot]] of list.entries()) {
      const identity = Buffer.from(identities[i] as string);
      let shared = 0;
      while (shared < Math.min(before.length, identity.length) && before[shared] === identity[shared]) shared++;
      sink.varint(shared);
      sink.varint(identity.length - shared);
      sink.copy(identity.subarray(shared));
      sink.copy(bytesOf(snapshot));
      before = identity;
    }
    return { part: sink.bytes.slice(0, sink.at), identities };
  }

  /** Reads a part as a start does: the kernel takes runs of the tenant that is told, the others come one at a time. */
  function restore(part: Uint8Array): { rig: ShardRig; slots: number[]; oneByOne: number } {
    const rig = new ShardRig({ window: WINDOW_MAX });
    const memory = new Uint8Array(rig.view.buffer);
    memory.set(part, STAGING);
    const slots: number[] = [];
    let headBytes = 0;
    let tenant = 0;
    let oneByOne = 0;
    const visitor: PartitionStateVisitor = {
      run: (cursor, isFirst) => {
        const previous = isFirst ? -1 : (slots.at(-1) as number);
        const reported = { tenant, headBytes, serviceSeed: 0 };
        const taken = rig.shard.restoreStreams(STAGING + cursor.at, cursor.end - cursor.at, previous, 5, reported);
        for (let at = BINDINGS; at < BINDINGS + rig.shard.bindingsCount * BINDING_BYTES; at += BINDING_BYTES) {
          expect([rig.view.getUint32(at + BINDING_PARTITION, true), rig.view.getUint32(at + BINDING_IS_NEW, true)]).toEqual([5, 1]);
          slots.push(rig.view.getUint32(at + BINDING_SLOT, true));
        }
        cursor.at += taken;
        return taken === 0 ? undefined : Buffer.from(identityOf(rig, slots.at(-1) as number));
      },
      stream: (identity, cursor) => {
        oneByOne++;
        const name = JSON.parse(Buffer.from(identity).toString())[0] as string;
        const head = new TextEncoder().encode(identityHead(name));
        memory.set(head, TENANT_HEAD);
        headBytes = head.length;
        tenant = TENANTS.indexOf(name);
        memory.set(identity, SCRATCH + 16);
        const hash = rig.shard.identityHash(SCRATCH + 16, identity.length);
        memory.copyWithin(SCRATCH, hash, hash + 16);
        const slot = rig.shard.createStream(SCRATCH, tenant, 5, 0, SCRATCH + 16, identity.length);
        slots.push(slot);
        if (!rig.shard.unpack(slot, cursor)) throw new Error("no snapshot");
      },
      handler: () => expect.fail("no handler"),
      cold: () => expect.fail("nothing is cold"),
      ref: () => expect.fail("no refs"),
      chunks: () => expect.fail("no chunks"),
    };
    readPartitionPart(part, visitor);
    return { rig, slots, oneByOne };
  }

  const identityOf = (rig: ShardRig, slot: number) =>
    Buffer.from(rig.view.buffer, rig.shard.records.identityAddress(slot), rig.shard.records.identityBytes(slot)).toString();

  it("puts each stream of a part into a slot of its own, with identity, hash, tenant and state", () => {
    fc.assert(
      fc.property(streams, (list) => {
        const { part, identities } = partOf(list);
        const { rig, slots, oneByOne } = restore(part);
        expect(slots.map((slot) => identityOf(rig, slot))).toEqual(identities);
        expect(rig.shard.streams).toBe(list.length);
        const changes = list.filter(([tenant], i) => tenant !== list[i - 1]?.[0]).length;
        expect(oneByOne).toBe(changes);
        const reader = new SnapshotReader();
        for (const [i, [tenant, , snapshot]] of list.entries()) {
          const slot = slots[i] as number;
          const bytes = bytesOf(snapshot);
          expect(reader.decode({ bytes, at: 0, end: bytes.length })).toBe(true);
          reader.header.setUint32(SR_TENANT, tenant, true);
          reader.header.setUint32(SR_TENANT + 4, 5, true);
          expect(stateOf(rig, slot)).toEqual(stateRead(reader, 0));
          const identity = Buffer.from(identities[i] as string);
          new Uint8Array(rig.view.buffer).set(identity, SCRATCH + 16);
          expect(rig.shard.findSlot(rig.shard.identityHash(SCRATCH + 16, identity.length), tenant)).toBe(slot);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("stops before a stream with damaged bytes, and leaves nothing of it", () => {
    const none = { count: 0, values: [], intervals: [], words: STATE_WORDS.map(() => 0n) };
    const { part } = partOf(Array.from({ length: 5 }, () => [0, 0, none] as const));
    const damaged = part.slice(0, -1);
    const rig = new ShardRig({ window: WINDOW_MAX });
    const head = new TextEncoder().encode(identityHead("default"));
    new Uint8Array(rig.view.buffer).set(head, TENANT_HEAD);
    new Uint8Array(rig.view.buffer).set(damaged, STAGING);
    const reported = { tenant: 0, headBytes: head.length, serviceSeed: 0 };
    const taken = rig.shard.restoreStreams(STAGING + 2, damaged.length - 2, -1, 5, reported);
    expect(rig.shard.bindingsCount).toBe(4);
    expect(rig.shard.streams).toBe(4);
    expect(taken).toBeLessThan(damaged.length - 2);
    expect(() => restore(damaged)).toThrow("no snapshot");
  });
});
