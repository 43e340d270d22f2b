// The shard: owns the stream records of its partitions, applies rows in the order they come, and turns what the kernel reports into
// verdict frames, chunks and counters. Streams are found by name for queries through one index by service.
import type { EngineMemory, ProcessWords } from "../../adapters/runtime/engine-memory.ts";
import type { InboxFrame } from "../../adapters/runtime/inbox-ring.ts";
import { LATE_IN_RING_MS_MAX } from "../../core/config/limits.ts";
import {
  EVENT_CHUNK_DUE,
  EVENT_CLOSE,
  EVENT_LATE,
  EVENT_OPEN,
  EVENT_REPLACE,
  EVENT_UPDATE,
} from "../../core/layout/kernel-event.ts";
import { IDENTITIES, IDENTITIES_BYTES, SCRATCH, STAGING, STAGING_BYTES, STREAM_RECORDS } from "../../core/layout/memory-map.ts";
import { ROW_BYTES, SECTION_DEFINE } from "../../core/layout/row-frame.ts";
import {
  FLAG_COUNTER,
  SR_FLAGS,
  SR_HASH,
  SR_IDENTITY,
  SR_IDENTITY_BYTES,
  SR_PARTITION,
  SR_TENANT,
  SR_UNCHUNKED,
  STREAM_RECORD_BYTES,
  WINDOW_MAX,
} from "../../core/layout/stream-record.ts";
import { FRAME_BLOCK, FRAME_VERDICT, type StreamName } from "../../core/protocol/coordinator-frame.ts";
import { CHUNK_BYTES_MAX, encodeSampleChunk } from "../../domain/codec/sample-chunk.ts";
import type { ShardEvent, ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import { identityName } from "../../domain/series/stream-identity.ts";
import type { EngineCounters } from "./engine-counters.ts";
import { episodeFrame } from "./episode-frame.ts";
import type { Outbox } from "./outbox.ts";
import { Partition } from "./partition.ts";
import { type Definition, decodeDefinitions } from "./work-unit.ts";

export interface ShardOptions {
  /** |z| threshold of layer 1. */
  readonly threshold: number;
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
  readonly wallMs: number;
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
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  readonly #chunk = new Uint8Array(CHUNK_BYTES_MAX);
  #identityEnd = IDENTITIES;
  /** Bytes of rows applied since the start, for the pace of checkpoints. */
  appliedBytes = 0;

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
    const { pointer, baseMs, arrivalMs, wallMs } = frame;
    this.applyRows({ pointer, rows: frame.bytes / ROW_BYTES, baseMs, arrivalMs, wallMs });
  }

  defineAll(bytes: Uint8Array): void {
    for (const definition of decodeDefinitions(bytes)) this.define(definition, true);
  }

  /** Binds a ref to its stream, which is created at first sight. Returns the slot, or -1 when this engine can hold no more streams. */
  define(definition: Definition, bindsThisEpoch: boolean): number {
    const { kernel, counters } = this.#dependencies;
    const partition = this.partition(definition.partition);
    let slot = this.#findSlot(definition.hash, definition.tenant);
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
    const { memory, kernel } = this.#dependencies;
    const at = this.record(slot) + SR_FLAGS;
    const held = memory.view.getUint32(at, true);
    if (((held ^ flags) & FLAG_COUNTER) === 0) return;
    this.#takeChunk(slot);
    kernel.restart(slot, flags);
  }

  partition(number: number): Partition {
    const known = this.partitions.get(number);
    if (known !== undefined) return known;
    const partition = new Partition(number);
    this.partitions.set(number, partition);
    return partition;
  }

  #findSlot(hash: Uint8Array, tenant: number): number {
    const { memory, kernel } = this.#dependencies;
    memory.bytes.set(hash, SCRATCH);
    return kernel.findSlot(SCRATCH, tenant);
  }

  #createStream(definition: Definition, partition: Partition): number {
    const { memory, kernel, processWords, counters } = this.#dependencies;
    const bytes = definition.identity.byteLength;
    if (this.#identityEnd + bytes > IDENTITIES + IDENTITIES_BYTES) return this.#refuseStream();
    const slot = kernel.createSlot(SCRATCH, definition.tenant, definition.partition, definition.flags);
    if (slot < 0) return this.#refuseStream();
    memory.bytes.set(definition.identity, this.#identityEnd);
    memory.view.setUint32(this.record(slot) + SR_IDENTITY, this.#identityEnd, true);
    memory.view.setUint32(this.record(slot) + SR_IDENTITY_BYTES, bytes, true);
    this.#identityEnd += (bytes + 7) & ~7;
    partition.slots.push(slot);
    const name = this.nameOf(slot);
    const key = serviceKey(name.tenant, name.serviceId);
    const slots = this.services.get(key);
    if (slots === undefined) this.services.set(key, [slot]);
    else slots.push(slot);
    processWords.addTenantStreams(definition.tenant, 1);
    counters.add("streams", 1);
    counters.set("identityBytes", this.#identityEnd - IDENTITIES);
    return slot;
  }

  #refuseStream(): number {
    this.#dependencies.counters.add("streamsRefused", 1);
    return -1;
  }

  /** Whether this shard holds the stream whose identity hash lies at `hashPointer`. */
  owns(hashPointer: number, tenant: number): boolean {
    return this.#dependencies.kernel.findSlot(hashPointer, tenant) >= 0;
  }

  record(slot: number): number {
    return STREAM_RECORDS + slot * STREAM_RECORD_BYTES;
  }

  identityOf(slot: number): Uint8Array {
    const { view, bytes } = this.#dependencies.memory;
    const at = view.getUint32(this.record(slot) + SR_IDENTITY, true);
    return bytes.slice(at, at + view.getUint32(this.record(slot) + SR_IDENTITY_BYTES, true));
  }

  nameOf(slot: number): StreamName {
    return identityName(Buffer.from(this.identityOf(slot)).toString("utf8"));
  }

  hashOf(slot: number): Uint8Array {
    const at = this.record(slot) + SR_HASH;
    return this.#dependencies.memory.bytes.slice(at, at + 16);
  }

  tenantOf(slot: number): number {
    return this.#dependencies.memory.view.getUint32(this.record(slot) + SR_TENANT, true);
  }

  partitionOf(slot: number): Partition {
    return this.partition(this.#dependencies.memory.view.getUint32(this.record(slot) + SR_PARTITION, true));
  }

  /** Applies rows; the kernel returns early when something needs this side before the next row. */
  applyRows(batch: RowBatch): void {
    const { kernel } = this.#dependencies;
    this.appliedBytes += batch.rows * ROW_BYTES;
    for (let done = 0; done < batch.rows; ) {
      const pointer = batch.pointer + done * ROW_BYTES;
      done += kernel.applyRows(pointer, batch.rows - done, batch.baseMs, batch.arrivalMs, batch.wallMs);
      this.#handleEvents();
    }
  }

  /** Applies this engine's own share of a unit, from the staging area. */
  applyStaged(unit: Pick<RowBatch, "baseMs" | "arrivalMs" | "wallMs">, rowBytes: number, self: number): void {
    const { baseMs, arrivalMs, wallMs } = unit;
    this.applyRows({ pointer: STAGING + self * STAGING_BYTES, rows: rowBytes / ROW_BYTES, baseMs, arrivalMs, wallMs });
  }

  #handleEvents(): void {
    const { kernel } = this.#dependencies;
    const count = kernel.eventsCount();
    for (let i = 0; i < count; i++) this.#handle(kernel.event(i));
    kernel.eventsReset();
  }

  #handle(event: ShardEvent): void {
    if (event.kind === EVENT_CHUNK_DUE) this.#takeChunk(event.slot);
    else if (event.kind === EVENT_LATE) this.#takeLate(event);
    else if (event.kind === EVENT_REPLACE) this.#dependencies.kernel.replaceNewest(event.slot, event.value);
    else if (event.kind === EVENT_OPEN || event.kind === EVENT_UPDATE || event.kind === EVENT_CLOSE) this.#report(event);
  }

  /** Encodes the values of a stream that are in no chunk yet. */
  #takeChunk(slot: number): void {
    const { memory, kernel, counters } = this.#dependencies;
    const count = memory.view.getUint32(this.record(slot) + SR_UNCHUNKED, true);
    if (count > 0) {
      kernel.readNewest(slot, count, this.#times, this.#values);
      const bytes = encodeSampleChunk(this.#times, this.#values, count, this.#chunk, 0);
      this.#store(slot, this.#chunk.subarray(0, bytes), this.#times[0] as number, this.#times[count - 1] as number);
      counters.add("chunks", 1);
      counters.add("chunkBytes", bytes);
    }
    kernel.chunkTaken(slot);
  }

  #store(slot: number, chunk: Uint8Array, firstMs: number, lastMs: number): void {
    const partition = this.partitionOf(slot);
    partition.chunks.append(this.hashOf(slot), chunk, firstMs, lastMs);
    if (partition.blockIsDue) this.#dependencies.outbox.send(FRAME_BLOCK, partition.takeBlock());
  }

  /** A late value: into the ring in its place when recent, else only into the store, as a chunk of one value that readers merge. */
  #takeLate(event: ShardEvent): void {
    const { kernel } = this.#dependencies;
    const recent = kernel.lastTimeMs(event.slot) - event.timeMs <= LATE_IN_RING_MS_MAX;
    const outcome = recent ? this.#insertLate(event) : "store";
    if (outcome !== "store") return;
    this.#times[0] = event.timeMs;
    this.#values[0] = event.value;
    const bytes = encodeSampleChunk(this.#times, this.#values, 1, this.#chunk, 0);
    this.#store(event.slot, this.#chunk.subarray(0, bytes), event.timeMs, event.timeMs);
  }

  #insertLate(event: ShardEvent): "done" | "store" {
    const { kernel } = this.#dependencies;
    if (kernel.isRingFullOfUnchunked(event.slot)) this.#takeChunk(event.slot);
    return kernel.insertLate(event.slot, event.timeMs, event.value);
  }

  #report(event: ShardEvent): void {
    const { kernel, memory, outbox } = this.#dependencies;
    const frame = episodeFrame(event, {
      name: this.nameOf(event.slot),
      hash: this.hashOf(event.slot),
      flags: memory.view.getUint32(this.record(event.slot) + SR_FLAGS, true),
      threshold: this.#options.threshold,
      baseline: kernel.baseline(event.slot),
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
    this.#dependencies.kernel.counts((name, value) => this.#dependencies.counters.set(name, value));
  }
}
