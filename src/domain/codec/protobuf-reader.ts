// Reads the fields of protobuf messages one after another, without a schema: https://protobuf.dev/programming-guides/encoding/
// For the parts of bodies that come seldom; the kernel reads the rest (assembly/protobuf-wire.ts).

export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

const NOTHING = new Uint8Array(0);

/** A cursor over one message. After next() the getters tell of the field that it stands at. */
export class ProtobufReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #varint = 0;
  #fixedAt = 0;
  field = 0;
  wireType = 0;
  /** A field was cut off, had a length beyond the message, or was a group: nothing behind it was read. */
  isMalformed = false;
  /** Content of a field of WIRE_BYTES: a view. */
  content: Uint8Array = NOTHING;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Goes to the next field; false at the end, and where the message is malformed. */
  next(): boolean {
    if (this.isMalformed || this.#at >= this.#bytes.length) return false;
    const tag = this.#readVarint();
    this.field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.field === 0 || tag > 0xffffffff || !this.#readContent()) this.isMalformed = true;
    return !this.isMalformed;
  }

  #readContent(): boolean {
    if (this.wireType === WIRE_VARINT) {
      this.#varint = this.#readVarint();
      return this.#varint >= 0 || !this.isMalformed;
    }
    const bytes =
      this.wireType === WIRE_BYTES ? this.#readVarint() : this.wireType === WIRE_FIXED64 ? 8 : this.wireType === WIRE_FIXED32 ? 4 : -1;
    if (this.isMalformed || bytes < 0 || bytes > this.#bytes.length - this.#at) return false;
    this.#fixedAt = this.#at;
    if (this.wireType === WIRE_BYTES) this.content = this.#bytes.subarray(this.#at, this.#at + bytes);
    this.#at += bytes;
    return true;
  }

  /** Value of a varint as a signed 64-bit number (int32, int64); exact up to 2^53. */
  get integer(): number {
    return this.#varint;
  }

  /** Value of a varint as sint32 or sint64; exact up to 2^52. */
  get zigzag(): number {
    return unzigzag(this.#varint);
  }

  /** Value of a field of eight bytes as a double. */
  get double(): number {
    return this.#view.getFloat64(this.#fixedAt, true);
  }

  /** The bits of that value. */
  get doubleBits(): bigint {
    return this.#view.getBigUint64(this.#fixedAt, true);
  }

  /** The varints of a packed field; sets isMalformed where one is cut off. */
  packedIntegers(): number[] {
    const reader = new ProtobufReader(this.content);
    const numbers: number[] = [];
    while (reader.#at < reader.#bytes.length && !reader.isMalformed) numbers.push(reader.#readVarint());
    this.isMalformed ||= reader.isMalformed;
    return numbers;
  }

  /** The sint64 of a packed field, as packedIntegers(). */
  packedZigzags(): number[] {
    return this.packedIntegers().map(unzigzag);
  }

  /** The doubles of a packed field. */
  packedDoubles(): number[] {
    const { content } = this;
    if (content.length % 8 !== 0) this.isMalformed = true;
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    return Array.from({ length: Math.floor(content.length / 8) }, (_, i) => view.getFloat64(8 * i, true));
  }

  /** A varint as a signed number; -1 and isMalformed where it is cut off or has more than ten bytes. */
  #readVarint(): number {
    let low = 0;
    let high = 0;
    for (let i = 0; i < 10; i++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      const bits = byte & 127;
      if (i < 4) low += bits * 2 ** (7 * i);
      else if (i === 4) {
        low += (bits & 15) * 2 ** 28;
        high += bits >> 4;
      } else if (i < 9) high += bits * 2 ** (7 * i - 32);
      else high += (bits & 1) * 2 ** 31;
      if (byte < 128) return (high >= 2 ** 31 ? high - 2 ** 32 : high) * 2 ** 32 + low;
    }
    this.isMalformed = true;
    return -1;
  }
}

/** The number that a zigzag varint, read as signed, stands for. */
function unzigzag(value: number): number {
  const code = value < 0 ? value + 2 ** 64 : value;
  return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
}
