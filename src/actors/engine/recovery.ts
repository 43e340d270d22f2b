// Start-up of an engine: restores the checkpoints of its partitions, then reads all logs in order of admission and applies what the
// checkpoints do not cover. Each engine reads every log and keeps its own share, so the number of engines is free. One block a step.
import type { EngineMemory, ProcessWords } from "../../adapters/runtime/engine-memory.ts";
import { PARTITIONS, SCRATCH, STAGING, STAGING_BYTES } from "../../core/layout/memory-map.ts";
import {
  ROW_BYTES,
  ROW_OFFSET,
  ROW_REF,
  ROW_VALUE,
  SECTION_DEAD_LETTER,
  SECTION_DEFINE,
  SECTION_RECORD,
  SECTION_ROWS,
} from "../../core/layout/row-frame.ts";
import { FRAME_DEAD_LETTER, FRAME_RECORD, type LaneMark, type LogPosition } from "../../core/protocol/coordinator-frame.ts";
import type { StoredCheckpoint } from "../../core/protocol/engine-control.ts";
import { ChunkBlockBuilder } from "../../domain/codec/chunk-block-builder.ts";
import type { LaneExports } from "../../domain/kernel/lane-kernel.ts";
import type { ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import { engineOf, partitionOf } from "../../domain/placement/partition.ts";
import { identityName } from "../../domain/series/stream-identity.ts";
import type { Outbox } from "./outbox.ts";
import { decodePartitionState } from "./partition.ts";
import type { Shard } from "./shard.ts";
import { decodeDefinitions, sectionsOf } from "./work-unit.ts";

/** A log block as the merge of all lanes yields it. */
export interface ReplayBlock {
  readonly epoch: number;
  readonly lane: number;
  readonly header: { readonly baseMs: number };
  readonly payload: Uint8Array;
  readonly end: LogPosition;
}

export interface RecoveryOptions {
  readonly engine: number;
  readonly engines: number;
  /** Records and dead letters behind these positions are sent again, by engine 0 alone. */
  readonly laneMarks: readonly LaneMark[];
}

export interface RecoveryDependencies {
  readonly memory: EngineMemory;
  readonly shard: Shard;
  readonly kernel: ShardKernel;
  readonly lane: LaneExports;
  readonly outbox: Outbox;
  readonly processWords: ProcessWords;
  readonly tenantIndex: (name: string) => number;
}

const isCovered = (end: LogPosition, covered: LogPosition) =>
  end.segment < covered.segment || (end.segment === covered.segment && end.offset <= covered.offset);

/** Restores one engine's state. */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #dependencies: RecoveryDependencies;
  /** Per partition: the epoch its checkpoint was taken in, and what it covers of each lane then. */
  readonly #covered = new Map<number, { epoch: number; lanes: Map<number, LogPosition> }>();
  /** Refs of the epoch being read, and the slots they were bound to; -1 where another engine owns the stream. */
  #slots = new Map<number, number>();
  #refsOfCheckpoints = new Map<number, Map<number, number>>();
  #newRefs = new Map<number, number>();
  #epoch = -1;
  rows = 0;
  records = 0;

  constructor(options: RecoveryOptions, dependencies: RecoveryDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Restores one partition of this engine. */
  restore(checkpoint: StoredCheckpoint): void {
    const { shard, tenantIndex } = this.#dependencies;
    const { streams, chunks } = decodePartitionState(checkpoint.state);
    const partition = shard.partition(checkpoint.partition);
    partition.nextBlock = checkpoint.nextBlock;
    partition.chunks = ChunkBlockBuilder.restore(chunks) ?? new ChunkBlockBuilder();
    const refs = this.#refsOfCheckpoints.get(checkpoint.epoch) ?? new Map<number, number>();
    this.#refsOfCheckpoints.set(checkpoint.epoch, refs);
    for (const stream of streams) {
      const name = identityName(Buffer.from(stream.identity).toString("utf8"));
      const definition = {
        ref: 0,
        partition: checkpoint.partition,
        flags: 0,
        tenant: tenantIndex(name.tenant),
        hash: this.#identityHash(stream.identity),
        identity: stream.identity,
      };
      const slot = shard.recover(definition);
      if (slot < 0) throw new Error(`engine ${this.#options.engine} cannot hold the streams of its partitions; start with more engines`);
      shard.restore(slot, stream.snapshot);
      for (const ref of stream.refs) refs.set(ref, slot);
    }
    const lanes = new Map(checkpoint.vector.map((mark) => [mark.lane, mark]));
    this.#covered.set(checkpoint.partition, { epoch: checkpoint.epoch, lanes });
  }

  #identityHash(identity: Uint8Array): Uint8Array {
    const { memory, lane } = this.#dependencies;
    memory.bytes.set(identity, SCRATCH);
    memory.bytes.fill(0, SCRATCH + identity.byteLength, SCRATCH + identity.byteLength + 64);
    const at = lane.identityHash(SCRATCH, identity.byteLength);
    return memory.bytes.slice(at, at + 16);
  }

  /** Applies this engine's share of one block. */
  apply(block: ReplayBlock): void {
    if (block.epoch !== this.#epoch) this.#beginEpoch(block.epoch);
    for (const section of sectionsOf(block.payload)) {
      if (section.kind === SECTION_DEFINE) this.#define(section.payload, block);
      else if (section.kind === SECTION_ROWS) this.#applyRows(section.payload, block);
      else if (this.#options.engine === 0) this.#sendAgain(section.kind, section.payload, block);
    }
  }

  #beginEpoch(epoch: number): void {
    this.#epoch = epoch;
    this.#slots = new Map(this.#refsOfCheckpoints.get(epoch) ?? []);
  }

  #define(payload: Uint8Array, block: ReplayBlock): void {
    const { shard, tenantIndex } = this.#dependencies;
    for (const definition of decodeDefinitions(payload)) {
      if (engineOf(definition.partition, this.#options.engines) !== this.#options.engine) continue;
      const name = identityName(Buffer.from(definition.identity).toString("utf8"));
      if (partitionOf(name.tenant, name.serviceId) !== definition.partition)
        throw new Error("a definition in the log names the wrong partition");
      const tenant = tenantIndex(name.tenant);
      // A definition that a checkpoint covers only names its ref: the stream's kind may have changed since.
      const known = this.#isCovered(definition.partition, block) ? shard.findSlot(definition.hash, tenant) : -1;
      this.#slots.set(definition.ref, known >= 0 ? known : shard.recover({ ...definition, tenant }));
    }
  }

  /** Copies the rows that are this engine's and not covered into the staging area, with refs of this start, and applies them. */
  #applyRows(payload: Uint8Array, block: ReplayBlock): void {
    const { memory, shard, kernel } = this.#dependencies;
    const source = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    let rows = 0;
    for (let at = 0; at < payload.byteLength; at += ROW_BYTES) {
      const slot = this.#slots.get(source.getUint32(at + ROW_REF, true)) ?? -1;
      if (slot < 0 || this.#isCovered(kernel.records.partition(slot), block)) continue;
      const to = STAGING + rows * ROW_BYTES;
      memory.view.setUint32(to + ROW_REF, this.#newRef(slot), true);
      memory.view.setUint32(to + ROW_OFFSET, source.getUint32(at + ROW_OFFSET, true), true);
      memory.view.setBigUint64(to + ROW_VALUE, source.getBigUint64(at + ROW_VALUE, true), true);
      rows++;
      if ((rows + 1) * ROW_BYTES > STAGING_BYTES) throw new Error("a log section holds more rows than one unit of work may");
    }
    this.rows += rows;
    const { baseMs } = block.header;
    if (rows > 0) shard.applyRows({ pointer: STAGING, rows, baseMs, arrivalMs: 0 });
  }

  #isCovered(partition: number, block: ReplayBlock): boolean {
    const covered = this.#covered.get(partition);
    if (covered === undefined || covered.epoch < block.epoch) return false;
    if (covered.epoch > block.epoch) return true;
    const position = covered.lanes.get(block.lane);
    return position !== undefined && isCovered(block.end, position);
  }

  #newRef(slot: number): number {
    const known = this.#newRefs.get(slot);
    if (known !== undefined) return known;
    const ref = this.#dependencies.processWords.takeRef();
    this.#dependencies.kernel.bindRef(ref, slot);
    this.#newRefs.set(slot, ref);
    return ref;
  }

  #sendAgain(kind: number, payload: Uint8Array, block: ReplayBlock): void {
    if (kind !== SECTION_RECORD && kind !== SECTION_DEAD_LETTER) throw new Error(`unknown section ${kind} in the log`);
    const mark = this.#options.laneMarks.find(({ epoch, lane }) => epoch === block.epoch && lane === block.lane);
    if (mark !== undefined && isCovered(block.end, mark)) return;
    this.records++;
    this.#dependencies.outbox.send(kind === SECTION_RECORD ? FRAME_RECORD : FRAME_DEAD_LETTER, payload.slice());
  }
}

/** Whose logs are to be read, and what is stored of it. */
export interface ReplayStartOptions {
  readonly engine: number;
  readonly engines: number;
  /** Of this engine's partitions. */
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly laneMarks: readonly LaneMark[];
}

/**
 * Where reading may begin: per (epoch, lane) the lowest position that any of the checkpoints covers, and for engine 0, which sends records again,
 * also the lane marks. A lane that one checkpoint does not name is read from its beginning; so is everything while a partition has no checkpoint.
 */
export function replayStart({ engine, engines, checkpoints, laneMarks }: ReplayStartOptions): LaneMark[] {
  const epochs = new Set(checkpoints.map(({ epoch }) => epoch));
  const [epoch] = epochs;
  if (epochs.size !== 1 || epoch === undefined || checkpoints.length < partitionsOf(engine, engines)) return [];
  const lowest = new Map<number, LaneMark>();
  for (const mark of (checkpoints[0] as StoredCheckpoint).vector) {
    const marks = checkpoints.map(({ vector }) => vector.find(({ lane }) => lane === mark.lane));
    if (engine === 0) marks.push(laneMarks.find((one) => one.epoch === epoch && one.lane === mark.lane));
    if (marks.some((one) => one === undefined)) continue;
    lowest.set(
      mark.lane,
      (marks as LaneMark[]).reduce((least, one) => (isCovered(one, least) ? one : least)),
    );
  }
  return [...lowest.values()];
}

function partitionsOf(engine: number, engines: number): number {
  let owned = 0;
  for (let partition = 0; partition < PARTITIONS; partition++) owned += engineOf(partition, engines) === engine ? 1 : 0;
  return owned;
}
