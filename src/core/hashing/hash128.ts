// A 128-bit hash of text for identities that must be the same after a replay: MurmurHash3 x86_128 (Austin Appleby, public domain) of UTF-8.
// Not for secrets, and not keyed: who may choose the text may find collisions.

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;
const encoder = new TextEncoder();
/** The usual text is short and leaves nothing behind. */
const SHORT_BYTES = 4096;
const short = new Uint8Array(SHORT_BYTES);
const shortView = new DataView(short.buffer);
const h = new Int32Array(4);
const tailSlots = new Int32Array(4);
const digest = Buffer.alloc(16);

/** Returns 32 hex digits. About 1 us for 60 bytes. */
export function hash128(text: string): string {
  if (3 * text.length <= SHORT_BYTES) return hashOf(short, shortView, encoder.encodeInto(text, short).written);
  const bytes = encoder.encode(text);
  return hashOf(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), bytes.length);
}

function hashOf(bytes: Uint8Array, view: DataView, length: number): string {
  const whole = length & ~15;
  h.fill(0);
  for (let at = 0; at < whole; at += 16) mixBlock(h, view, at);
  mixTail(h, bytes, whole, length);
  finish(h, length);
  for (let word = 0; word < 4; word++) digest.writeInt32BE(h[word] as number, 4 * word);
  return digest.toString("hex");
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function scramble(word: number, first: number, by: number, second: number): number {
  return Math.imul(rotate(Math.imul(word, first), by), second);
}

/** Places are read and written one by one: taking an array apart costs more than all the rest. */
function mixBlock(h: Int32Array, view: DataView, at: number): void {
  const h2 = h[1] as number;
  const h3 = h[2] as number;
  const h4 = h[3] as number;
  const h1 = (Math.imul(rotate((h[0] as number) ^ scramble(view.getInt32(at, true), C1, 15, C2), 19) + h2, 5) + 0x561ccd1b) | 0;
  h[0] = h1;
  h[1] = Math.imul(rotate(h2 ^ scramble(view.getInt32(at + 4, true), C2, 16, C3), 17) + h3, 5) + 0x0bcaa747;
  h[2] = Math.imul(rotate(h3 ^ scramble(view.getInt32(at + 8, true), C3, 17, C4), 15) + h4, 5) + 0x96cd1c35;
  h[3] = Math.imul(rotate(h4 ^ scramble(view.getInt32(at + 12, true), C4, 18, C1), 13) + h1, 5) + 0x32ac3b17;
}

function mixTail(h: Int32Array, bytes: Uint8Array, from: number, end: number): void {
  const slots = tailSlots.fill(0);
  for (let at = 0; at < end - from; at++) slots[at >> 2] = (slots[at >> 2] as number) | ((bytes[from + at] as number) << ((at & 3) * 8));
  h[0] = (h[0] as number) ^ scramble(slots[0] as number, C1, 15, C2);
  h[1] = (h[1] as number) ^ scramble(slots[1] as number, C2, 16, C3);
  h[2] = (h[2] as number) ^ scramble(slots[2] as number, C3, 17, C4);
  h[3] = (h[3] as number) ^ scramble(slots[3] as number, C4, 18, C1);
}

function avalanche(word: number): number {
  let h = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function addUp(h: Int32Array): void {
  const sum = ((h[0] as number) + (h[1] as number) + (h[2] as number) + (h[3] as number)) | 0;
  h[0] = sum;
  for (let word = 1; word < 4; word++) h[word] = (h[word] as number) + sum;
}

function finish(h: Int32Array, length: number): void {
  for (let word = 0; word < 4; word++) h[word] = (h[word] as number) ^ length;
  addUp(h);
  for (let word = 0; word < 4; word++) h[word] = avalanche(h[word] as number);
  addUp(h);
}
