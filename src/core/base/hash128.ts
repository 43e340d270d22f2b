// A 128-bit hash of text for identities that must be the same after a replay: MurmurHash3 x86_128 (Austin Appleby, public domain) of UTF-8.
// Not for secrets, and not keyed: who may choose the text may find collisions.

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;
const encoder = new TextEncoder();

/** Returns 32 hex digits. About 2 us for 60 bytes. */
export function hash128(text: string): string {
  const bytes = encoder.encode(text);
  const h = new Int32Array(4);
  const whole = bytes.length & ~15;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += 16) mixBlock(h, view, at);
  mixTail(h, bytes.subarray(whole));
  finish(h, bytes.length);
  return hex(h[0] as number) + hex(h[1] as number) + hex(h[2] as number) + hex(h[3] as number);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
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

function mixTail(h: Int32Array, tail: Uint8Array): void {
  const words = new Int32Array(4);
  for (let at = 0; at < tail.length; at++) words[at >> 2] = (words[at >> 2] as number) | ((tail[at] as number) << ((at & 3) * 8));
  h[0] = (h[0] as number) ^ scramble(words[0] as number, C1, 15, C2);
  h[1] = (h[1] as number) ^ scramble(words[1] as number, C2, 16, C3);
  h[2] = (h[2] as number) ^ scramble(words[2] as number, C3, 17, C4);
  h[3] = (h[3] as number) ^ scramble(words[3] as number, C4, 18, C1);
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
