// Writes binary inputs into one buffer that is used again for every input. What does not fit is cut off: a fuzzer's input may end anywhere.

const encoder = new TextEncoder();

export class InputWriter {
  readonly #buffer: Uint8Array;
  readonly #view: DataView;
  #length = 0;

  constructor(bytesMax: number) {
    this.#buffer = new Uint8Array(bytesMax);
    this.#view = new DataView(this.#buffer.buffer);
  }

  get length(): number {
    return this.#length;
  }

  /** What was written, as a view that is valid until the next `clear`. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): this {
    this.#length = 0;
    return this;
  }

  u8(value: number): this {
    if (this.#length < this.#buffer.length) this.#buffer[this.#length++] = value;
    return this;
  }

  u16(value: number): this {
    return this.u8(value & 255).u8((value >>> 8) & 255);
  }

  u32(value: number): this {
    return this.u16(value & 0xffff).u16((value >>> 16) & 0xffff);
  }

  f64(value: number): this {
    if (this.#length + 8 <= this.#buffer.length) {
      this.#view.setFloat64(this.#length, value, true);
      this.#length += 8;
    }
    return this;
  }

  /** A non-negative whole number up to 2^53. */
  varint(value: number): this {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.u8((rest % 128) | 128);
    return this.u8(rest);
  }

  raw(bytes: Uint8Array): this {
    const fitting = bytes.subarray(0, this.#buffer.length - this.#length);
    this.#buffer.set(fitting, this.#length);
    this.#length += fitting.length;
    return this;
  }

  text(text: string): this {
    this.#length += encoder.encodeInto(text, this.#buffer.subarray(this.#length)).written;
    return this;
  }

  /** Puts the length of what `content` writes in front of it, as protobuf does. */
  prefixed(content: () => void): this {
    const start = this.#length;
    content();
    const bytes = this.#length - start;
    const width = bytes < 128 ? 1 : bytes < 16384 ? 2 : 3;
    const end = Math.min(this.#length + width, this.#buffer.length);
    this.#buffer.copyWithin(start + width, start, end - width);
    this.#length = Math.min(start, end);
    this.varint(bytes);
    this.#length = end;
    return this;
  }
}
