// The shard: owns the stream records of its partitions, applies rows in the order they come, and turns what the kernel reports into
// verdict frames, chunks and counters. Streams are found by name for queries through one index by service.
import type { EngineMemory, ProcessWords } from "../../adapters/runtime/engine-memory.ts";
import type { InboxFrame } from "../../adapters/runtime/inbox-ring.ts";
import { LATE_IN_RING_MS_MAX } from "../../core/config/limits.ts";
import { EVENT_CHUNK_DUE, EVENT_CLOSE, EVENT_LATE, EVENT_OPEN, EVENT_REPLACE, EVENT_UPDATE } from "../../core/layout/kernel-event.ts";
import { CONTROL_TABLE_BITS, IDENTITIES, IDENTITIES_BYTES, SCRATCH, STAGING, STAGING_BYTES } from "../../core/layout/memory-map.ts";
import { DEFINE_COUNTED, ROW_BYTES, SECTION_DEFINE } from "../../core/layout/row-frame.ts";
import { FLAG_COUNTER, SR_HASH } from "../../core/layout/stream-record.ts";
import { FRAME_BLOCK, FRAME_VERDICT, type StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { ChunkBlockBuilder } from "../../domain/codec/chunk-block-builder.ts";
import { CHUNK_BYTES_MAX, encodeSampleChunk } from "../../domain/codec/sample-chunk.ts";
import type { ShardEvent } from "../../domain/kernel/shard-events.ts";
import type { ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import type { Correction } from "../../domain/kernel/stream-records.ts";
import { identityName } from "../../domain/series/stream-identity.ts";
import type { EngineCounters } from "./engine-counters.ts";
import { episodeFrame } from "./episode-frame.ts";
import type { Outbox } from "./outbox.ts";
import { Partition } from "./partition.ts";
import { type Definition, decodeDefinitions } from "./work-unit.ts";

export interface ShardOptions {
  /** |z| threshold of layer 1. */
  readonly threshold: number;
  readonly minSamples: number;
  /** Most bytes of a block of chunks. */
  readonly blockBytes: number;
}

export interface ShardDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly processWords: ProcessWords;
  readonly outbox: Outbox;
  readonly counters: EngineCounters;
}

/** Rows that came with one frame, in place. */
export interface RowBatch {
  readonly pointer: number;
  readonly rows: number;
  readonly baseMs: number;
  readonly arrivalMs: number;
}

/** The key of a service in the index by service. */
export function serviceKey(tenant: string, serviceId: string): string {
  return JSON.stringify([tenant, serviceId]);
}

/** One engine's shard. */
export class Shard {
  readonly #options: ShardOptions;
  readonly #dependencies: ShardDependencies;
  readonly partitions = new Map<number, Partition>();
  /** Slots by service; the order of lists is made when one is asked for. */
  readonly services = new Map<string, number[]>();
  readonly #time = new Float64Array(1);
  readonly #value = new Float64Array(1);
  readonly #chunk = new Uint8Array(CHUNK_BYTES_MAX);
  #identityEnd = IDENTITIES;

  constructor(options: ShardOptions, dependencies: ShardDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Applies a frame from another lane. */
  applyFrame(frame: InboxFrame): void {
    const { memory } = this.#dependencies;
    if ((frame.kind & 0xff) === SECTION_DEFINE) {
      this.defineAll(memory.bytes.slice(frame.pointer, frame.pointer + frame.bytes));
      return;
    }
    const { pointer, baseMs, arrivalMs } = frame;
    this.applyRows({ pointer, rows: frame.bytes / ROW_BYTES, baseMs, arrivalMs });
  }

  defineAll(bytes: Uint8Array): void {
    const { kernel, memory, processWords } = this.#dependencies;
    for (const definition of decodeDefinitions(bytes)) {
      const before = kernel.slots;
      const isCounted = (definition.flags & DEFINE_COUNTED) !== 0;
      this.#define({ ...definition, flags: definition.flags & ~DEFINE_COUNTED }, true);
      // A lane counts what the table did not show it; another lane, or another spelling, may have been first.
      const isNew = kernel.slots > before;
      if (isNew !== isCounted) processWords.addTenantStreams(definition.tenant, isNew ? 1 : -1);
    }
    memory.store(CONTROL_TABLE_BITS, kernel.tableBits);
  }

  /** A stream of a checkpoint or of an earlier log: created at first sight, and counted for its tenant when it is new. */
  recover(definition: Definition): number {
    const { kernel, memory, processWords } = this.#dependencies;
    const before = kernel.slots;
    const slot = this.#define({ ...definition, flags: definition.flags & ~DEFINE_COUNTED }, false);
    if (kernel.slots > before) processWords.addTenantStreams(definition.tenant, 1);
    memory.store(CONTROL_TABLE_BITS, kernel.tableBits);
    return slot;
  }

  /** Binds a ref to its stream, which is created at first sight. Returns the slot, or -1 when this engine can hold no more streams. */
  #define(definition: Definition, bindsThisEpoch: boolean): number {
    const { kernel, counters } = this.#dependencies;
    const partition = this.partition(definition.partition);
    let slot = this.findSlot(definition.hash, definition.tenant);
    if (slot < 0) {
      slot = this.#createStream(definition, partition);
      if (slot < 0) return -1;
    }
    this.#adoptKind(slot, definition.flags);
    if (bindsThisEpoch) {
      kernel.bindRef(definition.ref, slot);
      partition.refs.push(definition.ref, slot);
      counters.add("refs", 1);
    }
    return slot;
  }

  /** A sender may change its mind about a name being a counter: the stream then starts anew. */
  #adoptKind(slot: number, flags: number): void {
    const { kernel } = this.#dependencies;
    if (((kernel.records.flags(slot) ^ flags) & FLAG_COUNTER) === 0) return;
    this.#takeChunk(slot);
    kernel.records.restart(slot, flags);
  }

  partition(number: number): Partition {
    const known = this.partitions.get(number);
    if (known !== undefined) return known;
    const partition = new Partition(number, this.#options.blockBytes);
    this.partitions.set(number, partition);
    return partition;
  }

  /** Slot of the stream with the identity hash, or -1. */
  findSlot(hash: Uint8Array, tenant: number): number {
    const { memory, kernel } = this.#dependencies;
    memory.bytes.set(hash, SCRATCH);
    return kernel.findSlot(SCRATCH, tenant);
  }

  #createStream(definition: Definition, partition: Partition): number {
    const { memory, kernel, counters } = this.#dependencies;
    const bytes = definition.identity.byteLength;
    if (this.#identityEnd + bytes > IDENTITIES + IDENTITIES_BYTES) return this.#refuseStream();
    const slot = kernel.createSlot(SCRATCH, definition.tenant, definition.partition, definition.flags);
    if (slot < 0) return this.#refuseStream();
    memory.bytes.set(definition.identity, this.#identityEnd);
    kernel.records.setIdentity(slot, this.#identityEnd, bytes);
    this.#identityEnd += (bytes + 7) & ~7;
    partition.slots.push(slot);
    const name = this.nameOf(slot);
    const key = serviceKey(name.tenant, name.serviceId);
    const slots = this.services.get(key);
    if (slots === undefined) this.services.set(key, [slot]);
    else slots.push(slot);
    counters.add("streams", 1);
    counters.set("identityBytes", this.#identityEnd - IDENTITIES);
    return slot;
  }

  #refuseStream(): number {
    this.#dependencies.counters.add("streamsRefused", 1);
    return -1;
  }

  identityOf(slot: number): Uint8Array {
    const { kernel, memory } = this.#dependencies;
    const at = kernel.records.identityAddress(slot);
    return memory.bytes.slice(at, at + kernel.records.identityBytes(slot));
  }

  nameOf(slot: number): StreamName {
    return identityName(Buffer.from(this.identityOf(slot)).toString("utf8"));
  }

  hashOf(slot: number): Uint8Array {
    const at = this.#dependencies.kernel.records.address(slot) + SR_HASH;
    return this.#dependencies.memory.bytes.slice(at, at + 16);
  }

  partitionOf(slot: number): Partition {
    return this.partition(this.#dependencies.kernel.records.partition(slot));
  }

  /** Applies rows; the kernel returns after every row that has an event, so that this side acts before the stream's next row. */
  applyRows(batch: RowBatch): void {
    const { kernel } = this.#dependencies;
    for (let done = 0; done < batch.rows; ) {
      done += kernel.applyRows(batch.pointer + done * ROW_BYTES, batch.rows - done, batch.baseMs, batch.arrivalMs);
      for (let i = 0; i < kernel.eventsCount(); i++) this.#handle(kernel.event(i));
      kernel.eventsReset();
    }
  }

  /** Applies this engine's own share of a unit, from the staging area. */
  applyStaged(unit: Pick<RowBatch, "baseMs" | "arrivalMs">, rowBytes: number, self: number): void {
    const { baseMs, arrivalMs } = unit;
    this.applyRows({ pointer: STAGING + self * STAGING_BYTES, rows: rowBytes / ROW_BYTES, baseMs, arrivalMs });
  }

  #handle(event: ShardEvent): void {
    if (event.kind === EVENT_CHUNK_DUE) this.#takeChunk(event.slot);
    else if (event.kind === EVENT_LATE) this.#takeLate(event);
    else if (event.kind === EVENT_REPLACE) this.#replace(event);
    else if (event.kind === EVENT_OPEN || event.kind === EVENT_UPDATE || event.kind === EVENT_CLOSE) this.#report(event);
  }

  /** Packs the values of a stream that are in no chunk yet. */
  #takeChunk(slot: number): void {
    const { kernel, memory, counters } = this.#dependencies;
    const bytes = kernel.packChunk(slot, SCRATCH);
    if (bytes > 0) {
      this.#chunksFor(slot, bytes).appendRecord(memory.words, SCRATCH >>> 2);
      counters.add("chunks", 1);
      counters.add("chunkBytes", bytes);
    }
    kernel.chunkTaken(slot);
  }

  /** Where a chunk of so many bytes waits for its block; one that it would not fit leaves before. */
  #chunksFor(slot: number, bytes: number): ChunkBlockBuilder {
    const partition = this.partitionOf(slot);
    if (partition.blockIsFull(bytes)) this.#dependencies.outbox.send(FRAME_BLOCK, partition.takeBlock());
    return partition.chunks;
  }

  /** One value that readers merge into the chunks by its time. */
  #storeValue(slot: number, timeMs: number, value: number): void {
    this.#time[0] = timeMs;
    this.#value[0] = value;
    const bytes = encodeSampleChunk(this.#time, this.#value, 1, this.#chunk, 0);
    this.#chunksFor(slot, bytes).append(this.hashOf(slot), this.#chunk.subarray(0, bytes), timeMs, timeMs);
  }

  /** A late value goes into the ring in its place when it is recent, and into the store where the ring does not reach. */
  #takeLate({ slot, timeMs, value }: ShardEvent): void {
    const { kernel } = this.#dependencies;
    if (kernel.records.lastTimeMs(slot) - timeMs > LATE_IN_RING_MS_MAX) {
      this.#storeValue(slot, timeMs, value);
      return;
    }
    let correction = kernel.insertLate(slot, timeMs, value);
    // Only for a value that needs the room: one that comes again must leave the stream as it is.
    if (correction.result === "too-old-for-ring" && kernel.records.isRingFullOfUnchunked(slot)) {
      this.#takeChunk(slot);
      correction = kernel.insertLate(slot, timeMs, value);
    }
    this.#settle(slot, timeMs, correction);
  }

  #replace({ slot, timeMs, value }: ShardEvent): void {
    this.#settle(slot, timeMs, this.#dependencies.kernel.replaceNewest(slot, timeMs, value));
  }

  #settle(slot: number, timeMs: number, correction: Correction): void {
    const stored = correction.result === "stored" || correction.result === "too-old-for-ring";
    if (stored && correction.chunked) this.#storeValue(slot, timeMs, correction.value);
  }

  #report(event: ShardEvent): void {
    const { kernel, outbox } = this.#dependencies;
    const { slot } = event;
    const frame = episodeFrame(event, {
      name: this.nameOf(slot),
      hash: this.hashOf(slot),
      streamFlags: kernel.records.flags(slot),
      threshold: this.#options.threshold,
      minSamples: this.#options.minSamples,
      baseline: kernel.baseline(slot, event.timeMs),
      hashText: (text) => this.#hashText(text),
    });
    if (frame !== undefined) outbox.sendJson(FRAME_VERDICT, frame);
  }

  #hashText(text: string): string {
    const { memory, kernel } = this.#dependencies;
    const bytes = memory.slice(SCRATCH, 4096).write(text);
    const pointer = kernel.identityHash(SCRATCH, bytes);
    return memory.slice(pointer, 16).toString("hex");
  }

  /** Copies the kernel's own counts into the engine's counters. */
  publishCounters(): void {
    const { kernel, counters } = this.#dependencies;
    kernel.counts((name, value) => counters.set(name, value));
  }
}
