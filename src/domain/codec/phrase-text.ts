// Text that is mostly made of known pieces, packed: {head varint, bytes}. An odd head is 1, and text as a ByteWriter writes it follows; else it is twice the
// number of bytes, each of which stands for
//
//   0x00             and the next byte: a far phrase (phrases.ts)
//   0x01 .. 0x03     one of the names that the writer and the reader both have
//   0x04 .. 0x1f     near phrases 0 to 27
//   0x20 .. 0x7e     itself
//   0x80 .. 0xe3     two digits, 00 to 99
//   0xe4 .. 0xff     near phrases 28 to 55
//
// A sentence of 130 characters about a z-score takes 28 bytes, labels of 160 as JSON 48. Text with other characters than printable ASCII is not packed. Some
// 10 ns a character for either direction.
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { FAR_PHRASES, NEAR_PHRASES } from "./phrases.ts";
import { writeVarint } from "./varint.ts";

const PLAIN = 1;
const FIRST_NAME = 0x01;
const FIRST_NEAR = 0x04;
const SPACE = 0x20;
const LAST_PRINTABLE = 0x7e;
const FIRST_PAIR = 0x80;
const PAIRS = 100;
/** Codes of far phrases, here: 256 and their place. */
const FIRST_FAR = 256;
const CODES = 512;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
/** Coded bytes whose number takes a byte. */
const SHORT_BYTES = 64;
const SHORT_CHARACTERS = 40;
const NAME_CHARACTERS_MIN = 2;
const NO_NAMES: readonly string[] = [];
const encoder = new TextEncoder();

/** Texts that codes stand for, one behind the other; a code without a length stands for nothing. */
const CODED: ReadonlyArray<readonly [code: number, text: string]> = [
  ...Array.from({ length: LAST_PRINTABLE + 1 - SPACE }, (_, i) => [SPACE + i, String.fromCharCode(SPACE + i)] as const),
  ...Array.from({ length: PAIRS }, (_, pair) => [FIRST_PAIR + pair, String(pair).padStart(2, "0")] as const),
  ...NEAR_PHRASES.map((text, index) => [nearCode(index), text] as const),
  ...FAR_PHRASES.map((text, index) => [FIRST_FAR + index, text] as const),
];
const PHRASES = Uint8Array.from(Buffer.from(CODED.map(([, text]) => text).join("")));
const START = new Uint16Array(CODES);
const LENGTH = new Uint8Array(CODES);
/** Phrases of four characters and more are found by a hash of the first four, shorter ones by the first: place in CANDIDATES, 0 for none. */
const HASH_BITS = 12;
const BY_FOUR = new Uint16Array(1 << HASH_BITS);
const BY_ONE = new Uint16Array(256);
/** Codes of phrases of one place, longest first, and a zero behind them. */
const CANDIDATES = new Uint16Array(2 * CODES);
fillTables();

/** The text that is written, and four zeros behind it. */
let ascii = new Uint8Array(4096);
let decoded = Buffer.alloc(4096);
const head = new Uint8Array(8);

/** Writes text; `names` are up to three that it may contain, of two characters or more. */
export function writePhrased(writer: ByteWriter, text: string, names: readonly string[] = NO_NAMES): void {
  writer.reserve(head.length + text.length);
  const from = writer.at;
  const end = takeAscii(text) ? pack(text, names, writer.bytes, from + 1) : 0;
  if (end === 0) {
    writer.u8(PLAIN);
    writer.text(text);
    return;
  }
  const count = end - from - 1;
  if (count < SHORT_BYTES) {
    writer.bytes[from] = 2 * count;
    writer.at = end;
    return;
  }
  const headBytes = writeVarint(2 * count, head, 0);
  writer.bytes.copyWithin(from + headBytes, from + 1, end);
  for (let i = 0; i < headBytes; i++) writer.bytes[from + i] = head[i]!;
  writer.at = from + headBytes + count;
}

/** Reads text that was written with the same names. Fails as the reader does. */
export function readPhrased(reader: ByteReader, bytesMax: number, names: readonly string[] = NO_NAMES): string {
  const headValue = reader.varint();
  if (headValue === PLAIN) return reader.text(bytesMax);
  const count = headValue / 2;
  if (headValue % 2 !== 0 || count > reader.end - reader.at) reader.fail();
  const from = reader.at;
  reader.at += count;
  const length = unpack(reader, from, names, bytesMax);
  return decoded.toString("latin1", 0, length);
}

/** Writes what the bytes up to the reader's place stand for; answers how long it is. */
function unpack(reader: ByteReader, start: number, names: readonly string[], bytesMax: number): number {
  const { bytes, at: end } = reader;
  let out = decoded;
  let at = 0;
  for (let from = start; from < end; from++) {
    const byte = bytes[from]!;
    if (byte >= FIRST_NAME && byte < FIRST_NEAR) {
      at = appendName(names[byte - FIRST_NAME] ?? reader.fail(), at);
      out = decoded;
      continue;
    }
    const code = byte > 0 || from + 1 === end ? byte : FIRST_FAR + bytes[++from]!;
    const index = START[code]!;
    const length = LENGTH[code]!;
    if (length === 0 || at > bytesMax) reader.fail();
    if (at + length > out.length) out = growDecoded(length);
    for (let k = 0; k < length; k++) out[at + k] = PHRASES[index + k]!;
    at += length;
  }
  return at;
}

/** Whether the text is one byte a character. Short ones are taken one by one, which costs less than the encoder's call. */
function takeAscii(text: string): boolean {
  const { length } = text;
  if (ascii.length < length + 4) ascii = new Uint8Array(2 * length + 4);
  const bytes = ascii;
  if (length > SHORT_CHARACTERS) {
    const { read, written } = encoder.encodeInto(text, bytes);
    if (read !== length || written !== length) return false;
  } else {
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > LAST_PRINTABLE) return false;
      bytes[i] = code;
    }
  }
  for (let i = length; i < length + 4; i++) bytes[i] = 0;
  return true;
}

/** Packs the text that was taken, which `text` is; answers where its bytes end, or 0 where a character has no code. */
function pack(text: string, names: readonly string[], out: Uint8Array, from: number): number {
  const bytes = ascii;
  const { length } = text;
  const first = initialOf(names[0]);
  const second = initialOf(names[1]);
  const third = initialOf(names[2]);
  let at = from;
  for (let i = 0; i < length; ) {
    const byte = bytes[i]!;
    if (byte === first || byte === second || byte === third) {
      const name = nameAt(text, i, names);
      if (name >= 0) {
        out[at++] = FIRST_NAME + name;
        i += names[name]!.length;
        continue;
      }
    }
    if (byte >= DIGIT_ZERO && byte <= DIGIT_NINE) {
      const next = bytes[i + 1]!;
      const isDigit = next >= DIGIT_ZERO && next <= DIGIT_NINE;
      out[at++] = isDigit ? FIRST_PAIR + 10 * (byte - DIGIT_ZERO) + next - DIGIT_ZERO : byte;
      i += isDigit ? 2 : 1;
      continue;
    }
    const code = phraseAt(bytes, i);
    if (code === 0 && (byte < SPACE || byte > LAST_PRINTABLE)) return 0;
    if (code >= FIRST_FAR) out[at++] = 0;
    out[at++] = code === 0 ? byte : code;
    i += code === 0 ? 1 : LENGTH[code]!;
  }
  return at;
}

/** -1 for a name that is never written as one. */
function initialOf(name: string | undefined): number {
  return name === undefined || name.length < NAME_CHARACTERS_MIN ? -1 : name.charCodeAt(0);
}

/** Which name begins there; -1 for none. */
function nameAt(text: string, i: number, names: readonly string[]): number {
  for (let name = 0; name < FIRST_NEAR - FIRST_NAME && name < names.length; name++) {
    const { length } = names[name]!;
    if (length >= NAME_CHARACTERS_MIN && text.startsWith(names[name]!, i)) return name;
  }
  return -1;
}

/** Code of the longest phrase that begins there; 0 for none. */
function phraseAt(bytes: Uint8Array, i: number): number {
  const index = BY_FOUR[hashOf(bytes[i]!, bytes[i + 1]!, bytes[i + 2]!, bytes[i + 3]!)]!;
  const code = index === 0 ? 0 : longestAt(index, bytes, i);
  if (code !== 0) return code;
  const short = BY_ONE[bytes[i]!]!;
  return short === 0 ? 0 : longestAt(short, bytes, i);
}

function longestAt(index: number, bytes: Uint8Array, i: number): number {
  for (let next = index; ; next++) {
    const code = CANDIDATES[next]!;
    if (code === 0 || beginsAt(code, bytes, i)) return code;
  }
}

function beginsAt(code: number, bytes: Uint8Array, i: number): boolean {
  const start = START[code]!;
  const length = LENGTH[code]!;
  for (let k = 0; k < length; k++) if (bytes[i + k] !== PHRASES[start + k]) return false;
  return true;
}

function hashOf(a: number, b: number, c: number, d: number): number {
  return Math.imul(a | (b << 8) | (c << 16) | (d << 24), 0x9e3779b1) >>> (32 - HASH_BITS);
}

/** Appends a name of ASCII, as it stands in a text of ASCII; returns its end. */
function appendName(name: string, at: number): number {
  const { length } = name;
  if (at + length > decoded.length) growDecoded(length);
  for (let k = 0; k < length; k++) decoded[at + k] = name.charCodeAt(k);
  return at + length;
}

function growDecoded(by: number): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(2 * decoded.length + by);
  decoded.copy(larger);
  decoded = larger;
  return larger;
}

function nearCode(index: number): number {
  const code = FIRST_NEAR + index;
  return code < SPACE ? code : FIRST_PAIR + PAIRS + code - SPACE;
}

function isDigits(text: string): boolean {
  return text.charCodeAt(0) >= DIGIT_ZERO && text.charCodeAt(0) <= DIGIT_NINE;
}

function fillTables(): void {
  let start = 0;
  for (const [code, { length }] of CODED) {
    START[code] = start;
    LENGTH[code] = length;
    start += length;
  }
  const lists = new Map<string, number[]>();
  const phrases = CODED.filter(([, text]) => text.length > 1 && !isDigits(text));
  for (const [code, text] of phrases.sort(([, a], [, b]) => b.length - a.length)) {
    const [a = 0, b = 0, c = 0, d = 0] = Buffer.from(text);
    const key = text.length < 4 ? `one ${a}` : `four ${hashOf(a, b, c, d)}`;
    lists.set(key, [...(lists.get(key) ?? []), code]);
  }
  let index = 1;
  for (const [key, codes] of lists) {
    const [by, at] = key.split(" ");
    (by === "one" ? BY_ONE : BY_FOUR)[Number(at)] = index;
    CANDIDATES.set(codes, index);
    index += codes.length + 1;
  }
}
