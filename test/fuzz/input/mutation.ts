// Damages an input the way faults and attackers do: bits, bytes, lengths, varints, boundary numbers, pieces of itself and of other inputs, cuts.
import type { Random } from "./random.ts";

const LIKELY_BYTES = [
  0, 1, 2, 7, 8, 9, 10, 13, 16, 18, 26, 32, 34, 44, 45, 48, 57, 58, 63, 64, 91, 92, 93, 123, 125, 127, 128, 129, 192, 254, 255,
];
const BOUNDARIES = [
  0,
  1,
  2,
  7,
  8,
  15,
  16,
  63,
  64,
  119,
  120,
  121,
  127,
  128,
  255,
  256,
  2 ** 15,
  2 ** 16 - 1,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 8,
  2 ** 32 - 1,
];
/** Numbers as varints, overlong and endless ones among them. */
const VARINTS: readonly Uint8Array[] = [
  [0x00],
  [0x01],
  [0x7f],
  [0x80, 0x01],
  [0xff, 0x7f],
  [0x80, 0x80, 0x01],
  [0xff, 0xff, 0xff, 0xff, 0x07],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x80, 0x80, 0x80, 0x80, 0x10],
  [0x80, 0x00],
  [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
].map((bytes) => Uint8Array.from(bytes));
const CHANGES_MAX = 5;
const PIECE_BYTES_MAX = 64;
const REPEATS_MAX = 200;

/** Damages inputs in a buffer of its own. */
export class Mutation {
  readonly #buffer: Uint8Array;
  readonly #view: DataView;
  readonly #piece = new Uint8Array(PIECE_BYTES_MAX);
  #length = 0;

  constructor(bytesMax: number) {
    this.#buffer = new Uint8Array(bytesMax);
    this.#view = new DataView(this.#buffer.buffer);
  }

  /** A damaged copy of `input`, a view that is valid until the next call; `other` is an input to take pieces from. */
  damage(input: Uint8Array, other: Uint8Array, tokens: readonly Uint8Array[], random: Random): Uint8Array {
    this.#length = Math.min(input.length, this.#buffer.length);
    this.#buffer.set(input.subarray(0, this.#length));
    for (let changes = random.between(1, CHANGES_MAX); changes > 0; changes--) this.#change(other, tokens, random);
    return this.#buffer.subarray(0, this.#length);
  }

  #change(other: Uint8Array, tokens: readonly Uint8Array[], random: Random): void {
    const at = random.below(this.#length + 1);
    const inside = Math.min(at, Math.max(0, this.#length - 1));
    switch (random.below(16)) {
      case 0:
      case 1:
        this.#buffer[inside] = (this.#buffer[inside] as number) ^ (1 << random.below(8));
        return;
      case 2:
        this.#buffer[inside] = random.next();
        return;
      case 3:
        this.#buffer[inside] = random.pick(LIKELY_BYTES);
        return;
      case 4:
        this.#buffer[inside] = (this.#buffer[inside] as number) + random.pick([-2, -1, 1, 2]);
        return;
      case 5:
        return this.#number(at, random);
      case 6:
        return this.#varint(inside, random);
      case 7:
        return this.#remove(at, random.between(1, 16));
      case 8:
        return this.#insertRandom(at, random);
      case 9:
        return this.#take(this.#buffer.subarray(0, this.#length), at, random);
      case 10:
      case 11:
        return this.#take(other, at, random);
      case 12:
        if (tokens.length > 0) this.#insert(at, random.pick(tokens));
        return;
      case 13:
        if (tokens.length > 0) this.#overwrite(at, random.pick(tokens));
        return;
      case 14:
        return this.#repeat(at, random);
      default:
        if (random.oneIn(3)) this.#length = at;
        else this.#remove(at, random.below(this.#length + 1));
    }
  }

  /** Writes a boundary number over two, four or eight bytes. */
  #number(at: number, random: Random): void {
    const value = random.pick(BOUNDARIES) + (random.oneIn(4) ? random.between(-2, 2) : 0);
    const width = random.pick([2, 4, 8]);
    if (at + width > this.#length) return;
    const littleEndian = !random.oneIn(4);
    if (width === 2) this.#view.setUint16(at, value, littleEndian);
    else if (width === 4) this.#view.setUint32(at, value, littleEndian);
    else
      this.#view.setFloat64(at, random.pick([value, -value, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e-310, 1e308]), littleEndian);
  }

  /** Replaces what may be a varint. */
  #varint(at: number, random: Random): void {
    let bytes = 1;
    while (bytes < 10 && at + bytes < this.#length && (this.#buffer[at + bytes - 1] as number) > 127) bytes++;
    this.#remove(at, bytes);
    this.#insert(at, random.pick(VARINTS));
  }

  #remove(at: number, bytes: number): void {
    const end = Math.min(this.#length, at + bytes);
    this.#buffer.copyWithin(at, end, this.#length);
    this.#length -= end - Math.min(at, end);
  }

  #insert(at: number, piece: Uint8Array): void {
    const bytes = Math.min(piece.length, this.#buffer.length - this.#length);
    this.#buffer.copyWithin(at + bytes, at, this.#length);
    this.#buffer.set(piece.subarray(0, bytes), at);
    this.#length += bytes;
  }

  #overwrite(at: number, piece: Uint8Array): void {
    this.#buffer.set(piece.subarray(0, this.#length - at), at);
  }

  #insertRandom(at: number, random: Random): void {
    const bytes = random.between(1, 12);
    for (let i = 0; i < bytes; i++) this.#piece[i] = random.next();
    this.#insert(at, this.#piece.subarray(0, bytes));
  }

  /** Inserts, or writes over, a piece of another place. */
  #take(from: Uint8Array, at: number, random: Random): void {
    if (from.length === 0) return;
    const start = random.below(from.length);
    const bytes = Math.min(random.between(1, PIECE_BYTES_MAX), from.length - start);
    this.#piece.set(from.subarray(start, start + bytes));
    if (random.oneIn(2)) this.#insert(at, this.#piece.subarray(0, bytes));
    else this.#overwrite(at, this.#piece.subarray(0, bytes));
  }

  /** The same few bytes again and again: deep nesting, many fields. */
  #repeat(at: number, random: Random): void {
    const bytes = Math.min(random.between(1, 8), this.#length - at);
    this.#piece.set(this.#buffer.subarray(at, at + bytes));
    for (let times = random.between(1, random.oneIn(4) ? REPEATS_MAX : 8); times > 0 && bytes > 0; times--) {
      this.#insert(at, this.#piece.subarray(0, bytes));
    }
  }
}
