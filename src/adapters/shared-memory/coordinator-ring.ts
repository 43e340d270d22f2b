// Single-producer single-consumer ring of frames from an engine to the coordinator; it lies in the engine's memory. 8 MiB.
// Frames of any size: larger ones travel as fragments of a 32nd of the ring (flag MORE), which the reader joins again.
import { CHECKPOINT_PART_BYTES, RING_FILL_REPORTED } from "../../core/config/limits.ts";
import {
  CONTROL_COORDINATOR_FRAMES_AWAITED,
  CONTROL_COORDINATOR_PROMPT_WRITTEN,
  CONTROL_COORDINATOR_READ,
  CONTROL_COORDINATOR_SPACE_AWAITED,
  CONTROL_COORDINATOR_WRITTEN,
  COORDINATOR_RING,
} from "../../core/layout/memory-map.ts";
import { type AwaitedFrames, type EngineFrame, PROMPT_FRAMES } from "../../core/protocol/coordinator-frame.ts";
import type { EngineMemory } from "./engine-memory.ts";

const HEADER_BYTES = 8;
/** A fragment takes at most this part of the ring. */
const FRAGMENTS_MIN = 32;
const AWAITED: Readonly<Record<AwaitedFrames, number>> = { any: 1, prompt: 2 };
const KIND_WRAP = 0xff;
const FLAG_MORE = 0x100;

/**
 * Frames of more than half of such a size, blocks, pages of long baselines and parts of states, are read into buffers of that size, which the reader may give back to
 * be used again.
 */
const REUSED_BYTES = [16 * 1024, 32 * 1024, 64 * 1024, CHECKPOINT_PART_BYTES + 32 * 1024] as const;
/** Buffers of each size that wait to be used again: as much as a transaction or two take. */
const REUSED_MAX = 64;

const align8 = (bytes: number) => (bytes + 7) & ~7;

/** The engine's end. A frame that found no room is continued by calling `write` again with the same payload. */
export class CoordinatorRingWriter {
  readonly #memory: EngineMemory;
  readonly #ringBytes: number;
  #written: number;
  #sent = 0;
  /** Whether a prompt frame was written that the reader was not informed of. */
  #isPromptUnreported = false;

  constructor(own: EngineMemory) {
    this.#memory = own;
    this.#ringBytes = own.rings.coordinatorBytes;
    this.#written = own.load(CONTROL_COORDINATOR_WRITTEN);
  }

  get fill(): number {
    return this.#used() / this.#ringBytes;
  }

  /** Where the next fragment goes: it moves on also when only a part of a frame went in. */
  get position(): number {
    return this.#written;
  }

  /** True when everything written has been read. */
  get drained(): boolean {
    return this.#used() === 0;
  }

  /** True once after the reader has asked for word of such frames as were written since the call before: ask behind what was written. */
  isAwaited(): boolean {
    const isPrompt = this.#isPromptUnreported;
    this.#isPromptUnreported = false;
    const awaited = this.#memory.load(CONTROL_COORDINATOR_FRAMES_AWAITED);
    if (awaited === AWAITED.prompt && !isPrompt && this.fill < RING_FILL_REPORTED) return false;
    return awaited !== 0 && this.#memory.take(CONTROL_COORDINATOR_FRAMES_AWAITED);
  }

  /** Has the reader ring the engine's bell when it next takes something: ask before looking at the room. */
  awaitSpace(): void {
    this.#memory.store(CONTROL_COORDINATOR_SPACE_AWAITED, 1);
  }

  #used(): number {
    return (this.#written - this.#memory.load(CONTROL_COORDINATOR_READ)) >>> 0;
  }

  /** Puts a frame into the ring; false when only a part of it, or nothing, has gone in yet. */
  write(kind: number, payload: Uint8Array): boolean {
    do {
      const part = payload.subarray(this.#sent, this.#sent + this.#ringBytes / FRAGMENTS_MIN);
      const more = this.#sent + part.byteLength < payload.byteLength;
      if (!this.#writeFragment(more ? kind | FLAG_MORE : kind, part)) return false;
      this.#sent += part.byteLength;
    } while (this.#sent < payload.byteLength);
    this.#sent = 0;
    if (PROMPT_FRAMES.has(kind)) {
      this.#isPromptUnreported = true;
      this.#memory.store(CONTROL_COORDINATOR_PROMPT_WRITTEN, this.#written);
    }
    return true;
  }

  #writeFragment(kind: number, part: Uint8Array): boolean {
    const padded = align8(HEADER_BYTES + part.byteLength);
    const at = this.#written % this.#ringBytes;
    const rest = this.#ringBytes - at;
    const wrap = rest < padded ? rest : 0;
    if (this.#ringBytes - this.#used() < padded + wrap) return false;
    const view = this.#memory.view;
    if (wrap > 0) view.setUint32(COORDINATOR_RING + at + 4, KIND_WRAP, true);
    const pointer = COORDINATOR_RING + (wrap > 0 ? 0 : at);
    view.setUint32(pointer, part.byteLength, true);
    view.setUint32(pointer + 4, kind, true);
    this.#memory.bytes.set(part, pointer + HEADER_BYTES);
    this.#written = (this.#written + wrap + padded) >>> 0;
    this.#memory.store(CONTROL_COORDINATOR_WRITTEN, this.#written);
    return true;
  }
}

/** The coordinator's end. */
export class CoordinatorRingReader {
  readonly #memory: EngineMemory;
  readonly #ringBytes: number;
  #read: number;
  #parts: Uint8Array[] = [];
  /** By place among REUSED_BYTES. */
  readonly #reusable: ReadonlyArray<ArrayBufferLike[]> = REUSED_BYTES.map(() => []);

  constructor(engine: EngineMemory) {
    this.#memory = engine;
    this.#ringBytes = engine.rings.coordinatorBytes;
    this.#read = engine.load(CONTROL_COORDINATOR_READ);
  }

  /** Where the next fragment is read: it moves on also when only a part of a frame came. */
  get position(): number {
    return this.#read;
  }

  get fill(): number {
    return ((this.#memory.load(CONTROL_COORDINATOR_WRITTEN) - this.#read) >>> 0) / this.#ringBytes;
  }

  /** Has the engine send word of the next of such frames; true when one, or a part, is there already: then no word may come of it. */
  awaitFrames(awaited: AwaitedFrames): boolean {
    this.#memory.store(CONTROL_COORDINATOR_FRAMES_AWAITED, AWAITED[awaited]);
    return awaited === "any"
      ? this.#memory.load(CONTROL_COORDINATOR_WRITTEN) !== this.#read
      : this.#holdsPrompt() || this.fill >= RING_FILL_REPORTED;
  }

  /** The place behind the last prompt frame is looked up first: what is written is never less far. */
  #holdsPrompt(): boolean {
    const ahead = (this.#memory.load(CONTROL_COORDINATOR_PROMPT_WRITTEN) - this.#read) >>> 0;
    return ahead > 0 && ahead <= (this.#memory.load(CONTROL_COORDINATOR_WRITTEN) - this.#read) >>> 0;
  }

  /** True once after the engine has asked for word of room: ask behind what was taken. */
  isSpaceAwaited(): boolean {
    return this.#memory.take(CONTROL_COORDINATOR_SPACE_AWAITED);
  }

  /** Takes the payload of a frame back: nothing reads it any more. Frames of 64 KiB come at 40 MB/s, each an array outside V8's heap otherwise. */
  reuse(payload: Uint8Array): void {
    const buffers = this.#reusable[REUSED_BYTES.findIndex((bytes) => bytes === payload.buffer.byteLength)];
    if (buffers !== undefined && buffers.length < REUSED_MAX) buffers.push(payload.buffer);
  }

  #copy(from: number, bytes: number): Uint8Array {
    const source = this.#memory.bytes.subarray(from, from + bytes);
    const at = 2 * bytes < REUSED_BYTES[0] ? -1 : REUSED_BYTES.findIndex((most) => bytes <= most);
    if (at < 0) return new Uint8Array(source);
    const copy = new Uint8Array(this.#reusable[at]?.pop() ?? new ArrayBuffer(REUSED_BYTES[at] as number), 0, bytes);
    copy.set(source);
    return copy;
  }

  /** Takes at most `most` whole frames, oldest first, as copies. */
  take(most: number): EngineFrame[] {
    const frames: EngineFrame[] = [];
    while (frames.length < most) {
      const frame = this.#takeFragment();
      if (frame === undefined) break;
      if (frame.more) continue;
      const payload = this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : Buffer.concat(this.#parts);
      this.#parts = [];
      frames.push({ kind: frame.kind, payload });
    }
    return frames;
  }

  #takeFragment(): { kind: number; more: boolean } | undefined {
    if (this.#memory.load(CONTROL_COORDINATOR_WRITTEN) === this.#read) return undefined;
    const view = this.#memory.view;
    let at = this.#read % this.#ringBytes;
    if (view.getUint32(COORDINATOR_RING + at + 4, true) === KIND_WRAP) {
      this.#read = (this.#read + this.#ringBytes - at) >>> 0;
      at = 0;
    }
    const pointer = COORDINATOR_RING + at;
    const bytes = view.getUint32(pointer, true);
    const kind = view.getUint32(pointer + 4, true);
    this.#parts.push(this.#copy(pointer + HEADER_BYTES, bytes));
    this.#read = (this.#read + align8(HEADER_BYTES + bytes)) >>> 0;
    this.#memory.store(CONTROL_COORDINATOR_READ, this.#read);
    return { kind: kind & 0xff, more: (kind & FLAG_MORE) !== 0 };
  }
}
