import { describe, expect, it } from "vitest";
import { ColdStreams } from "../../../../../src/actors/engine/cold/cold-streams.ts";
import { PartitionStateWriter, readPartitionPart } from "../../../../../src/actors/engine/recovery/partition-state.ts";
import type { MessageHandler } from "../../../../../src/actors/engine/shard/message-handler.ts";
import { Partition } from "../../../../../src/actors/engine/streams/partition.ts";
import { IDENTITIES, PARTITIONS } from "../../../../../src/core/layout/memory-map.ts";
import { ROW_BYTES } from "../../../../../src/core/layout/row-frame.ts";
import { BODY_JSON_BATCH } from "../../../../../src/core/protocol/body-kind.ts";
import {
  CHECKPOINT_PART_HEADER_BYTES,
  type CheckpointNote,
  type EngineFrame,
  FRAME_CHECKPOINT,
  FRAME_CHECKPOINT_NOTE,
  FRAME_CHECKPOINT_PART,
} from "../../../../../src/core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../../../../src/core/time/rfc3339.ts";
import { partitionOf } from "../../../../../src/domain/placement/partition.ts";
import { readCheckpointHeader } from "../../../../../src/modules/state/checkpoint-row.ts";
import { Cluster, type ClusterOptions, VirtualClock } from "../../../../support/cluster.ts";
import { generator } from "../../../../support/generator.ts";
import { MemoryDisk } from "../../../../support/memory-log.ts";
import { ShardRig } from "../../../../support/shard-rig.ts";

const coldOf = (rig: ShardRig) => new ColdStreams({ bytes: new Uint8Array(rig.view.buffer) });
const START = Date.UTC(2026, 0, 5, 12);
/** A handler that keeps two pieces for each partition. */
const handler: MessageHandler = {
  kind: 99,
  take: () => undefined,
  save: (partition) => [Uint8Array.of(partition, 1), Uint8Array.of(partition, 2, 3)],
  restore: () => undefined,
  onInterval: () => undefined,
};

describe("the state of a partition", () => {
  /** A partition of `streams` streams in a rig's memory, two refs each. */
  function fill(rig: ShardRig, streams: number): Partition {
    const partition = new Partition(7, 1024);
    const { uniform } = generator(3);
    let at = IDENTITIES;
    for (let i = 0; i < streams; i++) {
      const slot = rig.stream(0, BigInt(i + 1));
      const identity = Buffer.from(JSON.stringify(["default", "", `service-${i % 3}`, "m".repeat(1 + (i % 40)), { i }]));
      new Uint8Array(rig.view.buffer, at, identity.length).set(identity);
      rig.shard.records.setIdentity(slot, at, identity.length);
      at += identity.length;
      for (let onInterval = 0; onInterval < i % 130; onInterval++) rig.apply(slot, START + 1000 * onInterval, uniform());
      partition.slots.push(slot);
      partition.bind(1000 + i, slot);
      partition.bind(5000 + i, slot);
    }
    return partition;
  }

  function parts(rig: ShardRig, partition: Partition, partBytes: number): Uint8Array[] {
    const memory = new Uint8Array(rig.view.buffer);
    const writer = new PartitionStateWriter({ kernel: rig.shard, cold: coldOf(rig), memory, partBytes, handlers: () => [handler] });
    writer.begin(partition);
    const written: Uint8Array[] = [];
    for (let part = writer.next(); part !== undefined; part = writer.next()) written.push(part.slice());
    written.push(writer.last().slice());
    expect(writer.streams).toBe(partition.slots.length);
    return written;
  }

  it("comes back whole, whatever the size of its parts", () => {
    const rig = new ShardRig({ window: 120 });
    const partition = fill(rig, 150);
    partition.chunks.append(new Uint8Array(16).fill(9), Uint8Array.of(1, 2, 3), START, START);
    const whole = parts(rig, partition, 2 ** 30);
    expect(whole.length).toBe(5);
    for (const partBytes of [1, 700, 20_000]) {
      const other = new ShardRig({ window: 120 });
      const restored = new Partition(7, 1024);
      let at = IDENTITIES;
      const kept: string[] = [];
      const written = parts(rig, partition, partBytes);
      expect(written.length).toBeGreaterThan(whole.length);
      for (const part of written) {
        readPartitionPart(part, {
          stream: (identity, cursor) => {
            const slot = other.stream();
            new Uint8Array(other.view.buffer, at, identity.length).set(identity);
            other.shard.records.setIdentity(slot, at, identity.length);
            at += identity.length;
            restored.slots.push(slot);
            expect(other.shard.unpack(slot, cursor)).toBe(true);
          },
          handler: (kind, piece) => kept.push(`${kind}: ${piece.join(" ")}`),
          cold: () => expect.fail("nothing is cold"),
          ref: (ref, stream, isCold) => restored.bind(ref, isCold ? -1 : restored.slots.at(stream)),
          chunks: (bytes) => expect(bytes).toEqual(partition.chunks.serialise()),
        });
      }
      expect(kept).toEqual(["99: 7 1", "99: 7 2 3"]);
      restored.chunks = partition.chunks;
      expect(parts(other, restored, 2 ** 30)).toEqual(whole);
    }
  });

  it("of another version, or with what no writer writes, is refused", () => {
    const rig = new ShardRig({ window: 120 });
    const [, , streams] = parts(rig, fill(rig, 2), 2 ** 30) as [Uint8Array, Uint8Array, Uint8Array];
    const visitor = {
      stream: () => undefined,
      handler: () => undefined,
      cold: () => undefined,
      ref: () => undefined,
      chunks: () => undefined,
    };
    const changed = (at: number, to: number) => Uint8Array.from(streams, (byte, i) => (i === at ? to : byte));
    expect(() => readPartitionPart(changed(0, 1), visitor)).toThrow("version 1");
    expect(() => readPartitionPart(changed(1, 9), visitor)).toThrow("unknown kind 9");
    expect(() => readPartitionPart(changed(2, 5), visitor)).toThrow("identity that cannot be");
  });
});

describe("checkpoints", () => {
  const encoder = new TextEncoder();

  /** Posts bodies of `series` full-mantissa values to writer 0 and returns what the engines sent for their checkpoints. */
  function run(options: Omit<ClusterOptions, "epoch">, bodies: number, series: number) {
    const clock = new VirtualClock(START);
    const disk = new MemoryDisk();
    const cluster = new Cluster({ epoch: 1, ...options }, { clock, disk });
    const frames = Array.from({ length: options.engines }, (): EngineFrame[] => []);
    const collect = (engine: number, taken: EngineFrame[]) => frames[engine]?.push(...taken);
    const { uniform } = generator(5);
    cluster.run(collect);
    for (let onInterval = 0; onInterval < bodies; onInterval++) {
      const timestamp = formatRfc3339(clock.wallMs());
      const records = Array.from({ length: series }, (_, i) => ({ service_id: "one", metric_name: `m${i}`, value: uniform(), timestamp }));
      cluster.submit(0, BODY_JSON_BATCH, encoder.encode(JSON.stringify(records)), () => undefined);
      clock.advance(300);
      cluster.run(collect);
    }
    return { cluster, clock, frames, collect, logBytes: Math.max(disk.usedBytes, cluster.counter("rowsPlaced") * ROW_BYTES) };
  }

  /** Partitions of the checkpoints that came since the last call. */
  const takeWritten = (frames: readonly EngineFrame[][]) =>
    frames
      .flatMap((own) => own.splice(0))
      .filter(({ kind }) => kind === FRAME_CHECKPOINT)
      .map(({ payload }) => readCheckpointHeader(payload).partition);

  const readNote = ({ payload }: EngineFrame) => JSON.parse(new TextDecoder().decode(payload)) as CheckpointNote;

  /** Partitions of the notes among frames. */
  const noted = (frames: readonly EngineFrame[]) =>
    frames.filter(({ kind }) => kind === FRAME_CHECKPOINT_NOTE).map((frame) => readNote(frame).partition);

  const stateBytes = ({ kind, payload }: EngineFrame) => {
    if (kind === FRAME_CHECKPOINT_PART) return payload.length - CHECKPOINT_PART_HEADER_BYTES;
    return kind === FRAME_CHECKPOINT ? payload.length - 4 - new DataView(payload.buffer, payload.byteOffset).getUint32(0, true) : 0;
  };

  it("write again at most a quarter of what is logged, and that as soon as it is logged", () => {
    const { frames, logBytes } = run({ engines: 1, checkpointCycleBytes: 1, checkpointLogShare: 4 }, 400, 60);
    const sizes = (frames[0] as EngineFrame[]).map(stateBytes);
    const written = sizes.reduce((sum, bytes) => sum + bytes, 0);
    expect(written).toBeGreaterThan(logBytes / 8);
    expect(written).toBeLessThan(logBytes / 4 + Math.max(...sizes));
  });

  it("of an engine without rows follow the writers of the others", () => {
    const { frames } = run({ engines: 2, checkpointCycleBytes: 64 * 1024, checkpointLogShare: 0, segmentBytes: 16 * 1024 }, 400, 60);
    for (const own of frames) {
      const segments = own
        .filter(({ kind }) => kind === FRAME_CHECKPOINT || kind === FRAME_CHECKPOINT_NOTE)
        .map((frame) => (frame.kind === FRAME_CHECKPOINT ? readCheckpointHeader(frame.payload) : readNote(frame)).vector[0]?.segment ?? 0);
      expect(segments.length).toBeGreaterThan(100);
      expect(segments.at(-1)).toBeGreaterThan(10);
    }
  });

  const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const sorted = (partitions: readonly number[]) => [...new Set(partitions)].sort((one, other) => one - other);

  /** Ends the cluster in an orderly way. */
  function stop({ cluster, clock, collect }: Pick<ReturnType<typeof run>, "cluster" | "clock" | "collect">): void {
    cluster.stop();
    for (let steps = 0; !cluster.isStopped && steps < 100; steps++) {
      clock.advance(1);
      cluster.run(collect);
    }
    expect(cluster.isStopped).toBe(true);
  }

  it.each([0, 1])(
    "are made by a stop of what has changed since the last, and noted of the rest: %i bodies behind a rest",
    (bodiesBehind) => {
      const ran = run({ engines: 2 }, 400, 60);
      const { cluster, clock, frames, collect } = ran;
      for (let ticks = 0; ticks < 8; ticks++) {
        clock.advance(250);
        cluster.run(collect);
      }
      const before = frames.flat();
      expect(sorted([...noted(before), ...takeWritten(frames)])).toEqual(all); // the server is at rest
      const record = { service_id: "one", metric_name: "m0", value: 1, timestamp: formatRfc3339(clock.wallMs()) };
      for (let body = 0; body < bodiesBehind; body++) {
        cluster.submit(0, BODY_JSON_BATCH, encoder.encode(JSON.stringify([record])), () => undefined);
        cluster.run(collect);
      }
      stop(ran);
      const notes = noted(frames.flat());
      const written = takeWritten(frames);
      const changed = bodiesBehind === 0 ? [] : [partitionOf("default", "one")];
      expect(written).toEqual(changed);
      expect(sorted(notes)).toEqual(bodiesBehind === 0 ? [] : all.filter((partition) => !changed.includes(partition)));
    },
  );
});
