/**
 * A partition's state as bytes of a checkpoint, in parts of a bounded size that are written and read one at a time:
 *
 *   part       version u8 = 3, kind u8, then
 *   handler    {SECTION_* u32} and a piece of what a message handler keeps (shard/message-handler.ts); first, because streams may be ahead of it
 *   streams    {bytes of the identity that the one before in the part shares varint, further bytes varint, those bytes, snapshot (domain/kernel/stream-snapshot.ts)} ...
 *   cold       {identity hash 16, serial u32, minutes of its newest sample u32} ... of streams that are in the store
 *   refs       {ref u32, the stream's number in the order of this state u32, from 2^31 on that of a cold one} ...
 *   chunks     the chunks that wait for a block (domain/codec/chunk-block-builder.ts); the last part
 *
 * Streams go on taking rows between two parts. That is sound because each of them is then at or ahead of the log positions that the checkpoint names,
 * and because the waiting chunks come last: values that a stream has given to a chunk after its own bytes were written are replayed into a second
 * chunk that says the same. The other way round they would be in neither.
 */

import { NumberMap } from "../../../core/collections/number-map.ts";
import type { Uint32List } from "../../../core/collections/uint32-list.ts";
import { IDENTITY_BYTES_MAX } from "../../../core/config/limits.ts";
import { crc32 } from "../../../core/hashing/crc32.ts";
import { COLD_SLOTS } from "../../../core/layout/memory-map.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import type { ByteCursor } from "../../../domain/codec/varint.ts";
import { readVarint } from "../../../domain/codec/varint.ts";
import { HASH_BYTES } from "../../../domain/kernel/cold-entry.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { COLD, type ColdStream, type ColdStreams, RETURNED, WANTED } from "../cold/cold-streams.ts";
import type { MessageHandler } from "../shard/message-handler.ts";
import type { Partition } from "../streams/partition.ts";

const VERSION = 3;
const PART_STREAMS = 1;
const PART_REFS = 2;
const PART_CHUNKS = 3;
const PART_COLD = 4;
const PART_HANDLER = 5;
const COLD_BYTES = 24;
/** Numbers from here on are those of cold streams. */
const COLD_NUMBERS = 2 ** 31;
const PART_HEADER_BYTES = 2;
const REF_BYTES = 8;

/** Sources of a writer besides the partition. */
export interface PartitionStateSources {
  readonly kernel: ShardKernel;
  readonly cold: ColdStreams;
  /** All of the engine's memory. */
  readonly memory: Uint8Array;
  readonly handlers: () => Iterable<MessageHandler>;
  /** A part ends with the stream or ref that reaches so many bytes. */
  readonly partBytes: number;
}

interface HandlerPiece {
  readonly kind: number;
  readonly piece: Uint8Array;
}

function* piecesOf(handlers: Iterable<MessageHandler>, partition: number): Generator<HandlerPiece> {
  for (const handler of handlers) for (const piece of handler.save(partition)) yield { kind: handler.kind, piece };
}

/** Sum of no pieces. */
export const NOTHING_HANDLED = 0;

/** Sum of pieces that handlers keep, with one more. */
export function handledSum(sum: number, kind: number, piece: Uint8Array): number {
  return crc32(piece, (sum + kind) >>> 0);
}

/** Writes the state of one partition, part by part. Keeps its buffers for the next. */
export class PartitionStateWriter {
  readonly #sources: PartitionStateSources;
  readonly #writer = new ByteWriter();
  #partition: Partition | undefined;
  #stream = 0;
  #ref = 0;
  #cold = 0;
  /** By slot: the stream's number in the order of the state; by number among the cold: the same. */
  readonly #numbers = new NumberMap();
  readonly #coldNumbers = new NumberMap();
  #coldWritten = 0;
  /** Sections that handlers keep. */
  #pieces: Iterator<HandlerPiece> = [][Symbol.iterator]();
  #handledSum = NOTHING_HANDLED;
  #previousAt = 0;
  #previousBytes = 0;

  constructor(sources: PartitionStateSources) {
    this.#sources = sources;
  }

  /** Streams written so far. */
  get streams(): number {
    return this.#stream;
  }

  /** Sum of what handlers keep of the partition, as it was written. */
  get handledSum(): number {
    return this.#handledSum;
  }

  /** The same of what they keep of any partition now. */
  handledSumOf(partition: number): number {
    let sum = NOTHING_HANDLED;
    for (const { kind, piece } of piecesOf(this.#sources.handlers(), partition)) sum = handledSum(sum, kind, piece);
    return sum;
  }

  begin(partition: Partition): void {
    this.#partition = partition;
    this.#handledSum = NOTHING_HANDLED;
    this.#stream = 0;
    this.#ref = 0;
    this.#cold = 0;
    this.#coldWritten = 0;
    this.#pieces = piecesOf(this.#sources.handlers(), partition.number);
  }

  /** The next part, a view that is valid until the next call; undefined when only the last one is left. About 2 ms. */
  next(): Uint8Array | undefined {
    const { slots, refs, cold } = this.#partition as Partition;
    const handled = this.#pieces.next();
    if (handled.done !== true) return this.#handler(handled.value.kind, handled.value.piece);
    if (this.#stream < slots.length) return this.#streams(slots);
    if (this.#cold < cold.length) return this.#coldStreams(cold);
    if (this.#ref < refs.length) return this.#refs(refs);
    return undefined;
  }

  /** The last part; what was appended to the partition since `next` said that it is at its end belongs to the next checkpoint. */
  last(): Uint8Array {
    this.#open(PART_CHUNKS);
    this.#writer.copy((this.#partition as Partition).chunks.serialise());
    return this.#part();
  }

  #open(kind: number): void {
    this.#writer.at = 0;
    this.#writer.reserve(PART_HEADER_BYTES);
    this.#writer.bytes[0] = VERSION;
    this.#writer.bytes[1] = kind;
    this.#writer.at = PART_HEADER_BYTES;
  }

  #part(): Uint8Array {
    return this.#writer.bytes.subarray(0, this.#writer.at);
  }

  #handler(kind: number, piece: Uint8Array): Uint8Array {
    this.#handledSum = handledSum(this.#handledSum, kind, piece);
    this.#open(PART_HANDLER);
    this.#writer.u32(kind);
    this.#writer.copy(piece);
    return this.#part();
  }

  #streams(slots: Uint32List): Uint8Array {
    const writer = this.#writer;
    this.#open(PART_STREAMS);
    this.#previousBytes = 0;
    do {
      const slot = slots.at(this.#stream);
      this.#writeIdentity(slot);
      this.#sources.kernel.pack(slot, writer);
      this.#numbers.set(slot, this.#stream++);
    } while (this.#stream < slots.length && writer.at < this.#sources.partBytes);
    return this.#part();
  }

  /** Streams that have come back meanwhile are among those in memory. */
  #coldStreams(ids: Uint32List): Uint8Array {
    const { cold } = this.#sources;
    const writer = this.#writer;
    this.#open(PART_COLD);
    do {
      const id = ids.at(this.#cold++);
      if (cold.state(id) !== COLD && cold.state(id) !== WANTED) continue;
      writer.copy(cold.hash(id));
      writer.u32(cold.serial(id));
      writer.u32(Math.max(0, Math.floor(cold.lastTimeMs(id) / MINUTE_MS)));
      this.#coldNumbers.set(id, this.#coldWritten++);
    } while (this.#cold < ids.length && writer.at < this.#sources.partBytes);
    return this.#part();
  }

  /** The last identity of the part lies in the engine's memory, and stays there. */
  #writeIdentity(slot: number): void {
    const { kernel, memory } = this.#sources;
    const at = kernel.records.identityAddress(slot);
    const bytes = kernel.records.identityBytes(slot);
    const most = Math.min(bytes, this.#previousBytes);
    let shared = 0;
    while (shared < most && memory[at + shared] === memory[this.#previousAt + shared]) shared++;
    this.#writer.varint(shared);
    this.#writer.varint(bytes - shared);
    this.#writer.copy(memory.subarray(at + shared, at + bytes));
    this.#previousAt = at;
    this.#previousBytes = bytes;
  }

  #refs(refs: Uint32List): Uint8Array {
    const writer = this.#writer;
    this.#open(PART_REFS);
    do {
      writer.u32(refs.at(this.#ref));
      writer.u32(this.#numberOf(refs, this.#ref));
      this.#ref += 2;
    } while (this.#ref < refs.length && writer.at < this.#sources.partBytes);
    return this.#part();
  }

  /** Number of the stream that a pair names; a pair that names a stream which is back is corrected. */
  #numberOf(refs: Uint32List, at: number): number {
    const { cold, kernel } = this.#sources;
    const target = refs.at(at + 1);
    if (target < COLD_SLOTS) return this.#numbers.get(target);
    const id = target - COLD_SLOTS;
    if (cold.state(id) !== RETURNED) return COLD_NUMBERS + this.#coldNumbers.get(id);
    refs.set(at + 1, cold.slot(id));
    kernel.bindRef(refs.at(at), cold.slot(id));
    return this.#numbers.get(cold.slot(id));
  }
}

/** Takes what a state holds, in its order. */
export interface PartitionStateVisitor {
  /**
   * May take streams itself, from the cursor on, and moves it behind them; answers the identity of the last one, undefined when it took none. `isFirst` while the part
   * has had none. What it leaves comes to `stream`, one at a time.
   */
  run?(cursor: ByteCursor, isFirst: boolean): Uint8Array | undefined;
  /** A stream with its identity, which is valid during the call; must move the cursor behind the snapshot that it stands at. */
  stream(identity: Uint8Array, cursor: ByteCursor): void;
  /** A piece of what the handler of a kind of messages keeps, valid during the call. */
  handler(kind: number, piece: Uint8Array): void;
  /** A stream that is in the store. */
  cold(stream: Omit<ColdStream, "partition">): void;
  /** A ref of the checkpoint's epoch and the number of its stream, counted from 0 for those in memory and for the others. */
  ref(ref: number, stream: number, isCold: boolean): void;
  chunks(bytes: Uint8Array): void;
}

const identity = new Uint8Array(IDENTITY_BYTES_MAX);

/** Whether a part holds refs, which those of a later epoch take the place of. */
export const holdsRefs = (part: Uint8Array) => part[1] === PART_REFS;

/** Reads one part. Throws on another version and on bytes that are no part: the store's own checksum guards against damage. */
export function readPartitionPart(bytes: Uint8Array, visitor: PartitionStateVisitor): void {
  const [version, kind] = bytes;
  if (version !== VERSION) throw new Error(`checkpoint has version ${version}, this build reads ${VERSION}`);
  if (kind === PART_STREAMS) readStreams({ bytes, at: PART_HEADER_BYTES, end: bytes.length }, visitor);
  else if (kind === PART_REFS) readRefs(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), visitor);
  else if (kind === PART_COLD) readColdStreams(bytes, visitor);
  else if (kind === PART_HANDLER) readHandler(bytes, visitor);
  else if (kind === PART_CHUNKS) visitor.chunks(bytes.subarray(PART_HEADER_BYTES));
  else throw new Error(`checkpoint has a part of unknown kind ${kind}`);
}

function readHandler(bytes: Uint8Array, visitor: PartitionStateVisitor): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  visitor.handler(view.getUint32(PART_HEADER_BYTES, true), bytes.subarray(PART_HEADER_BYTES + 4));
}

function readStreams(cursor: ByteCursor, visitor: PartitionStateVisitor): void {
  let known = 0;
  while (cursor.at < cursor.end) {
    const last = visitor.run?.(cursor, cursor.at === PART_HEADER_BYTES);
    if (last !== undefined) {
      identity.set(last);
      known = last.length;
      continue;
    }
    const shared = readVarint(cursor);
    const rest = readVarint(cursor);
    const fits = shared >= 0 && shared <= known && rest >= 0 && shared + rest <= IDENTITY_BYTES_MAX && cursor.at + rest <= cursor.end;
    if (!fits) throw new Error("checkpoint has an identity that cannot be");
    identity.set(cursor.bytes.subarray(cursor.at, cursor.at + rest), shared);
    cursor.at += rest;
    known = shared + rest;
    visitor.stream(identity.subarray(0, known), cursor);
  }
}

function readColdStreams(bytes: Uint8Array, visitor: PartitionStateVisitor): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = PART_HEADER_BYTES; at < bytes.length; at += COLD_BYTES) {
    const hash = bytes.subarray(at, at + HASH_BYTES);
    visitor.cold({
      hash,
      serial: view.getUint32(at + HASH_BYTES, true),
      lastTimeMs: view.getUint32(at + HASH_BYTES + 4, true) * MINUTE_MS,
    });
  }
}

function readRefs(view: DataView, visitor: PartitionStateVisitor): void {
  for (let at = PART_HEADER_BYTES; at < view.byteLength; at += REF_BYTES) {
    const number = view.getUint32(at + 4, true);
    visitor.ref(view.getUint32(at, true), number % COLD_NUMBERS, number >= COLD_NUMBERS);
  }
}
