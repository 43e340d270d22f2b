// The protobuf wire format, read in place without a schema: https://protobuf.dev/programming-guides/encoding/
// Bad bytes are no exception: next() answers false and `failed` says why it was the end.

/** Wire types. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;
const INDEX = 2 ** 32;
const REPLACEMENT = "\ufffd";
const HALF_CHARACTER = "\udcff";
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // a byte order mark is a character of the text

/** A cursor over one body. After next() the field's content lies between `from` and `to`, and a number's words are `low` and `high`. */
export class WireReader {
  readonly bytes: Buffer;
  readonly #view: DataView;
  at = 0;
  field = 0;
  wire = 0;
  from = 0;
  to = 0;
  low = 0;
  high = 0;
  /** The bytes are no message. */
  failed = false;

  /** `bytes` may lie in shared memory. */
  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads the field at `at` of a message that ends at `end`, and goes behind it; false at the end and when it is malformed. */
  next(end: number): boolean {
    if (this.at >= end || this.failed) return false;
    this.#readVarint();
    const tag = this.low;
    this.field = tag >>> 3;
    this.wire = tag & 7;
    if (this.high !== 0 || this.field === 0) return this.#fail();
    if (this.wire === WIRE_VARINT) {
      this.from = this.at;
      this.#readVarint();
    } else if (this.wire === WIRE_BYTES) {
      this.#readVarint();
      if (this.high !== 0 || this.low > end - this.at) return this.#fail();
      this.from = this.at;
      this.at += this.low;
    } else if (this.wire === WIRE_FIXED64) this.#readFixed(8, end);
    else if (this.wire === WIRE_FIXED32) this.#readFixed(4, end);
    else return this.#fail();
    this.to = this.at;
    return this.at > end || this.failed ? this.#fail() : true;
  }

  /** Reads one number of a packed field that ends at `end`; false when it is malformed. */
  element(wire: number, end: number): boolean {
    this.wire = wire;
    this.from = this.at;
    if (wire === WIRE_VARINT) this.#readVarint();
    else this.#readFixed(8, end);
    return this.at > end || this.failed ? this.#fail() : true;
  }

  #fail(): false {
    this.failed = true;
    return false;
  }

  #readFixed(bytes: number, end: number): void {
    this.from = this.at;
    this.at += bytes;
    if (this.at > end) return;
    this.low = this.#view.getUint32(this.from, true);
    this.high = bytes === 8 ? this.#view.getUint32(this.from + 4, true) : 0;
  }

  #readVarint(): void {
    const { bytes } = this;
    const first = bytes[this.at];
    if (first !== undefined && first < 128) {
      this.at++;
      this.low = first;
      this.high = 0;
      return;
    }
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[this.at++];
      if (byte === undefined) break;
      const seven = byte & 127;
      if (shift < 28) low |= seven << shift;
      else if (shift === 28) {
        low |= (seven << 28) >>> 0;
        high = seven >>> 4;
      } else if (shift < 63) high |= seven << (shift - 32);
      else high |= (seven & 1) << 31;
      if (byte < 128) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    this.failed = true;
    this.low = 0;
    this.high = 0;
  }

  /** Enters the message that is the field's content; false when the field is none. */
  enter(): boolean {
    if (this.wire !== WIRE_BYTES) return this.#fail();
    this.at = this.from;
    return true;
  }

  /** The field's bytes, a view. */
  content(): Uint8Array {
    if (this.wire !== WIRE_BYTES) this.failed = true;
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + this.from, this.to - this.from);
  }

  /** The field's text; undefined when it is none or its bytes are no UTF-8. Not for shared memory. */
  strictText(): string | undefined {
    return this.wire === WIRE_BYTES ? strictText(this.content()) : undefined;
  }

  /** The field's text; bytes that are no UTF-8 show as U+FFFD. */
  text(): string {
    if (this.wire !== WIRE_BYTES) this.failed = true;
    return this.from === this.to ? "" : textOf(this.bytes, this.from, this.to);
  }

  /** The field's text as a name: bytes that are no UTF-8 show as halves of characters, which no name may have (domain/series/name-rule.ts). */
  name(): string {
    const text = this.text();
    return text.includes(REPLACEMENT) ? nameOfBytes(this.bytes.subarray(this.from, this.to)) : text;
  }

  hex(): string {
    if (this.wire !== WIRE_BYTES) this.failed = true;
    return this.from === this.to ? "" : this.bytes.toString("hex", this.from, this.to);
  }

  base64(): string {
    if (this.wire !== WIRE_BYTES) this.failed = true;
    return this.bytes.toString("base64", this.from, this.to);
  }

  double(): number {
    if (this.wire === WIRE_FIXED64) return this.#view.getFloat64(this.from, true);
    this.failed = true;
    return 0;
  }

  /** An unsigned integer, varint or fixed; beyond 2^53 the nearest double. */
  unsigned(): number {
    if (this.wire === WIRE_BYTES) this.failed = true;
    return this.high * INDEX + this.low;
  }

  /** A signed integer, likewise. */
  signed(): number {
    if (this.wire === WIRE_BYTES) this.failed = true;
    return (this.high | 0) * INDEX + this.low;
  }

  /** sint32 and sint64 (zigzag), within 32 bits. */
  zigzag(): number {
    if (this.wire !== WIRE_VARINT) this.failed = true;
    return (this.low >>> 1) ^ -(this.low & 1);
  }

  /** sint64; beyond 2^53 the nearest double. */
  zigzag64(): number {
    if (this.wire !== WIRE_VARINT) this.failed = true;
    const half = this.high * (INDEX / 2) + (this.low >>> 1);
    return (this.low & 1) === 0 ? half : -half - 1;
  }

  /** Nanoseconds of a fixed64 as whole milliseconds. 2^32 ns are 4,294 ms and 967,296 ns, so no step of this rounds. */
  milliseconds(): number {
    if (this.wire !== WIRE_FIXED64) this.failed = true;
    return this.high * 4_294 + Math.floor((this.high * 967_296 + this.low) / 1e6);
  }

  /** Nanoseconds of the fixed64 behind those milliseconds. */
  nanosecondsBehind(): number {
    return (this.high * 967_296 + this.low) % 1e6;
  }

  /** The milliseconds with their fraction, as near as a double is: 0.25 us. */
  fractionalMilliseconds(): number {
    return this.milliseconds() + this.nanosecondsBehind() / 1e6;
  }
}

/** Adds the numbers of a repeated field, packed or one, as `read` reads them of the reader; a field with more than `most` is read no further. */
export function readNumbers(reader: WireReader, wire: number, most: number, into: number[], read: () => number): void {
  if (reader.wire === wire) {
    if (into.length <= most) into.push(read());
    return;
  }
  const end = reader.to;
  if (!reader.enter()) return;
  while (reader.at < end && into.length <= most && reader.element(wire, end)) into.push(read());
  reader.at = end;
}

/** The text of UTF-8 that is not in shared memory; undefined for other bytes. */
export function strictText(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of a name's bytes, which may lie in shared memory; what is no UTF-8 in them shows as halves of characters. */
export function nameOfBytes(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return text.includes(REPLACEMENT) && strictText(Buffer.from(bytes)) === undefined ? text.replaceAll(REPLACEMENT, HALF_CHARACTER) : text;
}

/** Texts that were read last, by a few of their bytes: names of attributes and many values come again and again. At most 4,096 of 64 characters. */
const TEXTS: string[] = Array.from({ length: 4096 }, () => "");
const RETAINED_BYTES_MAX = 64;

/** A text of one byte or more. */
function textOf(bytes: Buffer, from: number, to: number): string {
  const length = to - from;
  if (length > RETAINED_BYTES_MAX) return bytes.toString("utf8", from, to);
  const middle = bytes[from + (length >> 1)] as number;
  const index = (length * 211 + (bytes[from] as number) * 131 + middle * 31 + (bytes[to - 1] as number) * 7) & 4095;
  const retained = TEXTS[index] as string;
  if (retained.length === length && holds(retained, bytes, from)) return retained;
  const text = bytes.toString("utf8", from, to);
  TEXTS[index] = text;
  return text;
}

/** Whether the bytes from there on are this text, all ASCII: of other texts no byte has a character's code. */
function holds(text: string, bytes: Buffer, from: number): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== bytes[from + i] || code > 127) return false;
  }
  return true;
}
