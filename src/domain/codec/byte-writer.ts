/** A buffer that grows as it is written: one a writer keeps and uses again, so that a state of megabytes makes no garbage but its copy. */

import { ShortCopies } from "../../core/collections/short-copies.ts";
import { VARINT_BYTES_MAX, writeVarint } from "./varint.ts";

const encoder = new TextEncoder();
const FIRST_BYTES = 64 * 1024;
/** Longer ones are copied by the system. */
export const COPIED_BYTES_MAX = 64;

/** Encoding that `text` writes, for a text that is written again and again. */
export function encodeText(value: string): Uint8Array {
  const writer = new ByteWriter(VARINT_BYTES_MAX + 3 * value.length);
  writer.text(value);
  return writer.bytes.slice(0, writer.at);
}
/** Length, in characters, below which a text is written character by character: its length is a varint of one byte. */
const SHORT_CHARACTERS = 64;
const ASCII_MAX = 0x7f;

/** Value of a character that is known to be a hex digit. */
function digit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : (code & 0x5f) - 0x37;
}

/** Value of a lower-case hex digit; below 0 or above 15 for any other character. */
function lowerDigit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : code < 0x61 ? -1 : code - 0x57;
}

/** Bytes in the making. */
export class ByteWriter {
  /** Valid until the next write; what stands behind `at` is of no meaning. */
  bytes: Uint8Array<ArrayBuffer>;
  view: DataView;
  /** Where the next byte goes. */
  at = 0;
  #copies: ShortCopies | undefined;

  constructor(firstBytes = FIRST_BYTES) {
    this.bytes = new Uint8Array(firstBytes);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Makes room for so many bytes behind `at`, which the caller may then write into `bytes` and `view` itself. */
  reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.at + count));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }

  /** A copy of what was written, which may share its memory with those before and behind it. */
  shortCopy(): Uint8Array<ArrayBuffer> {
    this.#copies ??= new ShortCopies();
    return this.#copies.copy(this.bytes, this.at);
  }

  u32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.at, value, true);
    this.at += 4;
  }

  /** An integer of 0 to 2^53. */
  varint(value: number): void {
    this.reserve(VARINT_BYTES_MAX);
    this.at = writeVarint(value, this.bytes, this.at);
  }

  u8(value: number): void {
    this.reserve(1);
    this.bytes[this.at++] = value;
  }

  double(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** UTF-8 without its length. */
  utf8(value: string): void {
    this.reserve(3 * value.length);
    this.at += encoder.encodeInto(value, this.bytes.subarray(this.at)).written;
  }

  /** {UTF-8 bytes varint, UTF-8}. */
  text(value: string): void {
    if (value.length < SHORT_CHARACTERS && this.#ascii(value)) return;
    const bytesMax = 3 * value.length;
    this.reserve(VARINT_BYTES_MAX + bytesMax);
    const from = this.at + (value.length < 43 ? 1 : VARINT_BYTES_MAX);
    const { written } = encoder.encodeInto(value, this.bytes.subarray(from, from + bytesMax));
    this.at = writeVarint(written, this.bytes, this.at);
    if (this.at !== from) this.bytes.copyWithin(this.at, from, from + written);
    this.at += written;
  }

  /** Short names are mostly ASCII: written one by one they cost a third of what the encoder's call does. False, with nothing written, for any other. */
  #ascii(value: string): boolean {
    const count = value.length;
    this.reserve(1 + count);
    const { bytes, at } = this;
    for (let i = 0; i < count; i++) {
      const code = value.charCodeAt(i);
      if (code > ASCII_MAX) return false;
      bytes[at + 1 + i] = code;
    }
    bytes[at] = count;
    this.at = at + 1 + count;
    return true;
  }

  /** {bytes varint, bytes} of text of one character a byte. */
  latin1(value: string): void {
    this.varint(value.length);
    this.reserve(value.length);
    Buffer.from(this.bytes.buffer, this.at, value.length).write(value, "latin1");
    this.at += value.length;
  }

  /** Hex digits as bytes. */
  hex(digits: string): void {
    const count = digits.length >> 1;
    this.reserve(count);
    for (let i = 0; i < count; i++) this.bytes[this.at++] = (digit(digits, 2 * i) << 4) | digit(digits, 2 * i + 1);
  }

  /** Lower-case hex digits, in pairs, as bytes; false, with nothing written, where there is another character among them. */
  tryHex(digits: string): boolean {
    const count = digits.length >> 1;
    this.reserve(count);
    const { bytes, at } = this;
    for (let i = 0; i < count; i++) {
      const high = lowerDigit(digits, 2 * i);
      const low = lowerDigit(digits, 2 * i + 1);
      if ((high | low) & ~0xf) return false;
      bytes[at + i] = (high << 4) | low;
    }
    this.at = at + count;
    return true;
  }

  copy(source: Uint8Array): void {
    const { length } = source;
    this.reserve(length);
    const { bytes, at } = this;
    if (length > COPIED_BYTES_MAX) bytes.set(source, at);
    else for (let i = 0; i < length; i++) bytes[at + i] = source[i]!;
    this.at = at + length;
  }
}
