// Texts that spans have in common, by number: names of operations and whole attributes (KeyValue messages). What was entered was checked, so it need not be checked again.
// Numbers go on when the table is full and begins anew: a number never means two texts. Sketch: 15 ns for a text of 40 bytes in cache.
import {
  SPAN_TEXT_AREA, SPAN_TEXT_AREA_BYTES, SPAN_TEXT_GUESSES, SPAN_TEXT_GUESSES_EACH, SPAN_TEXT_INDEX, SPAN_TEXT_PLACES, SPAN_TEXTS, SPAN_TEXTS_MAX,
} from "../../../../core/layout/memory-map";
import { NO_SPAN_TEXT, SPAN_TEXT_BYTES_MAX } from "../../../../core/layout/span-row";
import { hashOfKey, hashLow } from "../hash/identity-hash";

const ENTRY_BYTES: usize = 16;
const ENTRY_HASH: usize = 0; // u64
const ENTRY_POINTER: usize = 8; // u32
const ENTRY_LENGTH: usize = 12; // u32
/** Numbers begin anew here, by when those before are long forgotten; twice a number is below 2^31 (domain/trace/span-block.ts). */
const FIRST_MAX: u32 = 1 << 29;

let first: u32 = 0; // number of the first text of the table as it is
let count: u32 = 0;
let areaUsed: usize = 0;
let isFull: bool = false;

/** Number of the first text that the table holds; those below are forgotten. */
export function spanTextsFirst(): u32 {
  return first;
}

/** Where the bytes of a text lie; its number must be one of the table's. */
export function spanTextPointer(number: u32): u32 {
  return load<u32>(<usize>SPAN_TEXTS + <usize>(number - first) * ENTRY_BYTES, ENTRY_POINTER);
}

export function spanTextBytes(number: u32): u32 {
  return load<u32>(<usize>SPAN_TEXTS + <usize>(number - first) * ENTRY_BYTES, ENTRY_LENGTH);
}

/** Begins the table anew where it is full. To be called while nobody holds a number. */
export function renewSpanTexts(): void {
  if (!isFull) return;
  memory.fill(SPAN_TEXT_INDEX, 0, SPAN_TEXT_PLACES * 4);
  first += count;
  if (first > FIRST_MAX) first = 0;
  count = 0;
  areaUsed = 0;
  isFull = false;
}

/** Entry of the index for the text that was looked for last. */
let indexEntry: usize = 0;
let hash: u64 = 0;

/** Kinds of texts, which are checked in different ways: one is never taken for the other. */
export const SPAN_TEXT_ATTRIBUTE: u32 = 0;
export const SPAN_TEXT_NAME: u32 = 1;

/** The number of a text of a kind, or NO_SPAN_TEXT where the table does not hold it: enterSpanText() then does, as long as it has room. */
export function findSpanText(pointer: usize, bytes: u32, kind: u32): u32 {
  if (bytes > <u32>SPAN_TEXT_BYTES_MAX) return NO_SPAN_TEXT;
  hashOfKey(pointer, bytes, kind);
  hash = hashLow;
  let at = <usize>hash & (SPAN_TEXT_PLACES - 1);
  while (true) {
    indexEntry = <usize>SPAN_TEXT_INDEX + at * 4;
    const stored = load<u32>(indexEntry);
    if (stored == 0) return NO_SPAN_TEXT;
    const entry = <usize>SPAN_TEXTS + <usize>(stored - 1) * ENTRY_BYTES;
    if (
      load<u64>(entry, ENTRY_HASH) == hash && load<u32>(entry, ENTRY_LENGTH) == bytes && isEqual(<usize>load<u32>(entry, ENTRY_POINTER), pointer, bytes)
    ) return first + stored - 1;
    at = (at + 1) & (SPAN_TEXT_PLACES - 1);
  }
}

/** Where the guess of a name's attribute stands, 0 for none: spans of one name mostly have the attributes of the one before, and comparing is cheaper than hashing. */
// @ts-ignore
@inline
export function guessAddress(name: u32, attribute: u32): usize {
  if (name == NO_SPAN_TEXT || attribute >= <u32>SPAN_TEXT_GUESSES_EACH) return 0;
  return <usize>SPAN_TEXT_GUESSES + ((<usize>(name - first) * SPAN_TEXT_GUESSES_EACH + attribute) << 2);
}

/** Whether the guess is right. */
// @ts-ignore
@inline
export function isGuess(number: u32, pointer: usize, bytes: u32): bool {
  if (number - first >= count) return false;
  const entry = <usize>SPAN_TEXTS + <usize>(number - first) * ENTRY_BYTES;
  return load<u32>(entry, ENTRY_LENGTH) == bytes && isEqual(<usize>load<u32>(entry, ENTRY_POINTER), pointer, bytes);
}

/** Enters the text that was looked for last in vain; its number, or NO_SPAN_TEXT where there is no room. */
export function enterSpanText(pointer: usize, bytes: u32): u32 {
  if (bytes > <u32>SPAN_TEXT_BYTES_MAX) return NO_SPAN_TEXT;
  if (count == <u32>SPAN_TEXTS_MAX || areaUsed + bytes > <usize>SPAN_TEXT_AREA_BYTES) {
    isFull = true;
    return NO_SPAN_TEXT;
  }
  const to = <usize>SPAN_TEXT_AREA + areaUsed;
  memory.copy(to, pointer, bytes);
  areaUsed += bytes;
  const entry = <usize>SPAN_TEXTS + <usize>count * ENTRY_BYTES;
  store<u64>(entry, hash, ENTRY_HASH);
  store<u32>(entry, <u32>to, ENTRY_POINTER);
  store<u32>(entry, bytes, ENTRY_LENGTH);
  store<u32>(indexEntry, ++count);
  return first + count - 1;
}

// @ts-ignore
@inline
function isEqual(a: usize, b: usize, bytes: u32): bool {
  let at: usize = 0;
  const end = <usize>bytes;
  while (at + 8 <= end) {
    if (load<u64>(a + at) != load<u64>(b + at)) return false;
    at += 8;
  }
  while (at < end) {
    if (load<u8>(a + at) != load<u8>(b + at)) return false;
    at++;
  }
  return true;
}
