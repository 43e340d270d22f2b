// A 128-bit hash of text for identities that must be the same after a replay: MurmurHash3 x86_128 (Austin Appleby, public domain) of UTF-8.
// Not for secrets, and not keyed: who may choose the text may find collisions.

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;
const encoder = new TextEncoder();

/** Returns 32 hex digits. */
export function hash128(text: string): string {
  const bytes = encoder.encode(text);
  const h = new Uint32Array(4);
  const whole = bytes.length & ~15;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += 16) mixBlock(h, view, at);
  mixTail(h, bytes.subarray(whole));
  finish(h, bytes.length);
  return Array.from(h, (word) => word.toString(16).padStart(8, "0")).join("");
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function scramble(word: number, first: number, by: number, second: number): number {
  return Math.imul(rotate(Math.imul(word, first), by), second);
}

function mixBlock(h: Uint32Array, view: DataView, at: number): void {
  let [h1, h2, h3, h4] = h as unknown as [number, number, number, number];
  h1 = Math.imul(rotate(h1 ^ scramble(view.getUint32(at, true), C1, 15, C2), 19) + h2, 5) + 0x561ccd1b;
  h2 = Math.imul(rotate(h2 ^ scramble(view.getUint32(at + 4, true), C2, 16, C3), 17) + h3, 5) + 0x0bcaa747;
  h3 = Math.imul(rotate(h3 ^ scramble(view.getUint32(at + 8, true), C3, 17, C4), 15) + h4, 5) + 0x96cd1c35;
  h4 = Math.imul(rotate(h4 ^ scramble(view.getUint32(at + 12, true), C4, 18, C1), 13) + h1, 5) + 0x32ac3b17;
  h.set([h1, h2, h3, h4]);
}

function mixTail(h: Uint32Array, tail: Uint8Array): void {
  const words = new Uint32Array(4);
  tail.forEach((byte, at) => {
    words[at >> 2] = (words[at >> 2] as number) | (byte << ((at & 3) * 8));
  });
  const [k1, k2, k3, k4] = words as unknown as [number, number, number, number];
  const [h1, h2, h3, h4] = h as unknown as [number, number, number, number];
  h.set([h1 ^ scramble(k1, C1, 15, C2), h2 ^ scramble(k2, C2, 16, C3), h3 ^ scramble(k3, C3, 17, C4), h4 ^ scramble(k4, C4, 18, C1)]);
}

function avalanche(word: number): number {
  let h = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function addUp(h: Uint32Array): void {
  const [h1, h2, h3, h4] = h as unknown as [number, number, number, number];
  const sum = h1 + h2 + h3 + h4;
  h.set([sum, h2 + sum, h3 + sum, h4 + sum]);
}

function finish(h: Uint32Array, length: number): void {
  for (let word = 0; word < 4; word++) h[word] = (h[word] as number) ^ length;
  addUp(h);
  for (let word = 0; word < 4; word++) h[word] = avalanche(h[word] as number);
  addUp(h);
}
