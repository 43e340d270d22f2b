// The shard's half of the kernel as TypeScript sees it: streams are slots, rows go in, events come out. One instance per engine.
// Layouts are those of core/layout; corrections of a ring are in stream-records.ts, checkpoints in stream-snapshot.ts.
import { CR_CHUNK } from "../../core/layout/chunk-record.ts";
import { TABLE_MATURITY_BYTES, TABLE_PROFILE_BYTES } from "../../core/layout/kernel-event.ts";
import { THRESHOLD_TABLES } from "../../core/layout/memory-map.ts";
import { PROFILE_ENVIRONMENT, WINDOW_MAX } from "../../core/layout/stream-record.ts";
import type { ByteWriter } from "../codec/byte-writer.ts";
import type { ByteCursor } from "../codec/varint.ts";
import { type ChunkBlockExports, ChunkBlockKernel } from "./chunk-block-kernel.ts";
import { type ShardEvent, ShardEvents } from "./shard-events.ts";
import { type Correction, StreamRecords } from "./stream-records.ts";
import { StreamPacker } from "./stream-snapshot.ts";

export type { ShardEvent } from "./shard-events.ts";
export type { Correction } from "./stream-records.ts";

/** A number that the kernel counts up since it began. */
export interface KernelCounter {
  readonly value: number;
}

/** Exports of assembly/shard.ts. Booleans arrive as 0 or 1. */
export interface ShardExports extends ChunkBlockExports {
  /** Values the statistics cover, 12 .. 120; before the first row. */
  setWindow(window: number): void;
  /** Slot of the stream with the 16 hash bytes at the address, or -1. */
  findSlot(hashPointer: number, tenant: number): number;
  /** A new slot for a hash that findSlot does not know, or -1 when every slot is in use. */
  createSlot(hashPointer: number, tenant: number, partition: number, flags: number): number;
  /** The same with the identity, which is copied; -1 when there is no room for one of them. */
  createStream(hashPointer: number, tenant: number, partition: number, flags: number, identity: number, identityBytes: number): number;
  /** Gives a stream's slot and the memory of its identity back; no ref may be bound to it any more. */
  removeStream(slot: number): void;
  /** Gives a stream FLAG_BUCKET if it is a counter whose identity looks like that of a histogram's bucket. */
  markBucket(slot: number): void;
  /** Entries at BUCKET_SAMPLES (core/layout/bucket-sample.ts). */
  bucketSamples(): number;
  bucketSamplesReset(): void;
  /** Rows of a partition's streams are parked, each an event; or (0) no longer. */
  suspendPartition(partition: number, isSuspended: number): void;
  hasRows(partition: number): number;
  forgetRows(partition: number): void;
  /** Streams that have a slot. */
  streams(): number;
  /** Bytes of the identities that are kept. */
  identitiesBytes(): number;
  /** Takes definitions in place; bytes taken. Less than given: the next is for the caller to take. What was done is in bindingsCount() entries at BINDINGS. */
  takeDefinitions(pointer: number, bytes: number, engine: number, engines: number): number;
  /** The same for definitions of an earlier start that belong to `tenant`, whose head and seed are those of defineTenant(); binds no refs. */
  replayDefinitions(
    pointer: number,
    bytes: number,
    engine: number,
    engines: number,
    tenant: number,
    headBytes: number,
    serviceSeed: number,
  ): number;
  bindingsCount(): number;
  /** Finds the JSON text of a slot's tenant and service in its identity: tenant, a comma, environment, a comma, service. */
  findService(slot: number): void;
  foundTenant(): number;
  foundTenantBytes(): number;
  foundService(): number;
  foundServiceBytes(): number;
  /** 0 when the ref is beyond the map. */
  bindRef(ref: number, slot: number): number;
  slotOfRef(ref: number): number;
  slots(): number;
  /** The look-up table has 2^bits entries; see shard-lookup.ts. */
  tableBits(): number;
  /** Rows taken; fewer than given when events or chunks have to be taken first. */
  applyRows(pointer: number, rows: number, baseMs: number, arrivalMs: number): number;
  /** Bytes of the chunk that it wrote, as the record of core/layout/chunk-record.ts; 0 when every value is in a chunk. */
  packChunk(slot: number, pointer: number): number;
  /** The same as packChunk, of a slot that goes on as it was. */
  openChunk(slot: number, pointer: number): number;
  /** Has the values of a slot that are in no chunk yet wait in one for their block; 0, and nothing is done, when the caller has to do so. */
  takeChunk(slot: number): number;
  /** Writes the slot's whole ring as columns of values and intervals; bytes written. */
  packRing(slot: number, pointer: number): number;
  /** Writes the snapshot at the address over a slot; the address behind it, 0 when the bytes before `end` are none. */
  unpackStream(slot: number, pointer: number, end: number): number;
  /** Puts streams of a stored state into slots; bytes taken. Less than given: the next is for the caller to take. The slots are in bindingsCount() entries at BINDINGS. */
  restoreStreams(pointer: number, bytes: number, previous: number, tenant: number, headBytes: number, partition: number): number;
  /** Every value of the slot's ring is in a chunk now. */
  chunkTaken(slot: number): void;
  /** Takes a slot's statistics from its ring again, exactly. */
  recompute(slot: number): void;
  /** Robust z of a slot's values from `sinceMs` on against those before; NaN where there are none of one kind. */
  recentDeviation(slot: number, sinceMs: number): number;
  eventsCount(): number;
  eventsReset(): void;
  /** Address of the 16-byte identity hash of a span; valid until the next call. */
  identityHash(pointer: number, bytes: number): number;
  readonly samplesTaken: KernelCounter;
  readonly samplesDuplicate: KernelCounter;
  readonly samplesLate: KernelCounter;
  readonly samplesLateCounter: KernelCounter;
  readonly samplesReplaced: KernelCounter;
  readonly staleMarkers: KernelCounter;
  readonly counterResets: KernelCounter;
  readonly excursions: KernelCounter;
  readonly openings: KernelCounter;
  readonly closings: KernelCounter;
  readonly rowsUnbound: KernelCounter;
  readonly rowsInvalid: KernelCounter;
  readonly chunksPacked: KernelCounter;
  readonly chunkBytesPacked: KernelCounter;
}

/** The kernel's counters of its work, by their names among the engine's counters (core/layout/counters.ts). */
const COUNTERS = {
  samples: "samplesTaken",
  samplesDuplicate: "samplesDuplicate",
  samplesLate: "samplesLate",
  samplesLateCounter: "samplesLateCounter",
  samplesReplaced: "samplesReplaced",
  staleMarkers: "staleMarkers",
  counterResets: "counterResets",
  excursions: "excursions",
  openings: "openings",
  closings: "closings",
  rowsUnbound: "rowsUnbound",
  rowsInvalid: "rowsInvalid",
  chunks: "chunksPacked",
  chunkBytes: "chunkBytesPacked",
} as const;

export type ShardCounter = keyof typeof COUNTERS;

/** The values that a sample was compared with, oldest first, and the age of the oldest. */
export interface BaselineWindow {
  readonly values: Float64Array;
  readonly ageSeconds: number;
}

/** A tenant whose identities begin with the `headBytes` bytes at TENANT_HEAD; `serviceSeed` is what serviceSeed() says of its name. */
export interface DefinitionTenant {
  readonly tenant: number;
  readonly headBytes: number;
  readonly serviceSeed: number;
}

/** The streams of one engine's shard. */
export class ShardKernel {
  readonly records: StreamRecords;
  readonly events: ShardEvents;
  readonly blocks: ChunkBlockKernel;
  /** Tables of profile 0, to be filled by detection/thresholds.ts before the first row. */
  readonly thresholdTables: Float64Array;
  readonly #kernel: ShardExports;
  readonly #window: number;
  readonly #packer: StreamPacker;
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);

  constructor(
    options: { readonly window: number },
    { kernel, buffer }: { readonly kernel: ShardExports; readonly buffer: ArrayBufferLike },
  ) {
    this.#kernel = kernel;
    this.#window = options.window;
    this.events = new ShardEvents(buffer);
    this.blocks = new ChunkBlockKernel(kernel, buffer);
    this.records = new StreamRecords(buffer, kernel);
    this.#packer = new StreamPacker(this.records, kernel);
    this.thresholdTables = this.profileTables(PROFILE_ENVIRONMENT);
    kernel.setWindow(options.window);
  }

  /** The tables of a threshold profile in place, for mature services or those of another place in MATURITIES; to be filled before a stream is given the profile. */
  profileTables(profile: number, maturity = 0): Float64Array {
    const { buffer } = this.records.view;
    const at = THRESHOLD_TABLES + maturity * TABLE_MATURITY_BYTES + profile * TABLE_PROFILE_BYTES;
    return new Float64Array(buffer, at, TABLE_PROFILE_BYTES / Float64Array.BYTES_PER_ELEMENT);
  }

  /** Takes the tables of a threshold profile for services of every maturity, one behind the other. */
  setProfileTables(profile: number, tables: Float64Array): void {
    const values = TABLE_PROFILE_BYTES / Float64Array.BYTES_PER_ELEMENT;
    for (let maturity = 0; maturity * values < tables.length; maturity++)
      this.profileTables(profile, maturity).set(tables.subarray(maturity * values, (maturity + 1) * values));
  }

  /** Slots 0 .. slots - 1 are or were in use. */
  get slots(): number {
    return this.#kernel.slots();
  }

  /** The look-up table has 2^bits entries. */
  get tableBits(): number {
    return this.#kernel.tableBits();
  }

  /** Slot of the stream with the 16 hash bytes at `hashPointer`, or -1. */
  findSlot(hashPointer: number, tenant: number): number {
    return this.#kernel.findSlot(hashPointer, tenant);
  }

  /** A slot for a hash that findSlot does not know, or -1 when every slot is in use. */
  createSlot(hashPointer: number, tenant: number, partition: number, flags: number): number {
    return this.#kernel.createSlot(hashPointer, tenant, partition, flags);
  }

  /** A slot for a stream that findSlot does not know, with its identity; -1 when there is no room. */
  createStream(hashPointer: number, tenant: number, partition: number, flags: number, identity: number, identityBytes: number): number {
    return this.#kernel.createStream(hashPointer, tenant, partition, flags, identity, identityBytes);
  }

  /** Gives a stream's slot and the memory of its identity back; no ref may be bound to it any more. */
  removeStream(slot: number): void {
    this.#kernel.removeStream(slot);
  }

  /** Marks a stream whose flags were set anew, if it is a bucket of a histogram. */
  markBucket(slot: number): void {
    this.#kernel.markBucket(slot);
  }

  /** Samples of buckets at BUCKET_SAMPLES, oldest first, since bucketSamplesReset(). */
  bucketSamples(): number {
    return this.#kernel.bucketSamples();
  }

  bucketSamplesReset(): void {
    this.#kernel.bucketSamplesReset();
  }

  /** From now on each row of the partition's streams is an EVENT_PARKED and changes nothing; or no longer. */
  suspendPartition(partition: number, isSuspended: boolean): void {
    this.#kernel.suspendPartition(partition, isSuspended ? 1 : 0);
  }

  /** Whether a row has come to a stream of the partition since forgetRows(). */
  hasRows(partition: number): boolean {
    return this.#kernel.hasRows(partition) !== 0;
  }

  forgetRows(partition: number): void {
    this.#kernel.forgetRows(partition);
  }

  /** Streams that have a slot. */
  get streams(): number {
    return this.#kernel.streams();
  }

  /** Bytes of the identities that are kept. */
  get identitiesBytes(): number {
    return this.#kernel.identitiesBytes();
  }

  /** Takes definitions in place and returns how many bytes; when fewer than given, the next definition is for the caller to take. */
  takeDefinitions(pointer: number, bytes: number, engine: number, engines: number): number {
    return this.#kernel.takeDefinitions(pointer, bytes, engine, engines);
  }

  /** The same for whole definitions of an earlier start. */
  replayDefinitions(pointer: number, bytes: number, engine: number, engines: number, of: DefinitionTenant): number {
    return this.#kernel.replayDefinitions(pointer, bytes, engine, engines, of.tenant, of.headBytes, of.serviceSeed);
  }

  /**
   * Puts streams of a partition's stored state into slots, where they lie (actors/engine/recovery/partition-state.ts has the form), and returns how many bytes; when fewer than
   * given, the next stream is for the caller to take. `previous` is the slot of the stream that the state has before the first, or -1.
   */
  restoreStreams(pointer: number, bytes: number, previous: number, partition: number, of: DefinitionTenant): number {
    return this.#kernel.restoreStreams(pointer, bytes, previous, of.tenant, of.headBytes, partition);
  }

  /** Entries at BINDINGS: what became of the definitions or streams that were taken last. */
  get bindingsCount(): number {
    return this.#kernel.bindingsCount();
  }

  /** Rows with this ref belong to the slot from now on. */
  bindRef(ref: number, slot: number): void {
    if (this.#kernel.bindRef(ref, slot) === 0) throw new Error(`stream ref ${ref} is beyond the map`);
  }

  /** Slot of a ref, from COLD_SLOTS on a stream that is not in memory; -1 for none. */
  slotOfRef(ref: number): number {
    return this.#kernel.slotOfRef(ref);
  }

  /**
   * Rows taken, in order; fewer than `rows` when the events have to be read, and the chunks taken that they call for, before the next row.
   * Throws when neither rows nor events come: a chunk that was due has not been taken, and the caller would go round for ever.
   */
  applyRows(pointer: number, rows: number, baseMs: number, arrivalMs: number): number {
    const taken = this.#kernel.applyRows(pointer, rows, baseMs, arrivalMs);
    if (taken === 0 && rows > 0 && this.#kernel.eventsCount() === 0) throw new Error("the shard kernel took no row and gave no event");
    return taken;
  }

  /** Events since eventsReset(); each as event(index). */
  eventsCount(): number {
    return this.#kernel.eventsCount();
  }

  event(index: number): ShardEvent {
    return this.events.at(index);
  }

  eventsReset(): void {
    this.#kernel.eventsReset();
  }

  /**
   * Writes the values of the slot's ring that are in no chunk yet as a record (core/layout/chunk-record.ts) to `pointer`, a multiple of four with
   * 2,048 bytes of room, and returns the bytes of the chunk in it; 0 when there are none. Call chunkTaken() then.
   */
  packChunk(slot: number, pointer: number): number {
    return this.#kernel.packChunk(slot, pointer);
  }

  /** A chunk of the values of the slot's ring that are in none yet, made at `pointer` of the engine's memory as by packChunk(); undefined when there are none. The slot goes on as it was. */
  openChunk(slot: number, pointer: number, memory: Uint8Array): Uint8Array | undefined {
    const bytes = this.#kernel.openChunk(slot, pointer);
    return bytes === 0 ? undefined : memory.slice(pointer + CR_CHUNK, pointer + CR_CHUNK + bytes);
  }

  /** Has the values of the slot's ring that are in no chunk yet wait in one (core/layout/waiting-chunks.ts); false, and nothing is done, when the block is full. */
  takeChunk(slot: number): boolean {
    return this.#kernel.takeChunk(slot) !== 0;
  }

  /** Every value of the slot's ring is in a chunk now. */
  chunkTaken(slot: number): void {
    this.#kernel.chunkTaken(slot);
  }

  /** Address of the 16-byte identity hash of a span; valid until the next call. */
  identityHash(pointer: number, bytes: number): number {
    return this.#kernel.identityHash(pointer, bytes);
  }

  /** The window before a sample at `timeMs`, as far as the ring still has it: nothing of an open episode. */
  baseline(slot: number, timeMs: number): BaselineWindow {
    let end = this.records.readRing(slot, this.#times, this.#values) - this.records.aside(slot);
    while (end > 0 && (this.#times[end - 1] as number) >= timeMs) end--;
    const start = Math.max(0, end - this.#window);
    const ageSeconds = end > start ? (timeMs - (this.#times[start] as number)) / 1000 : 0;
    return { values: this.#values.slice(start, end), ageSeconds };
  }

  /** Robust z of the median of a slot's values from `sinceMs` on against those before, within +-99; NaN where there are none of one kind. */
  recentDeviation(slot: number, sinceMs: number): number {
    return this.#kernel.recentDeviation(slot, sinceMs);
  }

  /** Calls back with each of the kernel's counters. */
  counts(visit: (name: ShardCounter, value: number) => void): void {
    for (const [name, exported] of Object.entries(COUNTERS)) visit(name as ShardCounter, this.#kernel[exported].value);
  }

  /** Appends everything of a stream that matters to verdicts to come, without its identity, tenant and partition (stream-snapshot.ts). */
  pack(slot: number, writer: ByteWriter): void {
    this.#packer.pack(slot, writer);
  }

  /** Puts the snapshot at the cursor into a slot that has just been created; false when the bytes are none of ours. */
  unpack(slot: number, cursor: ByteCursor): boolean {
    return this.#packer.unpack(slot, cursor);
  }

  /** See StreamRecords. */
  replaceNewest(slot: number, timeMs: number, value: number): Correction {
    return this.records.replaceNewest(slot, timeMs, value);
  }

  /** See StreamRecords. */
  insertLate(slot: number, timeMs: number, value: number): Correction {
    return this.records.insertLate(slot, timeMs, value);
  }
}
