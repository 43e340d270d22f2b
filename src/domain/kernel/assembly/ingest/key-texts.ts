// Label bytes of the key table's remote-write streams, in the order in which the streams came. Senders repeat their series in the same order, so the text
// behind the one that was met last is compared with a series before it is hashed: a third of the time, and nothing to look up. Whatever does not match is
// hashed; a text more or less changes nothing but speed. What the area does not hold is hashed always: some 100,000 series fit.
import { KEY_TEXT_OF, KEY_TEXTS, KEY_TEXTS_BYTES } from "../../../../core/layout/memory-map";

/** A text: the number of its entry in the key table, its length, its bytes, and up to 7 more, so that the next begins at a word. */
const TEXT_ENTRY: usize = 0;
const TEXT_BYTES: usize = 4;
const TEXT_HEAD_BYTES: usize = 8;
/** Shorter ones are not kept: the comparison takes 16 bytes at a time, the last of them ending with the text. */
const TEXT_BYTES_MIN: u32 = 16;

let textsEnd: usize = KEY_TEXTS;
/** The text that is expected next. */
let expected: usize = KEY_TEXTS;

// @ts-ignore
@inline
function behind(text: usize, bytes: u32): usize {
  return text + ((TEXT_HEAD_BYTES + bytes + 7) & ~7);
}

// @ts-ignore
@inline
function differ(a: usize, b: usize): v128 {
  return v128.xor(v128.load(a), v128.load(b));
}

// @ts-ignore
@inline
function isSame(a: usize, b: usize, bytes: u32): bool {
  const last = a + bytes - 16;
  const distance = b - a;
  for (; a + 16 < last; a += 32) {
    if (v128.any_true(v128.or(differ(a, a + distance), differ(a + 16, a + 16 + distance)))) return false;
  }
  // Up to 32 bytes are left, and the last 16 of them may have been compared.
  return !v128.any_true(v128.or(differ(min(a, last), min(a, last) + distance), differ(last, last + distance)));
}

/** Number of the entry whose text is expected next, if these are its bytes, else -1; then the one behind it is expected. The tenant is the caller's to compare. */
// @ts-ignore
@inline
export function keyExpects(pointer: usize, bytes: u32): i32 {
  let text = expected;
  if (text == textsEnd) text = KEY_TEXTS;
  if (text == textsEnd || load<u32>(text, TEXT_BYTES) != bytes || !isSame(text + TEXT_HEAD_BYTES, pointer, bytes)) return -1;
  expected = behind(text, bytes);
  return load<i32>(text, TEXT_ENTRY);
}

/** Expects the text behind that of an entry; false when that has none. */
export function keyExpectBehind(entry: u32): bool {
  const position = load<u32>(<usize>KEY_TEXT_OF + (<usize>entry << 2));
  if (position == 0) return false;
  const text = <usize>KEY_TEXTS + (<usize>(position - 1) << 3);
  expected = behind(text, load<u32>(text, TEXT_BYTES));
  return true;
}

/** Stores the text of an entry that was made just now, where there is room. */
export function keyStoreText(entry: u32, pointer: usize, bytes: u32): void {
  if (bytes < TEXT_BYTES_MIN || load<u32>(<usize>KEY_TEXT_OF + (<usize>entry << 2)) != 0) return;
  const end = behind(textsEnd, bytes);
  if (end > <usize>KEY_TEXTS + KEY_TEXTS_BYTES) return;
  store<u32>(textsEnd, entry, TEXT_ENTRY);
  store<u32>(textsEnd, bytes, TEXT_BYTES);
  memory.copy(textsEnd + TEXT_HEAD_BYTES, pointer, bytes);
  store<u32>(<usize>KEY_TEXT_OF + (<usize>entry << 2), (<u32>(textsEnd - KEY_TEXTS) >> 3) + 1);
  textsEnd = end;
}

/** Bytes of the area that are in use. */
export function keyTextBytes(): u32 {
  return <u32>(textsEnd - KEY_TEXTS);
}

/** Forgets the texts of the first `entries` entries, which are all. */
export function keyTextsClear(entries: u32): void {
  memory.fill(KEY_TEXT_OF, 0, <usize>entries << 2);
  textsEnd = expected = KEY_TEXTS;
}
