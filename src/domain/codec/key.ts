/**
 * Ordered keys: the bytes of a composed key sort (memcmp) as its tuple of parts does, so that a range of keys is a range of tuples.
 *
 *   u16, u32         big-endian
 *   time             f64 big-endian, sign bit flipped (all bits where negative); descending: every bit of that inverted
 *   text             UTF-8 with 0x00 written as 0x00 0xff, then 0x00 0x01: "a" sorts before "a\0" and "ab"; order is by code point
 *   fixed            raw bytes of a length that both sides know (identities, hashes)
 */

import { KEY_BYTES_MAX } from "../../core/config/key-limits.ts";

const TEXT_END = 0x01;
const TEXT_ZERO = 0xff;
const LONE_SURROGATE = /\p{Surrogate}/u;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // a byte order mark is a character of the text

/** Whether a text, and `otherBytes` of other parts, can stand in one key. */
export function fitsKey(value: string, otherBytes: number): boolean {
  if (LONE_SURROGATE.test(value)) return false;
  let zeros = 0;
  for (let at = value.indexOf("\0"); at >= 0; at = value.indexOf("\0", at + 1)) zeros++;
  return encoder.encode(value).length + zeros + 2 + otherBytes <= KEY_BYTES_MAX;
}

/** Composes a key part by part; every method throws RangeError when a value is out of its range or the key grows beyond KEY_BYTES_MAX. */
export class KeyBuilder {
  #bytes = new Uint8Array(64);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Begins another key, in the same memory. */
  clear(): this {
    this.#length = 0;
    return this;
  }

  /** Appends an integer of 0..65,535. */
  u16(value: number): this {
    assertInteger(value, 0xffff);
    this.#grow(2).setUint16(this.#length - 2, value);
    return this;
  }

  /** Appends an integer of 0..4,294,967,295. */
  u32(value: number): this {
    assertInteger(value, 0xffff_ffff);
    this.#grow(4).setUint32(this.#length - 4, value);
    return this;
  }

  /** Appends a time in milliseconds, earlier first; any double but NaN (-0 counts as 0). */
  time(ms: number): this {
    return this.#time(ms, 0);
  }

  /** Appends a time in milliseconds, later first. */
  timeDescending(ms: number): this {
    return this.#time(ms, -1);
  }

  /** Appends a well-formed string (no lone surrogates: two of them would give one key). */
  text(value: string): this {
    if (LONE_SURROGATE.test(value)) throw new RangeError("a key text must be well-formed Unicode");
    const bytes = encoder.encode(value);
    if (!bytes.includes(0)) this.fixed(bytes);
    else for (const byte of bytes) this.#push(...(byte === 0 ? [0, TEXT_ZERO] : [byte]));
    this.#push(0, TEXT_END);
    return this;
  }

  /** Appends bytes as they are; their number must be the same in every key of the table. */
  fixed(bytes: Uint8Array): this {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length - bytes.length);
    return this;
  }

  /** Returns the key, a copy that the caller owns. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #time(ms: number, inversion: 0 | -1): this {
    if (Number.isNaN(ms)) throw new RangeError("a key time must be a number");
    const view = this.#grow(8);
    const at = this.#length - 8;
    view.setFloat64(at, ms + 0);
    const high = view.getInt32(at);
    const flip = high < 0 ? -1 : 0;
    view.setInt32(at, high ^ (flip | 0x8000_0000) ^ inversion);
    view.setInt32(at + 4, view.getInt32(at + 4) ^ flip ^ inversion);
    return this;
  }

  #push(...bytes: number[]): void {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length - bytes.length);
  }

  #grow(by: number): DataView {
    this.#length += by;
    if (this.#length > KEY_BYTES_MAX) throw new RangeError(`a key has at most ${KEY_BYTES_MAX} bytes`);
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return this.#view;
  }
}

/** Reads the parts of a key in the order they were composed; every method throws RangeError when the key ends early or is malformed. */
export class KeyReader {
  readonly #view: DataView;
  readonly #key: Uint8Array;
  #at: number;

  /** `at` is where the first part to be read begins. */
  constructor(key: Uint8Array, at = 0) {
    this.#at = at;
    this.#key = key;
    this.#view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  }

  /** Number of bytes not read yet. */
  get remaining(): number {
    return this.#key.length - this.#at;
  }

  /** Reads an integer of two bytes. */
  u16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  /** Reads an integer of four bytes. */
  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  /** Reads a time in milliseconds that `time` wrote. */
  time(): number {
    return this.#time(0);
  }

  /** Reads a time in milliseconds that `timeDescending` wrote. */
  timeDescending(): number {
    return this.#time(-1);
  }

  /** Reads a string. */
  text(): string {
    const bytes: number[] = [];
    for (;;) {
      const byte = this.#key[this.#take(1)]!;
      if (byte !== 0) {
        bytes.push(byte);
        continue;
      }
      const mark = this.#key[this.#take(1)]!;
      if (mark === TEXT_END) return decodeText(Uint8Array.from(bytes));
      if (mark !== TEXT_ZERO) throw new RangeError("a key text has an unknown escape");
      bytes.push(0);
    }
  }

  /** Reads `length` bytes as a copy. */
  fixed(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#key.slice(at, at + length);
  }

  #time(inversion: 0 | -1): number {
    const at = this.#take(8);
    return timeFromHalves(this.#view.getInt32(at) ^ inversion, this.#view.getInt32(at + 4) ^ inversion);
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.#key.length) throw new RangeError("a key ends early");
    this.#at = at + bytes;
    return at;
  }
}

/** Returns the smallest key above every key that starts with `prefix`; undefined when the prefix is empty or all 0xff, that is, has none. */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const end = prefix.slice(0, length);
  end[length - 1]! += 1;
  return end;
}

/** Compares two keys as the store does: negative, zero or positive; a prefix comes first. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
}

function timeFromHalves(high: number, low: number): number {
  const view = new DataView(new ArrayBuffer(8));
  const flip = high < 0 ? 0 : -1;
  view.setInt32(0, high ^ (flip | 0x8000_0000));
  view.setInt32(4, low ^ flip);
  return view.getFloat64(0);
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RangeError("a key text is not UTF-8");
  }
}

function assertInteger(value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new RangeError(`a key part must be an integer of 0..${max}, not ${value}`);
}
