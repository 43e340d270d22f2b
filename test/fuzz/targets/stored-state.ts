// What a start reads back: checkpoints with the state of a partition, records, keys. They are behind no checksum of ours; they may refuse by an exception,
// which stops the start, but must not loop, take memory without bound, or put a stream into a state that the kernel would run out of its record with.

import { type PartitionStateVisitor, readPartitionPart } from "../../../src/actors/engine/recovery/partition-state.ts";
import { IDENTITY_BYTES_MAX } from "../../../src/core/config/limits.ts";
import { BINDINGS, STAGING, TENANT_HEAD } from "../../../src/core/layout/memory-map.ts";
import { BINDING_BYTES, BINDING_SLOT } from "../../../src/core/layout/row-frame.ts";
import { SR_CHUNK_AT, SR_COUNT, SR_HEAD, SR_UNCHUNKED, STREAM_RECORD_BYTES, WINDOW_MAX } from "../../../src/core/layout/stream-record.ts";
import { ByteWriter } from "../../../src/domain/codec/byte-writer.ts";
import { ChunkBlockBuilder } from "../../../src/domain/codec/chunk-block-builder.ts";
import { KeyBuilder, KeyReader } from "../../../src/domain/codec/key.ts";
import type { ByteCursor } from "../../../src/domain/codec/varint.ts";
import { decodeRecordRow, encodeRecordRow, rowMatches, serviceBytes } from "../../../src/modules/records/record-row.ts";
import { decodeCheckpointRow, encodeCheckpointRow, readPartFrame } from "../../../src/modules/state/checkpoint-row.ts";
import { ShardRig } from "../../support/shard-rig.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { attempt, type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

const GUARD = 0x77;
const GUARD_BYTES = STREAM_RECORD_BYTES;

const IDENTITIES = [
  '["t","","s","m",{}]',
  '["t","","s","memory_bytes",{"zone":"a"}]',
  '["tenant","prod","checkout","latency",{"zone":"ü"}]',
];
const WAITING = new ChunkBlockBuilder().serialise();

/** Parts of a checkpoint: streams, refs, waiting chunks. */
export function checkpointPartTarget(): FuzzTarget {
  const rig = new ShardRig({ window: WINDOW_MAX });
  const [before, slot, behind] = [rig.stream(), rig.stream(), rig.stream()];
  const { records } = rig.shard;
  const memory = new Uint8Array(records.view.buffer);
  const snapshots = [0, 1, 30, WINDOW_MAX, 300].map((samples) => snapshotOf(rig, samples));
  let [streams, restored, refs, waiting] = [0, 0, 0, 0];
  const visitor: PartitionStateVisitor = {
    stream: (identity, cursor) => {
      streams++;
      must(identity.length <= IDENTITY_BYTES_MAX, `an identity of ${identity.length} bytes`);
      for (const neighbour of [before, behind]) memory.fill(GUARD, records.address(neighbour), records.address(neighbour) + GUARD_BYTES);
      if (!rig.shard.unpack(slot, cursor)) throw new Error("no snapshot");
      restored++;
      must(cursor.at <= cursor.end, "read beyond the part");
      mustBeSound(rig, slot, memory);
    },
    handler: () => refs++,
    cold: () => refs++,
    ref: () => refs++,
    chunks: (bytes) => (waiting = ChunkBlockBuilder.restore(bytes) === undefined ? 0 : 1),
  };
  const run = (cursor: ByteCursor): undefined => mustTakeSoundly(rig, cursor, memory);
  const check = (input: Uint8Array): number => {
    streams = restored = refs = waiting = 0;
    memory.set(input, STAGING);
    const whole = attempt(() => readPartitionPart(input, { ...visitor, run }) ?? true, Error);
    return whole === undefined ? -1 - magnitude(restored) : (magnitude(streams) * 8 + magnitude(refs)) * 2 + waiting;
  };
  const write = (out: InputWriter, random: Random) => {
    const kind = random.pick([1, 1, 1, 2, 3, 5]);
    out.u8(3).u8(kind);
    if (kind === 3) out.raw(WAITING);
    else if (kind === 5) out.u32(random.below(100)).raw(WAITING);
    else if (kind === 2) for (let count = random.below(5); count > 0; count--) out.u32(random.below(100)).u32(random.below(4));
    else writeStreams(out, snapshots, random);
  };
  return { name: "checkpoint-part", bytesMax: 2048, tokens: [], write, check };
}

/** Has the kernel take what it can from the cursor on, looks at it, and takes it back: the streams then come one at a time. */
function mustTakeSoundly(rig: ShardRig, cursor: ByteCursor, memory: Uint8Array): undefined {
  const head = new TextEncoder().encode('["t",');
  memory.set(head, TENANT_HEAD);
  const bytes = cursor.end - cursor.at;
  const { streams } = rig.shard;
  const taken = rig.shard.restoreStreams(STAGING + cursor.at, bytes, -1, 7, { tenant: 0, headBytes: head.length, serviceSeed: 0 });
  must(taken <= bytes, "took more than the part has");
  must(rig.shard.streams === streams + rig.shard.bindingsCount, "left a stream that it did not tell of");
  for (let i = rig.shard.bindingsCount - 1; i >= 0; i--) {
    const slot = rig.view.getUint32(BINDINGS + i * BINDING_BYTES + BINDING_SLOT, true);
    mustHoldRing(rig, slot);
    rig.shard.removeStream(slot);
  }
}

/** The kernel takes the places of a ring as they stand: it would run out of the record with others. */
function mustBeSound(rig: ShardRig, slot: number, memory: Uint8Array): void {
  const at = rig.shard.records.address(slot);
  for (let i = 0; i < 64; i++)
    must(memory[at - 1 - i] === GUARD && memory[at + STREAM_RECORD_BYTES + i] === GUARD, "wrote outside the record");
  mustHoldRing(rig, slot);
}

function mustHoldRing({ shard: { records } }: ShardRig, slot: number): void {
  const at = records.address(slot);
  const [count = 0, head = 0, unchunked = 0] = [SR_COUNT, SR_HEAD, SR_UNCHUNKED].map((field) => records.view.getUint32(at + field, true));
  const chunkAt = records.view.getUint8(at + SR_CHUNK_AT);
  must(count <= WINDOW_MAX && head < WINDOW_MAX, `restored a ring of ${count} values whose next place is ${head}`);
  must(unchunked <= count && chunkAt <= WINDOW_MAX, `restored ${unchunked} values to be packed of ${count}, due at ${chunkAt}`);
}

function snapshotOf(rig: ShardRig, samples: number): Uint8Array {
  const slot = rig.stream();
  for (let i = 0; i < samples; i++) rig.apply(slot, 1_795_220_000_000 + i * 1000, (i * 7919) % 101);
  const sink = new ByteWriter();
  rig.shard.pack(slot, sink);
  return sink.bytes.slice(0, sink.at);
}

function writeStreams(out: InputWriter, snapshots: readonly Uint8Array[], random: Random): void {
  let known = new Uint8Array();
  for (let count = random.below(5); count > 0; count--) {
    const identity = new TextEncoder().encode(random.pick(IDENTITIES));
    let shared = 0;
    while (shared < known.length && shared < identity.length && known[shared] === identity[shared]) shared++;
    out
      .varint(shared)
      .varint(identity.length - shared)
      .raw(identity.subarray(shared))
      .raw(random.pick(snapshots));
    known = identity;
  }
}

/** The stored row of a checkpoint: header and last part. */
export function checkpointRowTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const row = attempt(() => decodeCheckpointRow(input), Error);
    const frame = attempt(() => readPartFrame(input), RangeError);
    must(frame === undefined || frame.bytes.length < input.length, "a part beyond its frame");
    if (row === undefined) return -1;
    must(row.last.length <= input.length, "a last part beyond its row");
    return magnitude(row.last.length) * 16 + magnitude(Object.keys(row.header ?? {}).length);
  };
  const write = (out: InputWriter, random: Random) => {
    const text = JSON.stringify({
      partition: random.below(256),
      epoch: 1,
      vector: [{ epoch: 1, lane: 0, segment: 0, offset: 64 }],
      nextBlock: 3,
      streams: 7,
    });
    const padded = (text.length + 3) & ~3;
    const payload = Buffer.concat([Buffer.alloc(4), Buffer.from(text.padEnd(padded)), Uint8Array.of(2, 3), WAITING]);
    payload.writeUInt32LE(padded, 0);
    out.raw(encodeCheckpointRow(payload));
  };
  return { name: "checkpoint-row", bytesMax: 512, tokens: textTokens('"vector":[]', "null", "{}"), write, check };
}

export function storedRecordTarget(): FuzzTarget {
  const service = serviceBytes("checkout");
  const check = (input: Uint8Array): number => {
    const matches = rowMatches(input, "log", service);
    const row = attempt(() => decodeRecordRow(input), Error);
    if (row === undefined) return matches ? -2 : -1;
    return magnitude(input.length) * 2 + (matches ? 1 : 0);
  };
  const write = (out: InputWriter, random: Random) => {
    const record = {
      type: random.pick(["log", "trace", "slo"]),
      service_id: random.pick(["checkout", "", "ü"]),
      body: "x".repeat(random.below(30)),
    };
    out.raw(encodeRecordRow({ tenant: "t", id: "0".repeat(32), timeMs: 1, receivedMs: 2, environment: "", record }));
  };
  return { name: "stored-record", bytesMax: 256, tokens: textTokens("checkout", "{}", "null"), write, check };
}

/** Reads keys of the form text, time, descending time, u16, u32, fixed; what reads to its end is the same key when written again. */
export function keyTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const parts = attempt(() => {
      const reader = new KeyReader(input);
      const read = [reader.text(), reader.time(), reader.timeDescending(), reader.u16(), reader.u32(), reader.fixed(3)] as const;
      return reader.remaining === 0 ? read : undefined;
    }, RangeError);
    if (parts === undefined) return -1;
    const [text, time, descending, u16, u32, fixed] = parts;
    const numbers = [time, descending];
    if (numbers.some((ms) => Number.isNaN(ms) || Object.is(ms, -0))) return 0; // no key is written of those
    const again = new KeyBuilder().text(text).time(time).timeDescending(descending).u16(u16).u32(u32).fixed(fixed).finish();
    must(Buffer.compare(again, input) === 0, `the key of ${JSON.stringify(parts)} is another when written again`);
    return 1 + magnitude(text.length) * 4 + (time < 0 ? 2 : 0) + (descending < 0 ? 1 : 0);
  };
  const write = (out: InputWriter, random: Random) => {
    const text = random.pick(["", "a", "a\0b", "\ufeffx", "日本", "🙂", "\0\0", "tenant".repeat(9)]);
    const time = () => random.pick([0, -1, 1e300, -1e300, Number.POSITIVE_INFINITY, 5e-324, random.next() * 1000, -random.next()]);
    const builder = new KeyBuilder().text(text).time(time()).timeDescending(time()).u16(random.below(65_536)).u32(random.next());
    out.raw(builder.fixed(Uint8Array.of(1, random.below(256), 255)).finish());
  };
  return {
    name: "key",
    bytesMax: 256,
    tokens: [Uint8Array.of(0, 255), Uint8Array.of(0, 1), Uint8Array.of(0xef, 0xbb, 0xbf)],
    write,
    check,
  };
}
