// The shard: owns the stream records of its partitions, applies rows in the order they come, and turns what the kernel reports into
// verdict frames, chunks and counters. Which streams there are is in stream-registry.ts; queries find them by service in service-index.ts.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import type { InboxFrame } from "../../../adapters/shared-memory/inbox-ring.ts";
import { LATE_IN_RING_MS_MAX } from "../../../core/config/limits.ts";
import {
  EVENT_BUCKETS_DUE,
  EVENT_CHUNK_DUE,
  EVENT_CLOSE,
  EVENT_ENDED,
  EVENT_LATE,
  EVENT_LATE_START,
  EVENT_NO_COUNTER,
  EVENT_OPEN,
  EVENT_OWED,
  EVENT_PARKED,
  EVENT_REPLACE,
  EVENT_RESET,
  EVENT_SENT,
  EVENT_UPDATE,
} from "../../../core/layout/kernel-event.ts";
import { COLD_SLOTS, DEFINITIONS, SCRATCH, STAGING, STAGING_BYTES } from "../../../core/layout/memory-map.ts";
import {
  ARRIVAL_HISTORY,
  ROW_BYTES,
  ROW_OFFSET,
  ROW_REF,
  ROW_VALUE,
  SECTION_DEFINE,
  SECTION_MESSAGES,
  SECTION_PACKED_ROWS,
} from "../../../core/layout/row-frame.ts";
import { SR_HASH } from "../../../core/layout/stream-record.ts";
import { episodeKind, type StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { StreamsWanted } from "../../../core/protocol/engine-control.ts";
import type { WatchdogSettings } from "../../../core/protocol/watchdog-settings.ts";
import { encodeEpisode } from "../../../domain/anomaly/episode-codec.ts";
import { episodeFrame } from "../../../domain/anomaly/episode-frame.ts";
import { messagesOf } from "../../../domain/codec/shard-message.ts";
import type { LongBaselineSays } from "../../../domain/detection/departure/own-tail.ts";
import { endEpisodes } from "../../../domain/detection/ended-episodes.ts";
import type { DeclarationRule } from "../../../domain/detection/thresholds.ts";
import { gaugeOf } from "../../../domain/kernel/guessed-kind.ts";
import type { ShardEvent } from "../../../domain/kernel/shard-events.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { Correction } from "../../../domain/kernel/stream-records.ts";
import { isOfCounts } from "../../../domain/series/classification.ts";
import { storedFlags } from "../../../domain/series/query-only-series.ts";
import { identityName } from "../../../domain/series/stream-identity.ts";
import { ColdStreams } from "../cold/cold-streams.ts";
import { StreamReturns } from "../cold/stream-returns.ts";
import type { DetectionStages } from "../report/detection-stages.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Outbox } from "../report/outbox.ts";
import type { Partition } from "../streams/partition.ts";
import type { ServiceIndex } from "../streams/service-index.ts";
import { StreamChanges } from "../streams/stream-changes.ts";
import { StreamProfiles } from "../streams/stream-profiles.ts";
import { decodeDefinition, type WorkUnit } from "../unit/work-unit.ts";
import { HistoryRun } from "./history-run.ts";
import type { MessageArrival, MessageHandler } from "./message-handler.ts";
import { OwedEpisodes } from "./owed-episodes.ts";
import { StreamChunks } from "./stream-chunks.ts";
import { StreamRegistry } from "./stream-registry.ts";
import { tracedItems } from "./traced-items.ts";
import { type TracedItems, WorkTrace } from "./work-trace.ts";

export interface ShardOptions extends DeclarationRule {
  readonly engine: number;
  readonly engines: number;
  /** Settings for whom nothing else is set. */
  readonly settings: WatchdogSettings;
  /** Most bytes of a block of chunks. */
  readonly blockBytes: number;
}

export interface ShardDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly processSlots: ProcessSlots;
  readonly outbox: Outbox;
  readonly counters: EngineCounters;
  readonly stages: DetectionStages;
  readonly services: ServiceIndex;
  readonly tenantIndex: (name: string) => number;
  readonly askForStreams: (wanted: StreamsWanted) => void;
  readonly monotonicMs: () => number;
}

/** Rows that came with one frame, in place. */
export interface RowBatch {
  readonly pointer: number;
  readonly rows: number;
  readonly baseMs: number;
  readonly arrivalMs: number;
}

/** Exponent of an infinity or a NaN, which markers are, in the upper half of a value. */
const NOT_FINITE = 0x7ff00000;
/** Rows behind a finding in which a correction of its value is looked for, 1 ns each: those of one sender's series lie near each other. */
const CORRECTIONS_AHEAD_MAX = 1_024;

type EpisodeTail = (slot: number, side: 1 | -1) => LongBaselineSays | undefined;

/** One engine's shard. */
export class Shard {
  readonly #options: ShardOptions;
  readonly #dependencies: ShardDependencies;
  readonly streams: StreamRegistry;
  /** Streams that are not in memory, and the rows that wait for them. */
  readonly cold: ColdStreams;
  readonly returns: StreamReturns;
  readonly profiles: StreamProfiles;
  /** What is at hand, and the names of its parts. */
  readonly work = new WorkTrace();
  /** Where the rows of the batch at hand end. */
  #endOfRows = 0;
  /** Which streams came and went last. */
  readonly changes = new StreamChanges();
  readonly items: TracedItems;
  /** Episodes that are still to be told. */
  readonly owed: OwedEpisodes;
  /** What of its streams is stored. */
  readonly chunks: StreamChunks;
  /** By the kind of their messages. */
  readonly #handlers = new Map<number, MessageHandler>();
  #collectBuckets: () => void;
  #learnHistory: (slot: number) => void = () => undefined;
  #reportsNow: EpisodeTail = () => undefined;
  #isHistory = false;
  /** The stream that was named last, and its hash: whoever looks at a stream asks for its name several times. */
  #name: StreamName = { tenant: "", environment: "", serviceId: "", metricName: "", attributes: {} };
  readonly #named = new Uint32Array(4);
  readonly #history: HistoryRun;

  constructor(options: ShardOptions, dependencies: ShardDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.chunks = new StreamChunks({ ...dependencies, partitionOf: (slot) => this.partitionOf(slot), hashOf: (slot) => this.hashOf(slot) });
    this.owed = new OwedEpisodes({ ...dependencies, records: dependencies.kernel.records, report: (event) => this.#report(event) });
    this.#collectBuckets = () => dependencies.kernel.bucketSamplesReset();
    this.cold = new ColdStreams(dependencies.memory);
    this.items = tracedItems({ ...dependencies, hashOf: (slot) => this.hashOf(slot) });
    this.#history = new HistoryRun({ ...dependencies, chunks: this.chunks });
    const adoptKind = (slot: number, flags: number) => this.#adoptKind(slot, flags);
    this.profiles = new StreamProfiles(options.settings, {
      ...dependencies,
      nameOf: (slot) => this.nameOf(slot),
      endEpisodes: (slot) => this.endEpisodes(slot),
    });
    const created = (slot: number, isRestored: boolean) => {
      this.profiles.assign(slot);
      if (!isRestored) this.#noteService(slot);
    };
    this.streams = new StreamRegistry(options, { ...dependencies, cold: this.cold, changes: this.changes, adoptKind, created });
    this.returns = new StreamReturns({
      ...dependencies,
      cold: this.cold,
      partition: (number) => this.streams.partition(number),
      applyRows: (batch) => this.applyRows(batch),
      restartStream: (slot, flags) => this.#restart(slot, flags),
      createStream: ({ hash, identity, partition }) => {
        const name = identityName(Buffer.from(identity).toString("utf8"));
        const tenant = dependencies.tenantIndex(name.tenant);
        return this.streams.createReturned({ ref: 0, partition, flags: storedFlags(name), tenant, hash, identity });
      },
    });
  }

  /** Applies a frame from another ingest. */
  applyFrame(frame: InboxFrame): void {
    if ((frame.kind & 0xff) === SECTION_DEFINE) {
      this.work.section = SECTION_DEFINE;
      this.streams.take(frame.pointer, frame.bytes);
      return;
    }
    const { pointer, baseMs, arrivalMs } = frame;
    const kind = frame.kind & 0xff;
    if (kind >= SECTION_MESSAGES) {
      const section = this.#dependencies.memory.bytes.subarray(pointer, pointer + frame.bytes);
      for (const { partition, payload } of messagesOf(section)) this.takeMessage(kind, partition, payload, { baseMs, arrivalMs });
      return;
    }
    this.applyRows({ pointer, rows: frame.bytes / ROW_BYTES, baseMs, arrivalMs });
  }

  /** Has a handler take the messages of its kind from now on. */
  addHandler(handler: MessageHandler): void {
    this.#handlers.set(handler.kind, handler);
  }

  /** Has samples of histogram buckets read by `collect` whenever their list is full; it may not apply rows. */
  collectBucketsWith(collect: () => void): void {
    this.#collectBuckets = collect;
  }

  /** Has `learn` look at the rings of streams that take history, before their values leave them. */
  learnHistoryWith(learn: (slot: number) => void): void {
    this.#learnHistory = learn;
  }

  /** Has `reportsNow` say of a value that layer 1 has declared whether the stream's long baseline tells people of it at once. */
  reportAtOnceWith(reportsNow: EpisodeTail): void {
    this.#reportsNow = reportsNow;
  }

  get handlers(): Iterable<MessageHandler> {
    return this.#handlers.values();
  }

  /** Takes a message. Throws when no handler of this build knows its kind. */
  takeMessage(kind: number, partition: number, payload: Uint8Array, arrival: MessageArrival): void {
    this.work.section = kind;
    this.streams.partition(partition).isTouched = true;
    this.work.beginMessage(partition, payload);
    this.#handler(kind).take(partition, payload, arrival);
    this.work.endMessage();
  }

  /** Gives a handler back what a checkpoint kept of it. */
  restoreHandler(kind: number, partition: number, piece: Uint8Array): void {
    this.#handler(kind).restore(partition, piece);
  }

  #handler(kind: number): MessageHandler {
    const handler = this.#handlers.get(kind);
    if (handler === undefined) throw new Error(`messages of kind ${kind} are unknown to this build`);
    return handler;
  }

  /** Takes the messages of a committed unit that are for this engine, behind its rows. */
  takeOwnMessages(unit: WorkUnit): void {
    for (const [kind, section] of unit.messageFrames(this.#options.engine, Number.POSITIVE_INFINITY)) {
      for (const { partition, payload } of messagesOf(section)) this.takeMessage(kind, partition, payload, unit);
    }
  }

  /** Takes the definitions of a committed unit, of which some may be other engines'. */
  define(unit: WorkUnit): void {
    this.work.section = SECTION_DEFINE;
    if (unit.areaBytes > 0) this.streams.take(DEFINITIONS, unit.areaBytes);
    for (const definition of unit.overflow) this.streams.takeOne(decodeDefinition(new DataView(definition.buffer), 0));
  }

  /** Where rows of the partition wait, the kind changes behind them. */
  #adoptKind(slot: number, flags: number): void {
    const isWaiting = slot >= COLD_SLOTS || this.returns.isWaiting(this.#dependencies.kernel.records.partition(slot));
    if (isWaiting) this.returns.parkKind(slot, flags);
    else this.#restart(slot, flags);
  }

  /** A sender may change its mind about a name being a counter: the stream then starts anew. */
  #restart(slot: number, flags: number): void {
    this.owed.reportAll();
    this.#dependencies.counters.add("kindChanges", 1);
    this.partitionOf(slot).isTouched = true;
    this.chunks.keepOpen(slot);
    this.chunks.take(slot);
    this.#dependencies.kernel.records.restart(slot, flags);
    this.#dependencies.kernel.markBucket(slot);
  }

  identityOf(slot: number): Uint8Array {
    const { kernel, memory } = this.#dependencies;
    const at = kernel.records.identityAddress(slot);
    return memory.bytes.slice(at, at + kernel.records.identityBytes(slot));
  }

  nameOf(slot: number): StreamName {
    const { kernel, memory } = this.#dependencies;
    const numbers = memory.uint32s;
    const hash = (kernel.records.address(slot) + SR_HASH) >>> 2;
    const named = this.#named;
    if (numbers[hash] === named[0] && numbers[hash + 1] === named[1] && numbers[hash + 2] === named[2] && numbers[hash + 3] === named[3])
      return this.#name;
    this.#name = identityName(memory.textAt(kernel.records.identityAddress(slot), kernel.records.identityBytes(slot)));
    for (let i = 0; i < 4; i++) named[i] = numbers[hash + i] as number;
    return this.#name;
  }

  hashOf(slot: number): Uint8Array {
    const at = this.#dependencies.kernel.records.address(slot) + SR_HASH;
    return this.#dependencies.memory.bytes.slice(at, at + 16);
  }

  partitionOf(slot: number): Partition {
    return this.streams.partition(this.#dependencies.kernel.records.partition(slot));
  }

  /** Applies rows; the kernel returns after every row that has an event, so that this side acts before the stream's next row. */
  applyRows(batch: RowBatch): void {
    const { kernel } = this.#dependencies;
    this.#isHistory = batch.arrivalMs === ARRIVAL_HISTORY;
    this.work.section = SECTION_PACKED_ROWS;
    for (let done = 0; done < batch.rows; ) {
      done += kernel.applyRows(batch.pointer + done * ROW_BYTES, batch.rows - done, batch.baseMs, batch.arrivalMs);
      const events = kernel.eventsCount();
      if (events === 0) continue;
      this.work.row = batch.pointer + (done - 1) * ROW_BYTES;
      const only = events === 1 ? kernel.events.kind(0) : 0;
      const isParked = only === EVENT_PARKED;
      if (
        only === EVENT_NO_COUNTER ||
        only === EVENT_OWED ||
        (isParked && !this.returns.park(batch.pointer + (done - 1) * ROW_BYTES, batch))
      )
        done--;
      this.#endOfRows = batch.pointer + batch.rows * ROW_BYTES;
      for (let i = 0; i < events; i++) this.#takeEvent(i);
      this.work.row = 0;
      kernel.eventsReset();
    }
    if (!this.#isHistory) return;
    this.#history.flush();
    this.#learnBatch(batch);
  }

  #learnBatch({ pointer, rows }: RowBatch): void {
    const { kernel } = this.#dependencies;
    let last = -1;
    for (let row = 0; row < rows; row++) {
      const slot = kernel.slotOfRef(this.#cell(pointer + row * ROW_BYTES + ROW_REF));
      if (slot >= 0 && slot < COLD_SLOTS && slot !== last) this.#learnHistory(slot);
      last = slot;
    }
  }

  /** Applies this engine's own share of a unit, from the staging area. */
  applyStaged(unit: Pick<RowBatch, "baseMs" | "arrivalMs">, rowBytes: number, self: number): void {
    const { baseMs, arrivalMs } = unit;
    this.applyRows({ pointer: STAGING + self * STAGING_BYTES, rows: rowBytes / ROW_BYTES, baseMs, arrivalMs });
  }

  /** Most events are chunks that are due: no object is made for those. */
  #takeEvent(index: number): void {
    const { kernel } = this.#dependencies;
    const kind = kernel.events.kind(index);
    if (kind === EVENT_CHUNK_DUE) this.#takeDueChunk(kernel.events.slot(index));
    else if (kind === EVENT_SENT || kind === EVENT_RESET) this.chunks.keepSent(index);
    else this.#handle(kernel.event(index));
  }

  #handle(event: ShardEvent): void {
    if (event.kind === EVENT_LATE) this.#takeLate(event);
    else if (event.kind === EVENT_LATE_START) this.#history.takeStart(event.slot, event.timeMs, event.value);
    else if (event.kind === EVENT_BUCKETS_DUE) this.#collectBuckets();
    else if (event.kind === EVENT_REPLACE) this.#replace(event);
    else if (event.kind === EVENT_ENDED) this.endEpisodes(event.slot);
    else if (event.kind === EVENT_NO_COUNTER) this.#restart(event.slot, gaugeOf(this.#dependencies.kernel.records.flags(event.slot)));
    else if (event.kind === EVENT_OWED) this.owed.reportTenant(this.#dependencies.kernel.records.tenant(event.slot));
    else if (event.kind === EVENT_OPEN && this.#isCorrectedBehind()) endEpisodes(this.#dependencies.kernel, event.slot);
    else if (event.kind === EVENT_OPEN || event.kind === EVENT_UPDATE || event.kind === EVENT_CLOSE) {
      this.owed.take(event, this.work.row - STAGING - this.#options.engine * STAGING_BYTES);
    }
  }

  /** Whether another value of the same time follows the row at hand in its batch, as where two senders have one series: what is corrected at once is no finding. */
  #isCorrectedBehind(): boolean {
    const at = this.work.row;
    const end = Math.min(this.#endOfRows, at + CORRECTIONS_AHEAD_MAX * ROW_BYTES);
    const isSame = (row: number, part: number) => this.#cell(row + part) === this.#cell(at + part);
    for (let row = at + ROW_BYTES; row < end; row += ROW_BYTES) {
      if (!isSame(row, ROW_REF) || !isSame(row, ROW_OFFSET)) continue;
      const isNumber = (this.#cell(row + ROW_VALUE + 4) & NOT_FINITE) !== NOT_FINITE;
      if (isNumber && !(isSame(row, ROW_VALUE) && isSame(row, ROW_VALUE + 4))) return true;
    }
    return false;
  }

  /** The unsigned 32-bit number at an address of shared memory. */
  #cell(address: number): number {
    return this.#dependencies.memory.uint32s[address >>> 2] as number;
  }

  /** The kernel takes such a chunk itself, except of history, which is looked at before, and where it does not fit the block. */
  #takeDueChunk(slot: number): void {
    if (this.#isHistory) this.#learnHistory(slot);
    this.chunks.take(slot, !this.#isHistory);
  }

  /** A late value goes into the ring in its place when it is recent, and into the store where the ring does not reach. */
  #takeLate({ slot, timeMs, value, arrivalMs }: ShardEvent): void {
    const { kernel } = this.#dependencies;
    if (arrivalMs === ARRIVAL_HISTORY && this.#history.add(slot, timeMs, value)) return;
    if (kernel.records.lastTimeMs(slot) - timeMs > LATE_IN_RING_MS_MAX) {
      this.chunks.storeValue(slot, timeMs, value);
      return;
    }
    let correction = kernel.insertLate(slot, timeMs, value);
    // Only for a value that needs the room: one that comes again must leave the stream as it is.
    if (correction.result === "too-old-for-ring" && kernel.records.isRingFullOfUnchunked(slot)) {
      this.chunks.take(slot);
      correction = kernel.insertLate(slot, timeMs, value);
    }
    this.#settle(slot, timeMs, correction);
  }

  #replace({ slot, timeMs, value }: ShardEvent): void {
    this.chunks.keepCumulative(slot, timeMs, value);
    this.#settle(slot, timeMs, this.#dependencies.kernel.replaceNewest(slot, timeMs, value));
  }

  #settle(slot: number, timeMs: number, correction: Correction): void {
    const stored = correction.result === "stored" || correction.result === "too-old-for-ring";
    if (stored && correction.chunked) this.chunks.storeValue(slot, timeMs, correction.value);
  }

  /** A new stream of a known service is judged by the age of that. */
  #noteService(slot: number): void {
    const { kernel, services } = this.#dependencies;
    const sinceMs = services.sinceMs(slot, (of) => kernel.records.serviceSinceMs(of));
    if (Number.isFinite(sinceMs)) kernel.records.noteServiceSince(slot, sinceMs);
  }

  /** `isEnd`: that nobody has seen what closes recover. */
  #report(event: ShardEvent, isEnd = false): void {
    const { kernel, outbox, stages } = this.#dependencies;
    const { slot } = event;
    const frame = episodeFrame(event, {
      identity: this.identityOf(slot),
      hash: this.hashOf(slot),
      streamFlags: kernel.records.flags(slot),
      isOfCounts: () => isOfCounts(this.nameOf(slot).metricName, kernel.records.flags(slot)),
      threshold: this.profiles.thresholdOf(slot, event.timeMs),
      direction: () => this.profiles.directionOf(slot),
      samplesMin: this.#options.samplesMin,
      confirmation: this.#options.confirmation,
      bucketWidth: kernel.records.width(slot),
      baseline: () => kernel.baseline(slot, event.timeMs),
      longBaseline: (side) => this.#reportsNow(slot, side),
      hashText: (text) => this.#hashBytes(text),
    });
    if (frame === undefined) return;
    const isFound = frame.transition === "open";
    if (isFound) stages.judged(event.arrivalMs);
    outbox.send(episodeKind(frame), encodeEpisode(isEnd ? { ...frame, transition: "end" } : frame));
    if (isFound) stages.framed(event.arrivalMs);
  }

  /** Whether an episode of the stream's own detector is open. */
  hasEpisode(slot: number): boolean {
    return this.#dependencies.kernel.records.hasEpisode(slot);
  }

  /** A stream that is no longer evaluated, was ended by its sender or is silent for long has no open episodes. */
  endEpisodes(slot: number): void {
    this.partitionOf(slot).isTouched = true;
    this.owed.reportTenant(this.#dependencies.kernel.records.tenant(slot));
    for (const closing of endEpisodes(this.#dependencies.kernel, slot)) this.#report(closing, true);
  }

  /** 32 hex digits of a text of at most 4,096 bytes, the same in every process over this data folder. */
  hashText(text: string): string {
    return Buffer.from(this.#hashBytes(text)).toString("hex");
  }

  #hashBytes(text: string): Uint8Array {
    const { memory, kernel } = this.#dependencies;
    const bytes = memory.slice(SCRATCH, 4096).write(text);
    const pointer = kernel.identityHash(SCRATCH, bytes);
    return memory.bytes.slice(pointer, pointer + 16);
  }

  /** Copies the kernel's own counts into the engine's counters. */
  publishCounters(): void {
    const { kernel, counters } = this.#dependencies;
    kernel.counts((name, value) => counters.set(name, value));
  }
}
