// One unit of an engine's work: what it decoded since the last commit. It is appended to the log as one block and then handed to the shards.
// Rows lie in the staging areas of the engine's memory (one per destination), definitions in the definitions area; everything else is collected here.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { ITEM_TEXT_BYTES, WORK_TEXT_BYTES_MAX } from "../../../core/config/body-limits.ts";
import { DEAD_LETTERS_BUFFERED_BYTES_MAX, WORK_BODY_BYTES_MAX } from "../../../core/config/limits.ts";
import type { RecordType } from "../../../core/layout/counters.ts";
import { DEFINITIONS, PACKED_ROWS, STAGING, STAGING_BYTES } from "../../../core/layout/memory-map.ts";
import {
  ARRIVAL_HISTORY,
  BASE_LEAD_MS,
  BLOCK_HISTORY,
  DEFINE_FLAGS,
  DEFINE_HASH,
  DEFINE_HEADER_BYTES,
  DEFINE_IDENTITY_BYTES,
  DEFINE_PARTITION,
  DEFINE_REF,
  DEFINE_TENANT,
  ROW_BYTES,
  SECTION_DEAD_LETTER,
  SECTION_DEFINE,
  SECTION_HEADER_BYTES,
  SECTION_METADATA,
  SECTION_METRIC_SCOPE,
  SECTION_PACKED_ROWS,
  SECTION_RECORD,
  SECTION_SERVICE_LABELS,
  SECTION_USAGE,
} from "../../../core/layout/row-frame.ts";
import {
  type DeadLetterEnvelope,
  type DeadLettersEnded,
  FRAME_DEAD_LETTER,
  FRAME_METADATA,
  FRAME_METRIC_SCOPE,
  FRAME_RECORD,
  FRAME_SERVICE_LABELS,
  type MetricScopeEnvelope,
  type RecordEnvelope,
  type ServiceLabelsEnvelope,
} from "../../../core/protocol/coordinator-frame.ts";
import type { WrittenCounts } from "../../../core/protocol/engine-control.ts";
import { MonthClock } from "../../../domain/access/billing-month.ts";
import { UsageTally } from "../../../domain/access/usage-tally.ts";
import { MessageBatch } from "../../../domain/codec/message-batch.ts";
import { type OpaqueFrame, OpaqueSections } from "../../../domain/codec/opaque-sections.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { engineOf } from "../../../domain/placement/partition.ts";
import type { DeadLetterGroups } from "../../../domain/series/dead-letter-groups.ts";
import { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { type Debt, UnitDebts } from "./unit-debts.ts";

/** A stream's definition before it is encoded. */
export interface Definition {
  readonly ref: number;
  readonly partition: number;
  readonly flags: number;
  readonly tenant: number;
  /** 16 bytes. */
  readonly hash: Uint8Array;
  readonly identity: Uint8Array;
}

/** The answer to one body; `body` null means none (204). */
export interface BodyAnswer {
  status: number;
  body: string | null;
  /** Counts of what was stored, of remote-write 2.0. */
  written?: WrittenCounts;
  /** The body lies in the place for large ones. */
  isLarge?: boolean;
  /** Number of a body of the ring that others have overtaken. */
  admission?: number;
}

const align8 = (bytes: number) => (bytes + 7) & ~7;

/** Encodes a definition as it stands in frames and in the log. */
function encodeDefinition(definition: Definition): Uint8Array {
  const bytes = new Uint8Array(align8(DEFINE_HEADER_BYTES + definition.identity.byteLength));
  const view = new DataView(bytes.buffer);
  view.setUint32(DEFINE_REF, definition.ref, true);
  view.setUint32(DEFINE_PARTITION, definition.partition, true);
  view.setUint32(DEFINE_FLAGS, definition.flags, true);
  view.setUint32(DEFINE_TENANT, definition.tenant, true);
  bytes.set(definition.hash, DEFINE_HASH);
  view.setUint32(DEFINE_IDENTITY_BYTES, definition.identity.byteLength, true);
  bytes.set(definition.identity, DEFINE_HEADER_BYTES);
  return bytes;
}

/** Bytes that the encoded definition at `at` takes. */
export function definitionBytes(view: DataView, at: number): number {
  return align8(DEFINE_HEADER_BYTES + view.getUint32(at + DEFINE_IDENTITY_BYTES, true));
}

/** Reads the encoded definition at `at`; its arrays are copies. Throws when its identity leaves the bytes. */
export function decodeDefinition(view: DataView, at: number): Definition {
  const from = view.byteOffset + at;
  const identityBytes = view.getUint32(at + DEFINE_IDENTITY_BYTES, true);
  if (at + DEFINE_HEADER_BYTES + identityBytes > view.byteLength)
    throw new Error(`definition of ${identityBytes} bytes at ${at} leaves its section`);
  return {
    ref: view.getUint32(at + DEFINE_REF, true),
    partition: view.getUint32(at + DEFINE_PARTITION, true),
    flags: view.getUint32(at + DEFINE_FLAGS, true),
    tenant: view.getUint32(at + DEFINE_TENANT, true),
    hash: new Uint8Array(new Uint8Array(view.buffer, from + DEFINE_HASH, 16)),
    identity: new Uint8Array(new Uint8Array(view.buffer, from + DEFINE_HEADER_BYTES, identityBytes)),
  };
}

function sectionHeader(kind: number, bytes: number): Uint8Array {
  const header = new Uint8Array(SECTION_HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setUint32(0, kind, true);
  view.setUint32(4, bytes, true);
  return header;
}

/** Buffer.concat may hand out a pooled, unaligned buffer; a copy into shared memory is ten times slower from there. */
function joinAligned(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const joined = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.byteLength;
  }
  return joined;
}

/** Joins items, whole, to pieces of at most `bytesMax`; a single larger one stands alone. */
function* pieces(items: Iterable<Uint8Array>, bytesMax: number): Generator<Uint8Array> {
  let piece: Uint8Array[] = [];
  let bytes = 0;
  for (const item of items) {
    if (bytes > 0 && bytes + item.byteLength > bytesMax) {
      yield joinAligned(piece, bytes);
      piece = [];
      bytes = 0;
    }
    piece.push(item);
    bytes += item.byteLength;
  }
  if (bytes > 0) yield joinAligned(piece, bytes);
}

/** A section of a log block, in place. */
export interface Section {
  readonly kind: number;
  readonly payload: Uint8Array;
}

/** Walks the sections of a log block's payload. A block that passed its checksum has no other form; anything else is a broken invariant. */
export function* sectionsOf(payload: Uint8Array): Generator<Section> {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  for (let at = 0; at < payload.byteLength; ) {
    const bytes = view.getUint32(at + 4, true);
    const from = at + SECTION_HEADER_BYTES;
    if (from + bytes > payload.byteLength) throw new Error(`log section of ${bytes} bytes at ${at} leaves its block`);
    yield { kind: view.getUint32(at, true), payload: payload.subarray(from, from + bytes) };
    at = from + align8(bytes);
  }
}

/** Gathers messages while a unit is filled, so that many items share one. */
export interface MessageSource {
  /** Adds what it has gathered to the unit. */
  addMessages(unit: WorkUnit): void;
}

/** Collects one unit of work; reused for every unit. */
export class WorkUnit {
  readonly #memory: EngineMemory;
  readonly #kernel: IngestExports;
  readonly #engines: number;
  readonly #exclusions: FieldExclusions;
  readonly #encoder = new TextEncoder();
  readonly #months = new MonthClock();
  /** Definitions that the area had no room for. Like those in the area they outlive a failed commit: no committed block holds them yet. */
  #overflow: Uint8Array[] = [];
  readonly #opaque = new OpaqueSections();
  #messageBytes = 0;
  /** Messages for shards. */
  readonly #messages: MessageBatch;
  /** Those that have gathered something for this unit. */
  readonly #sources = new Set<MessageSource>();
  /**
   * Of the unit's last body: blocks of all engines are replayed in this order. Whoever was answered for a body of one unit and then sends another
   * finds it in a unit with a higher number; by the first bodies' numbers it might stand before the one it follows.
   */
  admission = 0;
  baseMs = 0;
  arrivalMs = 0;
  bodies = 0;
  bodyBytes = 0;
  /** Work of the unit that was done item by item, as bytes of text. */
  #textBytes = 0;
  answers: BodyAnswer[] = [];
  /** What it owes, by answer. */
  debts = new UnitDebts(undefined);
  /** Events that the unit's answers report as accepted. */
  readonly usage = new UsageTally();

  constructor(memory: EngineMemory, kernel: IngestExports, engines: number, exclusions: FieldExclusions = new FieldExclusions("")) {
    this.#exclusions = exclusions;
    this.#memory = memory;
    this.#kernel = kernel;
    this.#engines = engines;
    this.#messages = new MessageBatch(engines);
  }

  /** Starts a unit with its first body; wallMs in whole milliseconds. A body that goes on in a further unit sets `baseMs` back to what it began with, and `owed` is what it owes. */
  begin(admission: number, wallMs: number, arrivalMs: number, owed?: Debt): void {
    this.admission = admission;
    this.baseMs = wallMs - BASE_LEAD_MS;
    this.arrivalMs = arrivalMs;
    this.bodies = 0;
    this.bodyBytes = 0;
    this.#textBytes = 0;
    this.answers = [];
    this.debts = new UnitDebts(owed);
  }

  /** Counts items that were decoded by themselves, of so many bytes of text together. */
  worked(textBytes: number, items = 1): void {
    this.#textBytes += items * ITEM_TEXT_BYTES + textBytes;
  }

  /** Whether nothing has been done item by item yet. */
  get isFresh(): boolean {
    return this.#textBytes === 0;
  }

  /** Whether more may be done item by item before others have their turn. */
  get mayWork(): boolean {
    return this.#textBytes < WORK_TEXT_BYTES_MAX && this.opaqueBytes < WORK_BODY_BYTES_MAX;
  }

  /** Makes the unit, which holds no rows yet, one of history: rows from `baseMs` on, 49 days at most. No other body may join it. */
  becomeHistory(baseMs: number): void {
    this.baseMs = baseMs;
    this.arrivalMs = ARRIVAL_HISTORY;
  }

  get isHistory(): boolean {
    return this.arrivalMs === ARRIVAL_HISTORY;
  }

  /** Kinds in the header of the unit's block. */
  get blockKinds(): number {
    return this.isHistory ? BLOCK_HISTORY : 0;
  }

  /** Counts events of a body as accepted; to be called in the unit that the body ends in, which its answer belongs to. */
  accept(tenant: string, wallMs: number, type: RecordType, events: number): void {
    this.usage.add(tenant, this.#months.month(wallMs), type, events);
  }

  /** Adds a definition that the definitions area has no room for. */
  define(definition: Definition): void {
    this.#overflow.push(encodeDefinition(definition));
  }

  /** Bytes of definitions at DEFINITIONS. */
  get areaBytes(): number {
    return this.#kernel.definitionsBytes();
  }

  /** Encoded definitions that the area had no room for; they follow those in the area. */
  get overflow(): readonly Uint8Array[] {
    return this.#overflow;
  }

  /** Everything that is defined, in order, for all destinations. */
  get #definitions(): readonly Uint8Array[] {
    const bytes = this.areaBytes;
    return bytes > 0 ? [this.#memory.bytes.subarray(DEFINITIONS, DEFINITIONS + bytes), ...this.#overflow] : this.#overflow;
  }

  /** Takes a record, without the fields that must not be stored. */
  addRecord(envelope: RecordEnvelope): void {
    const record = this.#exclusions.strip(envelope.record);
    this.#add(SECTION_RECORD, FRAME_RECORD, record === envelope.record ? envelope : { ...envelope, record });
  }

  /** Takes a refused record into the letters of its body, without the fields that must not be stored; of more than may be held the oldest are written. */
  addDeadLetter(envelope: DeadLetterEnvelope, letters: DeadLetterGroups): void {
    letters.add({ ...envelope, payload: this.#exclusions.strip(envelope.payload) });
    while (letters.bytes > DEAD_LETTERS_BUFFERED_BYTES_MAX) this.#writeOldest(letters);
  }

  /** Writes the letters of a body that is done; false when others must have their turn first. */
  writeDeadLetters(letters: DeadLetterGroups): boolean {
    while (this.mayWork) if (!this.#writeOldest(letters)) return true;
    return letters.bytes === 0;
  }

  #writeOldest(letters: DeadLetterGroups): boolean {
    const letter = letters.takeOldest();
    if (letter !== undefined) this.addOpaque(SECTION_DEAD_LETTER, FRAME_DEAD_LETTER, this.#encoder.encode(letter));
    return letter !== undefined;
  }

  endDeadLetters(letters: DeadLettersEnded): void {
    this.#add(SECTION_DEAD_LETTER, FRAME_DEAD_LETTER, letters);
  }

  /** Adds a message for the shard that owns a partition; `kind` is a SECTION_* from SECTION_MESSAGES on. Messages of one kind and partition keep their order. */
  addMessage(kind: number, partition: number, payload: Uint8Array): void {
    this.#messageBytes += this.#messages.add(kind, engineOf(partition, this.#engines), partition, payload);
  }

  /** Has a source add its messages when the unit is complete. */
  addSource(source: MessageSource): void {
    this.#sources.add(source);
  }

  /** Has all sources add what they have gathered: nothing more comes into the unit. */
  gather(): void {
    for (const source of this.#sources) source.addMessages(this);
    this.#sources.clear();
  }

  /** Sections of messages for one destination, in pieces of at most `bytesMax`; each piece starts at a multiple of 8. Valid until the next unit begins. */
  messageFrames(destination: number, bytesMax: number): Iterable<readonly [kind: number, section: Uint8Array]> {
    return this.#messages.frames(destination, bytesMax);
  }

  addMetadata(metadata: object): void {
    this.#add(SECTION_METADATA, FRAME_METADATA, metadata);
  }

  addMetricScope(scope: MetricScopeEnvelope): void {
    this.#add(SECTION_METRIC_SCOPE, FRAME_METRIC_SCOPE, scope);
  }

  addServiceLabels(labels: ServiceLabelsEnvelope): void {
    this.#add(SECTION_SERVICE_LABELS, FRAME_SERVICE_LABELS, labels);
  }

  #add(section: number, frame: number, envelope: object): void {
    this.addOpaque(section, frame, this.#encoder.encode(JSON.stringify(envelope)));
  }

  /** Adds what goes to the log as a section and to the coordinator as a frame; copies it. */
  addOpaque(section: number, frame: number, payload: Uint8Array): void {
    this.#opaque.add(section, frame, payload);
  }

  get opaqueBytes(): number {
    return this.#opaque.bytes + this.#messageBytes;
  }

  /** Number of frames for the coordinator. */
  get opaqueCount(): number {
    return this.#opaque.count;
  }

  /** Frames for the coordinator, in order; valid until something is added or the unit's end. */
  get opaqueFrames(): readonly OpaqueFrame[] {
    return this.#opaque.frames;
  }

  /** The definitions for one destination, in order, in pieces of at most `bytesMax` (a single larger one stands alone); each piece starts at a multiple of 8. */
  *definitionFrames(destination: number, bytesMax: number): Generator<Uint8Array> {
    yield* pieces(this.#definitionsFor(destination), bytesMax);
  }

  *#definitionsFor(destination: number): Generator<Uint8Array> {
    for (const some of this.#definitions) {
      const view = new DataView(some.buffer, some.byteOffset, some.byteLength);
      for (let at = 0; at < some.byteLength; ) {
        const end = at + definitionBytes(view, at);
        if (engineOf(view.getUint32(at + DEFINE_PARTITION, true), this.#engines) === destination) yield some.subarray(at, end);
        at = end;
      }
    }
  }

  /** The block's payload: views on the staging areas and on what has been gathered. `rowBytes(j)` is what is staged for destination j. */
  logParts(rowBytes: (destination: number) => number): Uint8Array[] {
    this.gather();
    const parts: Uint8Array[] = [];
    const definitions = this.#definitions;
    if (definitions.length > 0) {
      const bytes = definitions.reduce((sum, some) => sum + some.byteLength, 0);
      parts.push(sectionHeader(SECTION_DEFINE, bytes), ...definitions);
    }
    const rows = this.#packRows(rowBytes);
    if (rows.byteLength > 0) parts.push(rows);
    for (const [kind, messages] of this.#messages.sections()) {
      const bytes = messages.reduce((sum, { byteLength }) => sum + byteLength, 0);
      parts.push(sectionHeader(kind, bytes), ...messages);
    }
    if (this.#opaque.section.length > 0) parts.push(this.#opaque.section);
    if (!this.usage.isEmpty) parts.push(...this.#usageParts());
    return parts;
  }

  #usageParts(): Uint8Array[] {
    const payload = this.usage.encode();
    const padding = new Uint8Array(align8(payload.byteLength) - payload.byteLength);
    return [sectionHeader(SECTION_USAGE, payload.byteLength), payload, padding];
  }

  /** The sections of rows, packed one behind the other. */
  #packRows(rowBytes: (destination: number) => number): Uint8Array {
    const { bytes, view } = this.#memory;
    let at = PACKED_ROWS;
    for (let j = 0; j < this.#engines; j++) {
      const rows = rowBytes(j) / ROW_BYTES;
      if (rows === 0) continue;
      const from = at + SECTION_HEADER_BYTES;
      const packed = this.#kernel.packRows(STAGING + j * STAGING_BYTES, rows, from);
      view.setUint32(at, SECTION_PACKED_ROWS, true);
      view.setUint32(at + 4, packed, true);
      at = from + align8(packed);
      bytes.fill(0, from + packed, at);
    }
    return bytes.subarray(PACKED_ROWS, at);
  }

  /** After a commit: the unit is logged and its definitions have been taken. */
  committed(): void {
    this.#kernel.definitionsReset();
    this.#overflow = [];
    this.dropOpaque();
  }

  dropOpaque(): void {
    this.#opaque.clear();
    this.#messages.clear();
    this.#messageBytes = 0;
    this.usage.clear();
  }
}
