// Numbers that people and machines mostly write with few digits, packed: varint of 8 * zigzag(value * 10^decimals) + decimals for up to six decimals. Every
// other double takes nine bytes, 7 and itself; an infinite one takes one. What comes back is the identical double.
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { unzigzag, zigzag } from "./varint.ts";

const SCALES = [1, 10, 100, 1e3, 1e4, 1e5, 1e6];
const FORMS = 8;
const RAW = 7;
const INFINITE = RAW + FORMS;
/** A difference that does not give the number back: the number itself, raw. */
const ITSELF = RAW + 2 * FORMS;
/** Eight times its zigzag is a varint. */
const SCALED_MAX = 2 ** 49;
const NEAR_BITS = 16;
/** A quarter of what 16 bits distinguish: a later version of the program may predict a little else. */
const NEAR_MAX = 2 ** (NEAR_BITS - 2);
const WORD = 2 ** 32;

const halves = new DataView(new ArrayBuffer(16));

export function writeNumber(writer: ByteWriter, value: number): void {
  const decimals = decimalsOf(value);
  if (decimals < SCALES.length) {
    writer.varint(FORMS * zigzag(Math.round(value * SCALES[decimals]!)) + decimals);
    return;
  }
  writer.varint(value === Number.POSITIVE_INFINITY ? INFINITE : RAW);
  if (value !== Number.POSITIVE_INFINITY) writer.double(value);
}

export function readNumber(reader: ByteReader): number {
  const head = reader.varint();
  const form = head % FORMS;
  if (form !== RAW) return unzigzag((head - form) / FORMS) / SCALES[form]!;
  if (head === INFINITE) return Number.POSITIVE_INFINITY;
  return head === RAW ? reader.double() : reader.fail();
}

/** Writes a number as its difference to `base`. */
export function writeDifference(writer: ByteWriter, value: number, base: number): void {
  const difference = value - base;
  if (Object.is(base + difference, value) && Number.isInteger(difference) && isPackable(difference)) {
    writer.varint(FORMS * zigzag(difference));
    return;
  }
  writer.varint(ITSELF);
  writer.double(value);
}

export function readDifference(reader: ByteReader, base: number): number {
  const head = reader.varint();
  if (head === ITSELF) return reader.double();
  return head % FORMS === 0 ? base + unzigzag(head / FORMS) : reader.fail();
}

/** Whether a number is so near what was predicted for it that its last 16 bits are enough to know it. */
export function isNear(value: number, predicted: number): boolean {
  halves.setFloat64(0, value);
  halves.setFloat64(8, predicted);
  const difference = (halves.getUint32(0) - halves.getUint32(8)) * WORD + halves.getUint32(4) - halves.getUint32(12);
  return Math.abs(difference) < NEAR_MAX;
}

/** Writes two bytes of a number that is near. */
export function writeNear(writer: ByteWriter, value: number): void {
  halves.setFloat64(0, value);
  writer.u8(halves.getUint8(6));
  writer.u8(halves.getUint8(7));
}

/** Reads the number that is nearest to the predicted one, of those that end in the two bytes. */
export function readNear(reader: ByteReader, predicted: number): number {
  halves.setFloat64(0, predicted);
  const low = halves.getUint32(4);
  const stored = (reader.u8() << 8) | reader.u8();
  const difference = ((stored - low) << NEAR_BITS) >> NEAR_BITS;
  const sum = low + difference;
  halves.setUint32(4, sum);
  halves.setInt32(0, halves.getInt32(0) + Math.floor(sum / WORD));
  return halves.getFloat64(0);
}

/** Decimals that a number has; RAW where they are more than six, or it is too large. */
function decimalsOf(value: number): number {
  const most = SCALES.length - 1;
  if (!Number.isInteger(value) && Math.round(value * SCALES[most]!) / SCALES[most]! !== value) return RAW;
  for (let decimals = 0; decimals <= most; decimals++) {
    const scale = SCALES[decimals]!;
    const scaled = Math.round(value * scale);
    if (scaled / scale === value) return isPackable(scaled) ? decimals : RAW;
  }
  return RAW;
}

function isPackable(integer: number): boolean {
  return Math.abs(integer) < SCALED_MAX && !Object.is(integer, -0);
}
