// Checkpoints of an engine's partitions, round-robin. A checkpoint names, per lane, the log position that its state covers; it travels in the
// same ring as verdicts and blocks, behind all of them that belong to that state.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import {
  type CheckpointHeader,
  FRAME_CHECKPOINT,
  FRAME_LANE_MARK,
  type LaneMark,
  type LogPosition,
} from "../../core/protocol/coordinator-frame.ts";
import type { ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import { engineOf } from "../../domain/placement/partition.ts";
import type { EngineCounters } from "./engine-counters.ts";
import type { Outbox } from "./outbox.ts";
import { encodePartitionState, type Partition, type StreamState } from "./partition.ts";
import type { Shard } from "./shard.ts";

/** A quiet engine still checkpoints one partition this often while the round is not complete, so that old segments go away. */
const QUIET_CHECKPOINT_MS = 1_000;
/** How often the lane tells how far its records have been sent. */
const LANE_MARK_MS = 1_000;

export interface CheckpointsOptions {
  readonly epoch: number;
  readonly engine: number;
  readonly engines: number;
  /** Bytes of log after which every partition has been checkpointed once. */
  readonly roundBytes: number;
}

export interface CheckpointsDependencies {
  readonly memories: readonly EngineMemory[];
  /** Applies everything that lies in the rings into this engine. */
  readonly drainInboxes: () => void;
  readonly shard: Shard;
  readonly kernel: ShardKernel;
  readonly outbox: Outbox;
  readonly counters: EngineCounters;
  /** End of this lane's own log. */
  readonly logPosition: () => LogPosition;
  readonly logBytes: () => number;
}

/** Decides when and writes what, for one engine. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #dependencies: CheckpointsDependencies;
  readonly #owned: number[];
  #next = 0;
  #doneAtBytes = 0;
  #roundStartBytes = 0;
  /** Partitions left in the round that follows the last activity. */
  #left: number;
  #lastMs = 0;
  #markedMs = 0;
  #marked: LogPosition = { segment: -1, offset: 0 };

  constructor(options: CheckpointsOptions, dependencies: CheckpointsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#owned = Array.from({ length: PARTITIONS }, (_, partition) => partition).filter(
      (partition) => engineOf(partition, options.engines) === options.engine,
    );
    this.#left = this.#owned.length;
  }

  /** Takes the next checkpoint when one is due. To be called between units of work. */
  tick(nowMs: number): boolean {
    this.#markLane(nowMs);
    const bytes = this.#activity();
    if (bytes - this.#roundStartBytes > 0 && this.#left === 0) {
      this.#left = this.#owned.length;
      this.#roundStartBytes = bytes;
    }
    const due =
      bytes - this.#doneAtBytes >= this.#options.roundBytes / PARTITIONS || (this.#left > 0 && nowMs - this.#lastMs >= QUIET_CHECKPOINT_MS);
    if (!due || this.#owned.length === 0) return false;
    this.#lastMs = nowMs;
    this.#doneAtBytes = bytes;
    this.#left = Math.max(0, this.#left - 1);
    this.#write(this.#owned[this.#next] as number, this.#positions());
    this.#next = (this.#next + 1) % this.#owned.length;
    return true;
  }

  #activity(): number {
    return Math.max(this.#dependencies.logBytes(), this.#dependencies.shard.appliedBytes);
  }

  /** All partitions, on an orderly stop. */
  writeAll(): void {
    const positions = this.#positions();
    for (const partition of this.#owned) this.#write(partition, positions);
    this.#markLane(Number.POSITIVE_INFINITY);
  }

  /**
   * Per lane, a log position that this shard's state covers: the lane's `placed` word, read before the rings are emptied. The state may be
   * ahead of it; rows are idempotent by (stream, timestamp), so a replay from there changes nothing.
   */
  #positions(): LaneMark[] {
    const { memories, drainInboxes, logPosition } = this.#dependencies;
    const { epoch, engine } = this.#options;
    const marks = memories.map((memory, lane) => ({ epoch, lane, ...(lane === engine ? logPosition() : memory.placed()) }));
    drainInboxes();
    return marks;
  }

  #write(partition: number, vector: readonly LaneMark[]): void {
    const { outbox, counters } = this.#dependencies;
    const held = this.#dependencies.shard.partition(partition);
    const streams = this.#streamStates(held);
    const header: CheckpointHeader = { partition, epoch: this.#options.epoch, vector, nextBlock: held.nextBlock, streams: streams.length };
    outbox.send(FRAME_CHECKPOINT, joinCheckpoint(header, encodePartitionState(streams, held.chunks.serialise())));
    counters.add("checkpoints", 1);
  }

  #streamStates(partition: Partition): StreamState[] {
    const refs = new Map<number, number[]>();
    for (let i = 0; i < partition.refs.length; i += 2) {
      const slot = partition.refs[i + 1] as number;
      const known = refs.get(slot);
      if (known === undefined) refs.set(slot, [partition.refs[i] as number]);
      else known.push(partition.refs[i] as number);
    }
    const { shard, kernel } = this.#dependencies;
    return partition.slots.map((slot) => ({
      identity: shard.identityOf(slot),
      snapshot: kernel.snapshot(slot),
      refs: refs.get(slot) ?? [],
    }));
  }

  #markLane(nowMs: number): void {
    if (nowMs - this.#markedMs < LANE_MARK_MS) return;
    const position = this.#dependencies.logPosition();
    if (position.segment === this.#marked.segment && position.offset === this.#marked.offset) return;
    this.#markedMs = nowMs;
    this.#marked = position;
    const mark: LaneMark = { epoch: this.#options.epoch, lane: this.#options.engine, ...position };
    this.#dependencies.outbox.sendJson(FRAME_LANE_MARK, mark);
  }
}

/** {header bytes u32} header JSON padded to 4, state. */
function joinCheckpoint(header: CheckpointHeader, state: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = (text.byteLength + 3) & ~3;
  const bytes = new Uint8Array(4 + padded + state.byteLength).fill(0x20, 4, 4 + padded);
  new DataView(bytes.buffer).setUint32(0, padded, true);
  bytes.set(text, 4);
  bytes.set(state, 4 + padded);
  return bytes;
}
