// Checkpoints of an engine's partitions, round-robin. A checkpoint names, per writer, the log position that its state covers; it travels in the
// same ring as verdicts and blocks, behind all of them that belong to that state. It is written a part at a time, about 2 ms each, between units
// of work. Its pace follows the log: a round per CHECKPOINT_CYCLE_LOG_BYTES, and never more than one byte for CHECKPOINT_LOG_SHARE bytes of log.
// When nothing has come for a moment, the writer ends its segment and one quick round covers it, so that an idle server keeps no log and a start after it has nothing to
// apply. What has not changed since its checkpoint is not written again: that it covers more of the log is noted, where there is more.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import type { InboxReader } from "../../../adapters/shared-memory/inbox-ring.ts";
import { Uint32List } from "../../../core/collections/uint32-list.ts";
import { CHECKPOINT_WAITING_BYTES_MAX, SLOTS_PER_CHECK_MAX } from "../../../core/config/limits.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import {
  type CheckpointNote,
  FRAME_CHECKPOINT,
  FRAME_CHECKPOINT_NOTE,
  FRAME_CHECKPOINT_PART,
  FRAME_LOG_MARK,
  joinCheckpoint,
  type LogMark,
  type LogMarkFrame,
  type LogPosition,
  type TenantUsage,
} from "../../../core/protocol/coordinator-frame.ts";
import { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { engineOf } from "../../../domain/placement/partition.ts";
import type { ColdStreams } from "../cold/cold-streams.ts";
import type { StreamEviction } from "../cold/stream-eviction.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Outbox } from "../report/outbox.ts";
import type { Shard } from "../shard/shard.ts";
import type { Partition } from "../streams/partition.ts";
import { PartitionStateWriter } from "./partition-state.ts";
import type { Recovery, RestoredCheckpoint } from "./recovery.ts";

/** A quiet engine still checkpoints one partition this often while the round is not complete, so that old segments go away. */
const QUIET_CHECKPOINT_MS = 1_000;
/** Nothing was logged for so long: the server is idle. */
const IDLE_MS = 500;
/** From the end of the writer's segment to the round that covers it, bound: mostly every writer has ended its own before. */
const IDLE_SETTLE_MS = 1_000;
/** Less log than this is not worth a round. */
const IDLE_LOG_BYTES_MIN = 256 * 1024;
/** Wait of a checkpoint for its partition's streams that are on their way back, bound. */
const SETTLE_MS_MAX = 5_000;
/** Interval at which one partition is looked through for idle streams: all of them in about four minutes. */
const IDLE_CHECK_MS = 1_000;
/** Interval at which the writer reports how far its records have been sent. */
const LOG_MARK_MS = 1_000;

export interface CheckpointsOptions {
  readonly epoch: number;
  readonly engine: number;
  readonly engines: number;
  /** Bytes of log after which every partition has been checkpointed once. */
  readonly cycleBytes: number;
  /** Bytes of log for each byte of checkpoints. */
  readonly logShare: number;
  /** Bytes of one part of a state. */
  readonly partBytes: number;
}

export interface CheckpointsDependencies {
  readonly memories: readonly EngineMemory[];
  /** Ends of the rings into this engine, by writer; undefined for its own writer. */
  readonly readers: ReadonlyArray<InboxReader | undefined>;
  readonly shard: Shard;
  readonly eviction: StreamEviction;
  readonly kernel: ShardKernel;
  readonly outbox: Outbox;
  readonly counters: EngineCounters;
  /** End of this writer's own log. */
  readonly logPosition: () => LogPosition;
  /** Events accepted by what this writer has logged since the last call. */
  readonly takeUsage: () => readonly TenantUsage[];
  /** Size of what all writers have logged in this epoch, in bytes; rows count as they are before they are packed. */
  readonly logBytes: () => number;
  /** Ends the segment of this writer's log; false when that cannot be done now. */
  readonly endSegment: () => boolean;
}

/** What the last checkpoint of a partition covers. */
interface Covered extends RestoredCheckpoint {
  /** Of this start: undefined where it is of an earlier one, which keeps an older log. */
  readonly vector: readonly LogPosition[] | undefined;
}

/** A checkpoint under way. */
interface Draft {
  readonly partition: Partition;
  /** It is made for what time alone has changed: streams that are to leave. */
  readonly isForIdle: boolean;
  readonly vector: readonly LogMark[];
  /** Positions of the rings that hold everything up to the vector. */
  readonly awaited: ReadonlyArray<number | undefined>;
  isWriting: boolean;
  /** Streams are still taken out of memory. */
  isEvicting: boolean;
  /** Streams in the store that no ref will name, and that the store will not hold, once this checkpoint is written. */
  gone: readonly number[];
  /** Number of the partition's `returned` among them. */
  returned: number;
  parts: number;
  bytes: number;
}

/** Decides when and writes what, for one engine. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #dependencies: CheckpointsDependencies;
  readonly #owned: number[];
  readonly #writer: PartitionStateWriter;
  /** The frame of a part, on its way into the ring. */
  readonly #frame = new ByteWriter();
  readonly #covered = new Map<number, Covered>();
  #draft: Draft | undefined;
  #next = 0;
  /** Log bytes from which on the next checkpoint is due. */
  #dueBytes = 0;
  #cycleStartBytes = 0;
  /** Bytes of state written, and the allowance for the first round, which the log of earlier starts has paid for. */
  #writtenBytes = 0;
  readonly #allowanceBytes: number;
  /** Partitions left in the round that follows the last activity. */
  #left: number;
  /** Partitions left to write before the engine stops; -1 while it does not. */
  #lastOnes = -1;
  /** Log bytes at the last tick and since when they have been the same, and at the last idle round. */
  #seenBytes = 0;
  #seenMs = 0;
  #idleBytes = 0;
  /** When the idle round begins, and partitions left in it. */
  #idleCycleMs = Number.POSITIVE_INFINITY;
  #idleLeft = 0;
  /** Times of the last tick, and of the last tick before a checkpoint began. */
  #nowMs = 0;
  #lastMs = 0;
  #checkedMs = 0;
  #evictionChecks = 0;
  #markedMs = 0;
  #marked: LogPosition = { segment: -1, offset: 0 };

  constructor(
    options: CheckpointsOptions,
    dependencies: CheckpointsDependencies,
    { restored, restoredBytes }: Pick<Recovery, "restored" | "restoredBytes">,
  ) {
    const { kernel, memories } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#allowanceBytes = restoredBytes;
    for (const [partition, checkpoint] of restored) this.#covered.set(partition, { ...checkpoint, vector: undefined });
    this.#writer = new PartitionStateWriter({
      kernel,
      cold: dependencies.shard.cold,
      memory: (memories[options.engine] as EngineMemory).bytes,
      partBytes: options.partBytes,
      handlers: () => dependencies.shard.handlers,
    });
    this.#owned = Array.from({ length: PARTITIONS }, (_, partition) => partition).filter(
      (partition) => engineOf(partition, options.engines) === options.engine,
    );
    this.#left = this.#owned.length;
  }

  /** Begins a checkpoint when one is due by time. To be called now and then. */
  onInterval(nowMs: number): boolean {
    this.#markLog(nowMs);
    this.#nowMs = nowMs;
    if (this.#draft !== undefined || this.#owned.length === 0) return false;
    if (this.#beginIdle(nowMs)) return true;
    const bytes = this.#dependencies.logBytes();
    this.#idle(nowMs, bytes);
    if (bytes - this.#cycleStartBytes > 0 && this.#left === 0) {
      this.#left = this.#owned.length;
      this.#cycleStartBytes = bytes;
    }
    if (this.#left === 0 || nowMs - this.#lastMs < QUIET_CHECKPOINT_MS || !this.#hasCredit(bytes)) return false;
    this.#begin();
    return true;
  }

  /** Ends the segment when nothing has come for a while, then has all partitions written: the earlier segments are covered by that, and go. */
  #idle(nowMs: number, bytes: number): void {
    if (bytes !== this.#seenBytes) {
      this.#seenBytes = bytes;
      this.#seenMs = nowMs;
      this.#idleLeft = 0;
      this.#idleCycleMs = Number.POSITIVE_INFINITY;
    } else if (nowMs >= this.#idleCycleMs || (this.#idleCycleMs < Number.POSITIVE_INFINITY && this.#haveLogsEnded)) {
      this.#idleCycleMs = Number.POSITIVE_INFINITY;
      this.#idleLeft = this.#owned.length;
      this.#left = 0;
      this.#cycleStartBytes = bytes;
      this.#skipCovered();
    } else if (nowMs - this.#seenMs >= IDLE_MS && this.#isWorthIdleCycle(bytes) && this.#dependencies.endSegment()) {
      this.#idleBytes = bytes;
      this.#idleCycleMs = nowMs + IDLE_SETTLE_MS;
    }
  }

  /** Whether every writer's log goes on in a segment that holds nothing yet. */
  get #haveLogsEnded(): boolean {
    return this.#vector().every(({ offset }) => offset === 0);
  }

  /** An idle round writes at most as much state as was logged since the last one. */
  #isWorthIdleCycle(bytes: number): boolean {
    const logged = bytes - this.#idleBytes;
    if (logged < IDLE_LOG_BYTES_MIN) return false;
    const { shard } = this.#dependencies;
    const stateBytes = this.#owned.reduce((sum, number) => sum + shard.streams.partition(number).stateBytes, 0);
    return stateBytes * this.#options.engines <= logged;
  }

  /** A partition with many idle streams does not wait for its turn. */
  #beginIdle(nowMs: number): boolean {
    if (nowMs - this.#checkedMs < IDLE_CHECK_MS || this.#lastOnes >= 0) return false;
    this.#checkedMs = nowMs;
    this.#evictionChecks++;
    const { shard, eviction } = this.#dependencies;
    const number = this.#owned[this.#evictionChecks % this.#owned.length] as number;
    if (!eviction.isDue(shard.streams.partition(number), SLOTS_PER_CHECK_MAX * Math.floor(this.#evictionChecks / this.#owned.length)))
      return false;
    this.#beginWith(number, true);
    return true;
  }

  #hasCredit(logBytes: number): boolean {
    const { logShare, engines } = this.#options;
    const next = this.#dependencies.shard.streams.partition(this.#owned[this.#next] as number).stateBytes;
    return logShare === 0 || this.#writtenBytes + next <= this.#allowanceBytes + logBytes / (logShare * engines);
  }

  /**
   * Goes on with the checkpoint under way, or begins one when that is due by the log; false when there is nothing to do or it has to wait. To be
   * called between units of work.
   */
  step(): boolean {
    if (this.#draft === undefined && this.#isDue) this.#begin();
    const draft = this.#draft;
    if (draft === undefined || this.#dependencies.outbox.waitingBytes > CHECKPOINT_WAITING_BYTES_MAX) return false;
    if (!draft.isWriting && !this.#isSettled(draft)) return this.#giveUp();
    const same = draft.isWriting || draft.isForIdle ? undefined : this.#unchanged(draft.partition);
    if (same !== undefined) this.#note(draft, same);
    else if (draft.isEvicting) draft.isEvicting = this.#evict(draft);
    else this.#write(draft);
    return true;
  }

  /** A partition whose rows wait all the time is left for its next turn, so that the others get theirs. */
  #giveUp(): boolean {
    if (this.#lastOnes < 0 && this.#nowMs - this.#lastMs >= SETTLE_MS_MAX) this.#draft = undefined;
    return false;
  }

  get #isDue(): boolean {
    if (this.#lastOnes >= 0) return this.#lastOnes > 0;
    if (this.#idleLeft > 0) return true;
    return this.#owned.length > 0 && this.#dependencies.logBytes() >= this.#dueBytes;
  }

  /** From now on `step` writes all partitions once more, for an orderly stop. */
  beginLast(): void {
    this.#lastOnes = this.#owned.length;
    this.#skipCovered();
  }

  /** Skips partitions of which nothing new is to be written, where a stop or a quick round writes all. */
  #skipCovered(): void {
    while ((this.#lastOnes > 0 || this.#idleLeft > 0) && this.#isCovered(this.#owned[this.#next] as number)) this.#takeNext();
  }

  #isCovered(number: number): boolean {
    const covered = this.#unchanged(this.#dependencies.shard.streams.partition(number));
    if (covered === undefined) return false;
    const { vector } = covered;
    return this.#vector().every(({ segment, offset }, i) => vector?.[i]?.segment === segment && vector[i].offset === offset);
  }

  /** What the partition's last checkpoint covers, where its state is still that. */
  #unchanged(partition: Partition): Covered | undefined {
    const { number, isTouched, returned, nextBlock } = partition;
    const covered = this.#covered.get(number);
    if (covered === undefined || isTouched || returned.length > 0 || nextBlock !== covered.nextBlock) return undefined;
    const { kernel, eviction } = this.#dependencies;
    if (kernel.hasRows(number) || eviction.forgotten(partition).length > 0) return undefined;
    return this.#writer.handledSumOf(number) === covered.handledSum ? covered : undefined;
  }

  /** Everything up to the draft's vector has been taken, and nothing of it was this partition's. */
  #note({ partition, vector }: Draft, covered: Covered): void {
    const { outbox, counters, logBytes } = this.#dependencies;
    const { number, generation } = partition;
    const { parts } = covered;
    const note: CheckpointNote = { partition: number, generation, epoch: this.#options.epoch, vector, parts };
    outbox.sendJson(FRAME_CHECKPOINT_NOTE, note);
    this.#covered.set(number, { ...covered, vector });
    this.#dueBytes = logBytes() + this.#options.cycleBytes / this.#owned.length;
    this.#draft = undefined;
    this.#skipCovered();
    counters.add("checkpoints", 1);
  }

  /** Streams that have left memory and are not on their way to the store yet: in neither can they be found. */
  get isCarrying(): boolean {
    return this.#draft?.isWriting === true && this.#dependencies.eviction.entries.length > 0;
  }

  /** Whether what `beginLast` began is done. */
  get isDone(): boolean {
    return this.#lastOnes === 0 && this.#draft === undefined;
  }

  /** Tells how far the writer's records have been sent, and what it has counted, whatever the time. */
  markNow(): void {
    this.#mark();
  }

  /**
   * Per writer, a log position that the state will cover: the writer's `placed` word, and behind it the position of the writer's ring, which is to be passed
   * before the state is written. The state may be ahead of it; rows are idempotent by (stream, timestamp), so a replay from there changes nothing.
   */
  #begin(): void {
    this.#beginWith(this.#takeNext(), false);
  }

  /** The partition whose turn it is. */
  #takeNext(): number {
    this.#left = Math.max(0, this.#left - 1);
    if (this.#lastOnes > 0) this.#lastOnes--;
    this.#idleLeft = Math.max(0, this.#idleLeft - 1);
    const number = this.#owned[this.#next] as number;
    this.#next = (this.#next + 1) % this.#owned.length;
    return number;
  }

  /** Per writer the end of what is logged; of another engine's writer what is on its way into this one's ring. */
  #vector(): LogMark[] {
    const { memories, logPosition } = this.#dependencies;
    const { epoch, engine } = this.#options;
    return memories.map((memory, writer) => ({ epoch, lane: writer, ...(writer === engine ? logPosition() : memory.placed()) }));
  }

  #beginWith(number: number, isForIdle: boolean): void {
    this.#lastMs = this.#nowMs;
    const { readers, shard } = this.#dependencies;
    const vector = this.#vector();
    const awaited = readers.map((reader) => reader?.written);
    const partition = shard.streams.partition(number);
    this.#draft = { partition, isForIdle, vector, awaited, isWriting: false, isEvicting: true, gone: [], returned: 0, parts: 0, bytes: 0 };
  }

  /** Rows that wait for a stream are behind the vector too. */
  #isSettled({ awaited, partition }: Draft): boolean {
    if (this.#dependencies.shard.returns.isWaiting(partition.number)) return false;
    return this.#dependencies.readers.every((reader, writer) => reader === undefined || reader.hasRead(awaited[writer] as number));
  }

  /** Takes some idle streams out of memory; false at the end. */
  #evict(draft: Draft): boolean {
    const { eviction, shard, kernel } = this.#dependencies;
    if (!draft.isWriting) {
      draft.isWriting = true;
      draft.partition.isTouched = false;
      kernel.forgetRows(draft.partition.number);
      this.#clearCold(draft, shard.cold);
      eviction.begin();
    }
    if (this.#lastOnes < 0 && eviction.step(draft.partition)) return true;
    draft.partition.generation = (draft.partition.generation + 1) >>> 0;
    this.#writer.begin(draft.partition);
    return false;
  }

  /** Streams that are back, and those that are forgotten, are in this checkpoint no longer. */
  #clearCold(draft: Draft, cold: ColdStreams): void {
    const { partition } = draft;
    const { eviction, counters, shard } = this.#dependencies;
    const forgotten = eviction.forgotten(partition);
    counters.add("streamsForgotten", forgotten.length);
    draft.returned = partition.returned.length;
    draft.gone = [...partition.returned.uint32s, ...forgotten];
    const gone = new Set(draft.gone);
    const retained = new Uint32List();
    for (const id of partition.cold.uint32s) if (!gone.has(id)) retained.push(id);
    partition.cold = retained;
    for (const id of forgotten) {
      shard.changes.forgotten(cold.hash(id));
      cold.forget(id);
    }
  }

  /** One part, or the last one with the header. */
  #write(draft: Draft): void {
    const part = this.#writer.next();
    if (part === undefined) this.#finish(draft);
    else {
      draft.bytes += part.length;
      this.#dependencies.outbox.sendView(FRAME_CHECKPOINT_PART, this.#partFrame(draft, part));
      draft.parts++;
    }
  }

  /** {partition u32, generation u32, part u32} and the part; valid until the next one. */
  #partFrame({ partition, parts }: Draft, part: Uint8Array): Uint8Array {
    const frame = this.#frame;
    frame.at = 0;
    frame.u32(partition.number);
    frame.u32(partition.generation);
    frame.u32(parts);
    frame.copy(part);
    return frame.bytes.subarray(0, frame.at);
  }

  #finish(draft: Draft): void {
    const { partition, vector, parts } = draft;
    const { outbox, counters, shard } = this.#dependencies;
    const { epoch, engines, logShare, cycleBytes } = this.#options;
    shard.chunks.storePartition(partition.number);
    const last = this.#writer.last();
    const { number, nextBlock, generation, nextSerial } = partition;
    const changes = this.#coldChanges(draft);
    const streams = this.#writer.streams;
    const header = { partition: number, epoch, vector, nextBlock, generation, parts, streams, nextSerial, coldBytes: changes.length };
    outbox.send(FRAME_CHECKPOINT, joinCheckpoint(header, last, changes));
    const returned = new Uint32List();
    for (const id of partition.returned.uint32s.subarray(draft.returned)) returned.push(id);
    partition.returned = returned;
    for (const id of draft.gone) shard.cold.remove(id);
    this.#covered.set(number, { vector, parts, nextBlock, handledSum: this.#writer.handledSum });
    counters.set("streamsCold", shard.cold.size);
    const bytes = draft.bytes + last.length + changes.length;
    partition.stateBytes = bytes;
    this.#writtenBytes += bytes;
    this.#dueBytes = this.#dependencies.logBytes() + Math.max(cycleBytes / this.#owned.length, bytes * logShare * engines);
    this.#draft = undefined;
    this.#skipCovered();
    counters.add("checkpoints", 1);
    counters.add("checkpointBytes", bytes);
  }

  /** Serials of the streams that the store is to drop, and the entries of those that have left. */
  #coldChanges({ partition, gone, returned }: Draft): Uint8Array {
    const { eviction, shard } = this.#dependencies;
    const serials = [...gone, ...partition.returned.uint32s.subarray(returned)].map((id) => shard.cold.serial(id));
    const { entries } = eviction;
    if (serials.length + entries.length === 0) return entries;
    const changes = new Uint8Array(4 + 4 * serials.length + entries.length);
    const view = new DataView(changes.buffer);
    view.setUint32(0, serials.length, true);
    serials.forEach((serial, index) => view.setUint32(4 + 4 * index, serial, true));
    changes.set(entries, 4 + 4 * serials.length);
    return changes;
  }

  #markLog(nowMs: number): void {
    if (nowMs - this.#markedMs < LOG_MARK_MS) return;
    if (this.#mark()) this.#markedMs = nowMs;
  }

  /** False when nothing was logged since the last mark. */
  #mark(): boolean {
    const position = this.#dependencies.logPosition();
    if (position.segment === this.#marked.segment && position.offset === this.#marked.offset) return false;
    this.#marked = position;
    const mark: LogMark = { epoch: this.#options.epoch, lane: this.#options.engine, ...position };
    const frame: LogMarkFrame = { mark, usage: this.#dependencies.takeUsage() };
    this.#dependencies.outbox.sendJson(FRAME_LOG_MARK, frame);
    return true;
  }
}
