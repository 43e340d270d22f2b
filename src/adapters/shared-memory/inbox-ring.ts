// Single-producer single-consumer ring of frames from writer i to the shard of engine j; it lies in j's memory. 1 MiB: sixteen full frames.
// Positions count bytes and wrap at 2^32. A frame never straddles the end: a FRAME_WRAP header fills the rest.
import { FRAME_ROWS_MAX } from "../../core/config/limits.ts";
import { CONTROL_INBOX, CONTROL_INBOX_READ, CONTROL_INBOX_STRIDE, INBOX, INBOX_BYTES } from "../../core/layout/memory-map.ts";
import {
  FRAME_ARRIVAL,
  FRAME_BASE,
  FRAME_BYTES,
  FRAME_HEADER_BYTES,
  FRAME_KIND,
  FRAME_OFFSET,
  FRAME_SEGMENT,
  FRAME_WRAP,
  ROW_BYTES,
} from "../../core/layout/row-frame.ts";
import type { EngineMemory } from "./engine-memory.ts";

/** Header of a frame, besides its payload. */
export interface FrameHead {
  /** SECTION_* with FRAME_LAST. */
  readonly kind: number;
  readonly baseMs: number;
  readonly arrivalMs: number;
  readonly segment: number;
  readonly offset: number;
}

/** A frame in place: `pointer` and `bytes` name its payload in the owner's memory, valid until `release`. */
export interface InboxFrame extends FrameHead {
  readonly pointer: number;
  readonly bytes: number;
}

const align8 = (bytes: number) => (bytes + 7) & ~7;

/** The writer's end. */
export class InboxWriter {
  readonly #memory: EngineMemory;
  readonly #ringBytes: number;
  readonly #start: number;
  readonly #writtenWord: number;
  readonly #readWord: number;
  #written: number;

  constructor(destination: EngineMemory, writer: number) {
    this.#memory = destination;
    this.#ringBytes = destination.rings.inboxBytes;
    this.#start = INBOX + writer * INBOX_BYTES;
    this.#writtenWord = CONTROL_INBOX + writer * CONTROL_INBOX_STRIDE;
    this.#readWord = this.#writtenWord + CONTROL_INBOX_READ;
    this.#written = destination.load(this.#writtenWord);
  }

  /** Bytes of payload that several frames of one ring have: 64 KB, less where a ring is narrow. */
  get payloadBytesMax(): number {
    return Math.min(FRAME_ROWS_MAX * ROW_BYTES, this.#ringBytes / 8 - FRAME_HEADER_BYTES);
  }

  /** Bytes written so far (wraps): compare with `hasRead` to know when the shard has taken them. */
  get written(): number {
    return this.#written;
  }

  hasRead(position: number): boolean {
    return ((this.#memory.load(this.#readWord) - position) | 0) >= 0;
  }

  get fill(): number {
    return ((this.#written - this.#memory.load(this.#readWord)) >>> 0) / this.#ringBytes;
  }

  /** Copies one frame into the ring; false when it has no room now. `payload` must start at a multiple of 8. */
  write(head: FrameHead, payload: Uint8Array): boolean {
    const bytes = FRAME_HEADER_BYTES + payload.byteLength;
    const padded = align8(bytes);
    const free = this.#ringBytes - ((this.#written - this.#memory.load(this.#readWord)) >>> 0);
    const at = this.#written % this.#ringBytes;
    const rest = this.#ringBytes - at;
    // A ring that is empty begins anew where that room is free: its first bytes are in the caches.
    const isEmpty = free === this.#ringBytes;
    const wrap = rest < padded || (isEmpty && padded <= at) ? rest : 0;
    if (free < padded + wrap) return false;
    if (wrap > 0) this.#memory.view.setUint32(this.#start + at + FRAME_KIND, FRAME_WRAP, true);
    const pointer = this.#start + (wrap > 0 ? 0 : at);
    this.#writeHead(pointer, head, bytes);
    this.#memory.bytes.set(payload, pointer + FRAME_HEADER_BYTES);
    this.#written = (this.#written + wrap + padded) >>> 0;
    this.#memory.store(this.#writtenWord, this.#written);
    return true;
  }

  #writeHead(pointer: number, head: FrameHead, bytes: number): void {
    const view = this.#memory.view;
    view.setUint32(pointer + FRAME_BYTES, bytes, true);
    view.setUint32(pointer + FRAME_KIND, head.kind, true);
    view.setFloat64(pointer + FRAME_BASE, head.baseMs, true);
    view.setFloat64(pointer + FRAME_ARRIVAL, head.arrivalMs, true);
    view.setUint32(pointer + FRAME_SEGMENT, head.segment, true);
    view.setUint32(pointer + FRAME_OFFSET, head.offset, true);
  }
}

/** The shard's end. */
export class InboxReader {
  readonly #memory: EngineMemory;
  readonly #ringBytes: number;
  readonly #start: number;
  readonly #writtenWord: number;
  readonly #readWord: number;
  #read: number;
  #next: number;

  constructor(own: EngineMemory, writer: number) {
    this.#memory = own;
    this.#ringBytes = own.rings.inboxBytes;
    this.#start = INBOX + writer * INBOX_BYTES;
    this.#writtenWord = CONTROL_INBOX + writer * CONTROL_INBOX_STRIDE;
    this.#readWord = this.#writtenWord + CONTROL_INBOX_READ;
    this.#read = own.load(this.#readWord);
    this.#next = this.#read;
  }

  /** Bytes written so far (wraps): what a later `hasRead` is asked. */
  get written(): number {
    return this.#memory.load(this.#writtenWord);
  }

  /** Whether everything up to a position has been released. */
  hasRead(position: number): boolean {
    return ((this.#read - position) | 0) >= 0;
  }

  /** The oldest frame, or undefined. Call `release` once it has been dealt with. */
  peek(): InboxFrame | undefined {
    if (this.#memory.load(this.#writtenWord) === this.#read) return undefined;
    const view = this.#memory.view;
    let at = this.#read % this.#ringBytes;
    if (view.getUint32(this.#start + at + FRAME_KIND, true) === FRAME_WRAP) {
      this.#read = (this.#read + this.#ringBytes - at) >>> 0;
      at = 0;
    }
    const pointer = this.#start + at;
    const bytes = view.getUint32(pointer + FRAME_BYTES, true);
    this.#next = (this.#read + align8(bytes)) >>> 0;
    return {
      kind: view.getUint32(pointer + FRAME_KIND, true),
      baseMs: view.getFloat64(pointer + FRAME_BASE, true),
      arrivalMs: view.getFloat64(pointer + FRAME_ARRIVAL, true),
      segment: view.getUint32(pointer + FRAME_SEGMENT, true),
      offset: view.getUint32(pointer + FRAME_OFFSET, true),
      pointer: pointer + FRAME_HEADER_BYTES,
      bytes: bytes - FRAME_HEADER_BYTES,
    };
  }

  release(): void {
    this.#read = this.#next;
    this.#memory.store(this.#readWord, this.#read);
  }
}
