// What a unit of work brings to the coordinator besides rows: sections of its log block and, of the same bytes, frames. Written once, into one buffer that is used again.
import { ByteWriter } from "./byte-writer.ts";

/** First size of the buffer, and the largest that is kept for the next unit: a unit of spans has some 100 KiB. */
const BYTES_FIRST = 4 * 1024;
const BYTES_RETAINED_MAX = 2 * 1024 * 1024;

const align8 = (bytes: number) => (bytes + 7) & ~7;

/** A frame for the coordinator; its payload is valid until something is added or cleared. */
export interface OpaqueFrame {
  readonly frame: number;
  readonly payload: Uint8Array;
}

/** Sections in their order: {kind u32, bytes u32, payload padded to 8}. */
export class OpaqueSections {
  #writer = new ByteWriter(BYTES_FIRST);
  /** By section the kind of its frame, where its payload begins, and its bytes. */
  #places: Array<{ readonly frame: number; readonly at: number; readonly bytes: number }> = [];
  /** Bytes of all payloads. */
  bytes = 0;

  add(section: number, frame: number, payload: Uint8Array): void {
    const writer = this.#writer;
    const bytes = payload.byteLength;
    writer.u32(section);
    writer.u32(bytes);
    const at = writer.at;
    writer.copy(payload);
    const padding = align8(bytes) - bytes;
    writer.reserve(padding);
    for (let i = 0; i < padding; i++) writer.bytes[writer.at++] = 0;
    this.#places.push({ frame, at, bytes });
    this.bytes += bytes;
  }

  /** All sections in one piece, valid as its frames are. */
  get section(): Uint8Array {
    return this.#writer.bytes.subarray(0, this.#writer.at);
  }

  get count(): number {
    return this.#places.length;
  }

  get frames(): OpaqueFrame[] {
    const { bytes: all } = this.#writer;
    return this.#places.map(({ frame, at, bytes }) => ({ frame, payload: all.subarray(at, at + bytes) }));
  }

  clear(): void {
    if (this.#writer.bytes.length > BYTES_RETAINED_MAX) this.#writer = new ByteWriter(BYTES_FIRST);
    this.#writer.at = 0;
    this.#places = [];
    this.bytes = 0;
  }
}
