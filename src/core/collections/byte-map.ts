// Values by keys of some bytes that lie in a buffer, found without making a string: open addressing over hashes, keys kept one behind the other. About 20 ns a
// look-up of 40 bytes.

/** Places that are looked at for a key. Keys that senders chose so that their hashes meet cost no more than this, and are not kept. */
const PROBES_MAX = 128;
const PLACES_FIRST = 32;
const BYTES_FIRST = 512;
const MULTIPLIER = 0x9e3779b1;

/** A map that forgets everything when it is full, and keeps no key for whose hash there are too many: what finds nothing is to ask elsewhere. */
export class ByteMap<T> {
  readonly #entriesMax: number;
  /** Pairs {hash, number of the entry + 1}, 0 where a place is free. */
  #places = new Int32Array(0);
  #keys = new DataView(new ArrayBuffer(0));
  #keysEnd = 0;
  /** By entry: where its key begins, and its bytes. */
  #from: number[] = [];
  #bytes: number[] = [];
  #values: T[] = [];

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#values.length;
  }

  /** The value of the key of `bytes` bytes at `at`. */
  find(view: DataView, at: number, bytes: number): T | undefined {
    const places = this.#places;
    const mask = places.length - 1;
    const hash = hashOf(view, at, bytes);
    let index = (2 * hash) & mask;
    for (let probes = 0; probes < PROBES_MAX && mask > 0 && places[index + 1] !== 0; probes++) {
      const entry = places[index + 1]! - 1;
      if (places[index] === hash && this.#bytes[entry] === bytes && this.#isEqual(this.#from[entry]!, view, at, bytes))
        return this.#values[entry];
      index = (index + 2) & mask;
    }
    return undefined;
  }

  /** Adds a key that find() does not know. */
  add(view: DataView, at: number, bytes: number, value: T): void {
    if (this.#values.length >= this.#entriesMax) this.clear();
    if (4 * (this.#values.length + 1) > this.#places.length) this.#growPlaces();
    if (!this.#enter(hashOf(view, at, bytes), this.#values.length + 1)) return;
    this.#reserve(bytes);
    const from = this.#keysEnd;
    for (let i = 0; i < bytes; i++) this.#keys.setUint8(from + i, view.getUint8(at + i));
    this.#keysEnd += bytes;
    this.#from.push(from);
    this.#bytes.push(bytes);
    this.#values.push(value);
  }

  clear(): void {
    this.#places.fill(0);
    this.#keysEnd = 0;
    this.#from = [];
    this.#bytes = [];
    this.#values = [];
  }

  /** Says false where the place would be too far from the hash's own. */
  #enter(hash: number, number: number): boolean {
    const places = this.#places;
    const mask = places.length - 1;
    let index = (2 * hash) & mask;
    for (let probes = 0; places[index + 1] !== 0; index = (index + 2) & mask) if (++probes === PROBES_MAX) return false;
    places[index] = hash;
    places[index + 1] = number;
    return true;
  }

  #isEqual(from: number, view: DataView, at: number, bytes: number): boolean {
    const keys = this.#keys;
    let i = 0;
    for (; i + 4 <= bytes; i += 4) if (keys.getInt32(from + i, true) !== view.getInt32(at + i, true)) return false;
    for (; i < bytes; i++) if (keys.getUint8(from + i) !== view.getUint8(at + i)) return false;
    return true;
  }

  #growPlaces(): void {
    const before = this.#places;
    this.#places = new Int32Array(Math.max(2 * PLACES_FIRST, 2 * before.length));
    for (let index = 0; index < before.length; index += 2) if (before[index + 1] !== 0) this.#enter(before[index]!, before[index + 1]!);
  }

  #reserve(bytes: number): void {
    const needed = this.#keysEnd + bytes;
    if (needed <= this.#keys.byteLength) return;
    const larger = new Uint8Array(Math.max(BYTES_FIRST, 2 * this.#keys.byteLength, needed));
    larger.set(new Uint8Array(this.#keys.buffer, 0, this.#keysEnd));
    this.#keys = new DataView(larger.buffer);
  }
}

/** Four bytes at a time; where every bit counts towards the low ones. */
function hashOf(view: DataView, at: number, bytes: number): number {
  let hash = bytes;
  let i = 0;
  for (; i + 4 <= bytes; i += 4) {
    hash = Math.imul(hash ^ view.getInt32(at + i, true), MULTIPLIER);
    hash ^= hash >>> 15;
  }
  for (; i < bytes; i++) hash = Math.imul(hash ^ view.getUint8(at + i), MULTIPLIER);
  return hash ^ (hash >>> 15);
}
