// Reads what a ByteWriter wrote, checked: bytes that none has written are an error, and never read beyond their end.

import { type ByteCursor, readVarint } from "./varint.ts";

/** A place in bytes that goes forward. Every method throws an Error with the words for damage when what it reads is cut off or is none. */
export class ByteReader implements ByteCursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;
  readonly dataView: DataView;
  readonly #damage: string;

  /** `damage` says what the bytes are of which something is wrong: "a message on traces is damaged". */
  constructor(bytes: Uint8Array, damage: string, at = 0) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.at = at;
    this.dataView = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#damage = damage;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** For what the caller finds wrong. */
  fail(): never {
    throw new Error(this.#damage);
  }

  u8(): number {
    if (this.at >= this.end) this.fail();
    return this.bytes[this.at++]!;
  }

  u32(): number {
    return this.dataView.getUint32(this.#skip(4), true);
  }

  double(): number {
    return this.dataView.getFloat64(this.#skip(8), true);
  }

  /** An integer of 0 to 2^56, exact up to 2^53. */
  varint(): number {
    const value = readVarint(this);
    return value < 0 ? this.fail() : value;
  }

  /** {UTF-8 bytes varint, UTF-8} of at most `bytesMax`; bytes that are no UTF-8 show as U+FFFD. */
  text(bytesMax: number): string {
    return this.#encoded("utf8", bytesMax);
  }

  /** {bytes varint, bytes} as text of one character a byte. */
  latin1(): string {
    return this.#encoded("latin1", this.end);
  }

  #encoded(encoding: "utf8" | "latin1", bytesMax: number): string {
    const count = this.varint();
    if (count > bytesMax) this.fail();
    const from = this.bytes.byteOffset + this.#skip(count);
    return Buffer.from(this.bytes.buffer, from, count).toString(encoding);
  }

  /** Goes behind {bytes varint, bytes} of at most `bytesMax`. */
  skipText(bytesMax: number): void {
    const count = this.varint();
    if (count > bytesMax) this.fail();
    this.#skip(count);
  }

  /** {bytes varint, bytes} of at most `bytesMax`: a view. */
  view(bytesMax: number): Uint8Array {
    const count = this.varint();
    if (count > bytesMax) this.fail();
    const from = this.#skip(count);
    return this.bytes.subarray(from, from + count);
  }

  /** So many bytes as lower-case hex digits. */
  hex(count: number): string {
    const from = this.bytes.byteOffset + this.#skip(count);
    return Buffer.from(this.bytes.buffer, from, count).toString("hex");
  }

  /** Goes behind so many bytes; answers where they begin. */
  #skip(count: number): number {
    const from = this.at;
    if (count > this.end - from) this.fail();
    this.at = from + count;
    return from;
  }
}
