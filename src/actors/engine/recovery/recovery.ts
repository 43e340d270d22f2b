// Start-up of an engine: restores the checkpoints of its partitions, then reads all logs in order of admission and applies what the
// checkpoints do not cover. Each engine reads every log and keeps its own share, so the number of engines is free. States come from the coordinator
// a part at a time, a few ahead; a step is one part or one block.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import { NumberMap } from "../../../core/collections/number-map.ts";
import { STATE_PARTS_WANTED_MAX, WORK_ROWS_MAX } from "../../../core/config/limits.ts";
import {
  BODY_PADDING_BYTES,
  COLD_SLOTS,
  INBOX,
  PACKED_ROWS,
  PARTITIONS,
  SCRATCH,
  STAGING,
  STAGING_BYTES,
  TENANT_HEAD,
  TENANT_HEAD_BYTES,
} from "../../../core/layout/memory-map.ts";
import {
  ARRIVAL_HISTORY,
  BLOCK_HISTORY,
  SECTION_DEAD_LETTER,
  SECTION_DEFINE,
  SECTION_MESSAGES,
  SECTION_METADATA,
  SECTION_METRIC_SCOPE,
  SECTION_PACKED_ROWS,
  SECTION_RECORD,
  SECTION_SERVICE_LABELS,
  SECTION_SPAN_BLOCK,
  SECTION_USAGE,
} from "../../../core/layout/row-frame.ts";
import {
  FRAME_DEAD_LETTER,
  FRAME_LOG_MARK,
  FRAME_METADATA,
  FRAME_METRIC_SCOPE,
  FRAME_RECORD,
  FRAME_SERVICE_LABELS,
  FRAME_SPAN_BLOCK,
  type LogMark,
  type LogMarkFrame,
  type LogPosition,
} from "../../../core/protocol/coordinator-frame.ts";
import type { CrashNote } from "../../../core/protocol/crash-note.ts";
import type { StatePart, StatePartWanted, StoredCheckpoint } from "../../../core/protocol/engine-control.ts";
import type { SetAsideItem } from "../../../core/protocol/set-aside.ts";
import { decodeUsage, UsageTally } from "../../../domain/access/usage-tally.ts";
import { messagesOf, type ShardMessage } from "../../../domain/codec/shard-message.ts";
import type { ByteCursor } from "../../../domain/codec/varint.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { DefinitionTenant, ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { engineOf, partitionOf, serviceSeed } from "../../../domain/placement/partition.ts";
import { storedFlags } from "../../../domain/series/query-only-series.ts";
import { identityHead, identityName } from "../../../domain/series/stream-identity.ts";
import type { ColdStream } from "../cold/cold-streams.ts";
import type { Outbox } from "../report/outbox.ts";
import type { Shard } from "../shard/shard.ts";
import { type Definition, type Section, sectionsOf } from "../unit/work-unit.ts";
import type { BlockMarks } from "./left-out.ts";
import { LogOmissions } from "./log-omissions.ts";
import { handledSum, holdsRefs, NOTHING_HANDLED, readPartitionPart } from "./partition-state.ts";
import { ReplayedRefs } from "./replayed-refs.ts";

/** A log block as the merge of all writers yields it. */
export interface ReplayBlock {
  readonly epoch: number;
  readonly writer: number;
  readonly header: { readonly baseMs: number; readonly kinds: number };
  readonly payload: Uint8Array;
  readonly end: LogPosition;
}

export interface RecoveryOptions {
  readonly engine: number;
  readonly engines: number;
  /** Checkpoints of this engine's partitions. */
  readonly checkpoints: readonly StoredCheckpoint[];
  /** Records and dead letters behind these positions are sent again, and accepted events counted, by engine 0 alone. */
  readonly logMarks: readonly LogMark[];
  /** What threads have thrown over; nothing where it is not given. */
  readonly leaveOut?: readonly CrashNote[];
}

export interface RecoveryDependencies {
  readonly memory: EngineMemory;
  readonly shard: Shard;
  readonly kernel: ShardKernel;
  readonly ingest: IngestExports;
  readonly outbox: Outbox;
  readonly processSlots: ProcessSlots;
  readonly tenantIndex: (name: string) => number;
  readonly askForPart: (wanted: StatePartWanted) => void;
  /** Takes the first scope of a metric, JSON MetricScopeEnvelope. */
  readonly takeScope: (payload: Uint8Array) => void;
}

/** Rows as a section of the log held them, until those of this engine are in STAGING. */
const UNPACKED_ROWS = STAGING + STAGING_BYTES;
/** A part of a state, where the kernel reads it: what lies here otherwise is used once the states are in. */
const RESTORED_PART = STAGING;
const RESTORED_PART_BYTES_MAX = INBOX - STAGING - BODY_PADDING_BYTES;
/** Type of frame as which a section that is the coordinator's is sent. */
const FRAME_OF_SECTION: Readonly<Record<number, number>> = {
  [SECTION_RECORD]: FRAME_RECORD,
  [SECTION_DEAD_LETTER]: FRAME_DEAD_LETTER,
  [SECTION_METADATA]: FRAME_METADATA,
  [SECTION_METRIC_SCOPE]: FRAME_METRIC_SCOPE,
  [SECTION_SERVICE_LABELS]: FRAME_SERVICE_LABELS,
  [SECTION_SPAN_BLOCK]: FRAME_SPAN_BLOCK,
};
/** Whether a block holds history, which comes in no block with anything else. */
export const isHistoryBlock = ({ header }: ReplayBlock) => (header.kinds & BLOCK_HISTORY) !== 0;

const isCovered = (end: LogPosition, covered: LogPosition) =>
  end.segment < covered.segment || (end.segment === covered.segment && end.offset <= covered.offset);

function startsWith(bytes: Uint8Array, head: Uint8Array): boolean {
  for (let i = 0; i < head.length; i++) if (bytes[i] !== head[i]) return false;
  return true;
}

/** A stored checkpoint as its state was read. */
export interface RestoredCheckpoint {
  /** Parts ahead of the last that hold no refs. */
  parts: number;
  readonly nextBlock: number;
  /** Sum of what handlers were given back. */
  handledSum: number;
}

/** Restores one engine's state. */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #dependencies: RecoveryDependencies;
  /** Per partition: the epoch its checkpoint was taken in, and what it covers of each writer then. */
  readonly #covered: Array<{ epoch: number; writers: Map<number, LogPosition> } | undefined> = Array.from({ length: PARTITIONS });
  readonly #refs: ReplayedRefs;
  readonly #omissions: LogOmissions;
  /** Slots by refs of the epochs that checkpoints were taken in. */
  readonly #refsOfCheckpoints = new Map<number, NumberMap>();
  /** Slots of the partition that is being restored, in the order of its state. */
  #slotsByNumber: number[] = [];
  #coldByNumber: number[] = [];
  #asking = 0;
  #askingPart = 0;
  #underWay = 0;
  #restoring = 0;
  /** The tenant of the stream that was seen last, and what the identities of all its streams begin with. */
  #tenant: DefinitionTenant = { tenant: 0, headBytes: 0, serviceSeed: 0 };
  #head: Uint8Array = new Uint8Array(0);
  #epoch = -1;
  /** The one at hand. */
  #block: ReplayBlock | undefined;
  /** End of the last block of each writer, in the epoch being read, that was not sent before, and what was accepted by those blocks. */
  readonly #sentAgain = new Map<number, { end: LogPosition; readonly usage: UsageTally }>();
  /** By partition: what a stop need not write again where nothing comes to it. */
  readonly restored = new Map<number, RestoredCheckpoint>();
  restoredBytes = 0;
  rows = 0;
  records = 0;

  constructor(options: RecoveryOptions, dependencies: RecoveryDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { memory, kernel, ingest, shard, processSlots } = dependencies;
    this.#omissions = new LogOmissions(options.leaveOut ?? [], dependencies);
    const isBlockCovered = (partition: number) => this.#block !== undefined && this.#findCoverage(partition, this.#block);
    this.#refs = new ReplayedRefs({ memory, kernel, ingest, processSlots, cold: shard.cold, isBlockCovered });
  }

  /** What of the logs was left out, besides samples, which are dead letters. */
  get leftOut(): readonly SetAsideItem[] {
    return this.#omissions.found;
  }

  /** Whether every stored state of this engine's partitions has been restored. */
  get isRestored(): boolean {
    return this.#restoring === this.#options.checkpoints.length;
  }

  /** Asks for the next parts of states, a few ahead of what has come. */
  askForStates(): void {
    const { checkpoints } = this.#options;
    while (this.#asking < checkpoints.length && this.#underWay < STATE_PARTS_WANTED_MAX) {
      const { partition, parts } = checkpoints[this.#asking] as StoredCheckpoint;
      this.#dependencies.askForPart({ type: "state-part", partition, part: this.#askingPart });
      this.#underWay++;
      this.#askingPart++;
      if (this.#askingPart <= parts) continue;
      this.#asking++;
      this.#askingPart = 0;
    }
  }

  /** Restores a part; they come in the order in which they were asked for. */
  restore(part: StatePart): void {
    const checkpoint = this.#options.checkpoints[this.#restoring] as StoredCheckpoint;
    if (part.partition !== checkpoint.partition) throw new Error(`a part of partition ${part.partition} came out of order`);
    this.#underWay--;
    this.#dependencies.shard.work.beginState(part.partition);
    if (part.part === 0) this.#begin(checkpoint);
    const partition = this.#dependencies.shard.streams.partition(checkpoint.partition);
    const { bytes } = part;
    partition.stateBytes += bytes.length;
    this.restoredBytes += bytes.length;
    const refs = this.#refsOfCheckpoints.get(checkpoint.epoch) as NumberMap;
    const restored = this.restored.get(part.partition) as RestoredCheckpoint;
    const isLast = part.part === checkpoint.parts;
    if (!isLast && !holdsRefs(bytes)) restored.parts++;
    readPartitionPart(bytes, {
      run: (cursor, isFirst) => this.#restoreRun(checkpoint.partition, cursor, isFirst),
      stream: (identity, cursor) => this.#slotsByNumber.push(this.#restoreStream(checkpoint.partition, identity, cursor)),
      cold: (stream) => this.#coldByNumber.push(this.#restoreCold({ ...stream, partition: checkpoint.partition })),
      ref: (ref, stream, isCold) =>
        refs.set(ref, isCold ? COLD_SLOTS + (this.#coldByNumber[stream] as number) : (this.#slotsByNumber[stream] as number)),
      handler: (kind, piece) => {
        restored.handledSum = handledSum(restored.handledSum, kind, piece);
        this.#dependencies.shard.restoreHandler(kind, checkpoint.partition, piece);
      },
      chunks: (chunks) => {
        if (!partition.restoreChunks(chunks)) throw new Error("a checkpoint holds chunks that this build cannot read");
      },
    });
    this.#dependencies.shard.work.endState();
    if (!isLast) return;
    this.#restoring++;
    partition.isTouched = false;
  }

  #restoreCold(stream: ColdStream): number {
    const { shard } = this.#dependencies;
    const id = shard.cold.add(stream);
    shard.streams.partition(stream.partition).cold.push(id);
    return id;
  }

  #begin({ partition: number, epoch, vector, nextBlock, generation, nextSerial }: StoredCheckpoint): void {
    const partition = this.#dependencies.shard.streams.partition(number);
    partition.nextBlock = nextBlock;
    this.restored.set(number, { parts: 0, nextBlock, handledSum: NOTHING_HANDLED });
    partition.nextSerial = nextSerial;
    this.#coldByNumber = [];
    partition.generation = generation;
    this.#slotsByNumber = [];
    if (!this.#refsOfCheckpoints.has(epoch)) this.#refsOfCheckpoints.set(epoch, new NumberMap());
    this.#covered[number] = { epoch, writers: new Map(vector.map((mark) => [mark.lane, mark])) };
  }

  /** Streams of a part, as many as the kernel takes; the first call puts the part where the kernel reads it. */
  #restoreRun(partition: number, cursor: ByteCursor, isFirst: boolean): Uint8Array | undefined {
    const { shard, kernel, memory } = this.#dependencies;
    const slots = this.#slotsByNumber;
    if (cursor.end > RESTORED_PART_BYTES_MAX) return undefined;
    if (isFirst) memory.bytes.set(cursor.bytes, RESTORED_PART);
    const taken = shard.streams.restoreRun({
      pointer: RESTORED_PART + cursor.at,
      bytes: cursor.end - cursor.at,
      previous: isFirst ? -1 : (slots.at(-1) as number),
      partition,
      tenant: this.#tenant,
      restored: (slot) => slots.push(slot),
    });
    cursor.at += taken;
    if (taken === 0) return undefined;
    const last = slots.at(-1) as number;
    return memory.slice(kernel.records.identityAddress(last), kernel.records.identityBytes(last));
  }

  #restoreStream(partition: number, identity: Uint8Array, cursor: ByteCursor): number {
    const { shard, kernel } = this.#dependencies;
    const tenant = this.#tenantOf(identity);
    const hash = this.#identityHash(identity);
    const flags = storedFlags(identityName(Buffer.from(identity).toString("utf8")));
    const slot = shard.streams.restore({ ref: 0, partition, flags, tenant, hash, identity });
    if (slot < 0) throw new Error(`engine ${this.#options.engine} cannot hold the streams of its partitions; start with more engines`);
    if (!kernel.unpack(slot, cursor)) throw new Error("a checkpoint holds a stream that this build cannot read");
    return slot;
  }

  /** Index of the tenant that an identity names: mostly that of the one before. */
  #tenantOf(identity: Uint8Array): number {
    if (this.#head.length === 0 || !startsWith(identity, this.#head))
      this.#takeTenant(identityName(Buffer.from(identity.buffer, identity.byteOffset, identity.byteLength).toString()).tenant);
    return this.#tenant.tenant;
  }

  #identityHash(identity: Uint8Array): Uint8Array {
    const { memory, ingest } = this.#dependencies;
    memory.bytes.set(identity, SCRATCH);
    memory.bytes.fill(0, SCRATCH + identity.byteLength, SCRATCH + identity.byteLength + 64);
    const at = ingest.identityHash(SCRATCH, identity.byteLength);
    return memory.bytes.slice(at, at + 16);
  }

  /** Applies this engine's share of one block. Whoever calls ends the block in the trace, once all that follows of it is done. */
  apply(block: ReplayBlock): void {
    this.#dependencies.shard.work.beginBlock(block.epoch, block.writer, block.end);
    if (block.epoch !== this.#epoch) this.#beginEpoch(block.epoch);
    this.#block = block;
    this.#refs.beginBlock();
    const sends = this.#options.engine === 0 && !this.#isSent(block);
    if (sends) this.#skipWriter(block);
    const marks = this.#omissions.marksOf(block);
    for (const section of sectionsOf(block.payload)) {
      this.#dependencies.shard.work.section = section.kind;
      const isOpaque = FRAME_OF_SECTION[section.kind] !== undefined || section.kind === SECTION_USAGE;
      if (marks !== undefined && (marks.isAll || !isOpaque) && this.#omissions.takes(section, block, marks)) continue;
      if (section.kind === SECTION_DEFINE) this.#define(section.payload);
      else if (section.kind === SECTION_PACKED_ROWS) this.#applyRows(section.payload, block);
      else if (section.kind >= SECTION_MESSAGES) this.#takeMessages(section, block);
      else if (sends) this.#sendAgain(section.kind, section.payload, block);
      if (section.kind === SECTION_METRIC_SCOPE) this.#dependencies.takeScope(section.payload);
    }
    this.#dependencies.shard.work.section = null;
  }

  /** To be called once after the last block. */
  finish(): void {
    this.#markWriters();
    this.#refs.forget();
  }

  /**
   * Whether the coordinator has stored what the block holds for it: it is behind its writer's mark, or of an epoch before that of partition 0's checkpoint. That
   * partition is engine 0's in every epoch, whose checkpoints follow all that its start has sent again.
   */
  #isSent(block: ReplayBlock): boolean {
    const first = this.#covered[0];
    if (first !== undefined && first.epoch > block.epoch) return true;
    const mark = this.#options.logMarks.find(({ epoch, lane }) => epoch === block.epoch && lane === block.writer);
    return mark !== undefined && isCovered(block.end, mark);
  }

  #skipWriter({ writer, end }: ReplayBlock): void {
    const known = this.#sentAgain.get(writer);
    if (known === undefined) this.#sentAgain.set(writer, { end, usage: new UsageTally() });
    else known.end = end;
  }

  /** Marks of the epoch that was read: what was sent again is not sent once more by the next start, and its events are counted once. */
  #markWriters(): void {
    for (const [writer, { end, usage }] of this.#sentAgain) {
      const frame: LogMarkFrame = { mark: { epoch: this.#epoch, lane: writer, ...end }, usage: usage.entries };
      this.#dependencies.outbox.sendJson(FRAME_LOG_MARK, frame);
    }
    this.#sentAgain.clear();
  }

  #beginEpoch(epoch: number): void {
    this.#markWriters();
    this.#epoch = epoch;
    this.#refs.beginEpoch(this.#refsOfCheckpoints.get(epoch) ?? new NumberMap());
    this.#refsOfCheckpoints.delete(epoch);
  }

  #define(payload: Uint8Array): void {
    const bound = (ref: number, slot: number) => this.#refs.bind(ref, slot);
    this.#dependencies.shard.streams.replay(
      payload,
      () => this.#tenant,
      bound,
      (definition) => this.#defineOne(definition),
    );
  }

  /** A definition that the kernel leaves: another tenant's, of another kind than before, or with an escape in its service's name. */
  #defineOne(definition: Definition): void {
    const { shard, tenantIndex } = this.#dependencies;
    const name = identityName(Buffer.from(definition.identity).toString("utf8"));
    if (partitionOf(name.tenant, name.serviceId) !== definition.partition)
      throw new Error("a definition in the log names the wrong partition");
    const tenant = tenantIndex(name.tenant);
    // A definition that a checkpoint covers only names its ref: the stream's kind may have changed since.
    const known = this.#refs.isCovered(definition.partition) ? shard.streams.findAny(definition.hash, tenant) : -1;
    this.#refs.bind(definition.ref, known >= 0 ? known : shard.streams.recover({ ...definition, tenant }));
    if (tenant !== this.#tenant.tenant || this.#head.length === 0) this.#takeTenant(name.tenant);
  }

  /** Lets the kernel take the definitions of this tenant that follow. */
  #takeTenant(name: string): void {
    const { memory, tenantIndex } = this.#dependencies;
    this.#head = new TextEncoder().encode(identityHead(name));
    const headBytes = this.#head.length <= TENANT_HEAD_BYTES ? this.#head.length : 0;
    memory.bytes.set(this.#head.subarray(0, headBytes), TENANT_HEAD);
    this.#tenant = { tenant: tenantIndex(name), headBytes, serviceSeed: serviceSeed(name) };
  }

  /** Applies the rows that are this engine's and not covered. */
  #applyRows(payload: Uint8Array, block: ReplayBlock): void {
    const translated = this.#refs.translate(UNPACKED_ROWS, this.#unpack(payload), STAGING);
    const marks = this.#omissions.marksOf(block);
    const items = marks?.items(SECTION_PACKED_ROWS);
    const rows = items === undefined ? translated : this.#omissions.rows(STAGING, translated, items, block, marks as BlockMarks);
    this.rows += rows;
    const arrivalMs = isHistoryBlock(block) ? ARRIVAL_HISTORY : 0;
    if (rows > 0) this.#dependencies.shard.applyRows({ pointer: STAGING, rows, baseMs: block.header.baseMs, arrivalMs });
  }

  /** Messages of this engine's partitions that no checkpoint covers, behind the block's rows. */
  #takeMessages({ kind, payload }: Section, block: ReplayBlock): void {
    const { engine, engines } = this.#options;
    const marks = this.#omissions.marksOf(block);
    for (const message of messagesOf(payload)) {
      if (engineOf(message.partition, engines) !== engine || this.#refs.isCovered(message.partition)) continue;
      if (marks !== undefined && this.#takesMessage(kind, message, block, marks)) continue;
      this.#dependencies.shard.takeMessage(kind, message.partition, message.payload, { baseMs: block.header.baseMs, arrivalMs: 0 });
    }
  }

  #takesMessage(kind: number, { partition, payload }: ShardMessage, block: ReplayBlock, marks: BlockMarks): boolean {
    const item = this.#dependencies.shard.items.message(partition, payload);
    return this.#omissions.takesMessage(kind, item, payload, block, marks);
  }

  /** Unpacks the rows of a section, behind the area that they are gathered in; answers how many. */
  #unpack(payload: Uint8Array): number {
    const { memory, ingest } = this.#dependencies;
    memory.bytes.set(payload, PACKED_ROWS);
    const rows = ingest.unpackRows(PACKED_ROWS, payload.byteLength, UNPACKED_ROWS, WORK_ROWS_MAX);
    if (rows > WORK_ROWS_MAX) throw new Error("a log section holds more rows than one unit of work may");
    return rows;
  }

  #findCoverage(partition: number, block: ReplayBlock): boolean {
    const covered = this.#covered[partition];
    if (covered === undefined || covered.epoch < block.epoch) return false;
    if (covered.epoch > block.epoch) return true;
    const position = covered.writers.get(block.writer);
    return position !== undefined && isCovered(block.end, position);
  }

  #sendAgain(kind: number, payload: Uint8Array, block: ReplayBlock): void {
    if (kind === SECTION_USAGE) {
      this.#sentAgain.get(block.writer)?.usage.addAll(decodeUsage(payload));
      return;
    }
    const frame = FRAME_OF_SECTION[kind];
    if (frame === undefined) throw new Error(`unknown section ${kind} in the log`);
    this.records++;
    // A copy: the reader fills its buffer anew while this waits. (`slice` of a Buffer would be a view.)
    this.#dependencies.outbox.send(frame, new Uint8Array(payload));
  }
}

/** Whose logs are to be read, and what is stored of it. */
export interface ReplayStartOptions {
  readonly engine: number;
  readonly engines: number;
  /** Checkpoints of this engine's partitions. */
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly logMarks: readonly LogMark[];
}

/**
 * Where reading may begin: per (epoch, writer) the lowest position that any of the checkpoints covers, and for engine 0, which sends records again,
 * also the log marks. A writer that one checkpoint does not name is read from its beginning; so is everything while a partition has no checkpoint.
 */
export function replayStart({ engine, engines, checkpoints, logMarks }: ReplayStartOptions): LogMark[] {
  const epochs = new Set(checkpoints.map(({ epoch }) => epoch));
  const [epoch] = epochs;
  if (epochs.size !== 1 || epoch === undefined || checkpoints.length < partitionsOf(engine, engines)) return [];
  const lowest = new Map<number, LogMark>();
  for (const mark of (checkpoints[0] as StoredCheckpoint).vector) {
    const marks = checkpoints.map(({ vector }) => vector.find((one) => one.lane === mark.lane));
    if (engine === 0) marks.push(logMarks.find((one) => one.epoch === epoch && one.lane === mark.lane));
    if (marks.some((one) => one === undefined)) continue;
    lowest.set(
      mark.lane,
      (marks as LogMark[]).reduce((least, one) => (isCovered(one, least) ? one : least)),
    );
  }
  return [...lowest.values()];
}

function partitionsOf(engine: number, engines: number): number {
  let owned = 0;
  for (let partition = 0; partition < PARTITIONS; partition++) owned += engineOf(partition, engines) === engine ? 1 : 0;
  return owned;
}
