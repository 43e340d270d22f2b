// 128-bit seeded hash of byte spans (label spans of 100 to 300 bytes, canonical identities). Four 64-bit lanes take 32 bytes a round, as in xxHash64
// (https://github.com/Cyan4973/xxHash); each word also enters a second lane, so that all 128 bits hang on it and changes cannot cancel inside one lane.
// Not cryptographic: seeds are secret and random, and tenants are compared exactly beside the hash, so the most a tenant could break is its own streams.
// Sketch: 32 bytes in 8 cycles, about 25 ns for 200 bytes.

const K0: u64 = 0x9e3779b185ebca87;
const K1: u64 = 0xc2b2ae3d27d4eb4f;
const K2: u64 = 0xd6e8feb86659fd93;
const K3: u64 = 0xa0761d6478bd642f;
const K4: u64 = 0xe7037ed1a0b428db;

/** The hash that was computed last. */
export let hashLow: u64 = 0;
export let hashHigh: u64 = 0;

let keySeedLow: u64 = K3;
let keySeedHigh: u64 = K4;
let identitySeedLow: u64 = K4;
let identitySeedHigh: u64 = K3;

const IDENTITY_HASH = memory.data(16, 16);

/** Seeds: of the key table (random per start) and of identities (fixed per data folder). */
export function setSeeds(keyLow: u64, keyHigh: u64, identityLow: u64, identityHigh: u64): void {
  keySeedLow = keyLow;
  keySeedHigh = keyHigh;
  identitySeedLow = identityLow;
  identitySeedHigh = identityHigh;
}

/** Two multiplications, as in xxHash64: with one, the top bits of a word reach too few bits of the lane, and keys two bits apart collided. */
// @ts-ignore
@inline
function round(lane: u64, word: u64, neighbour: u64): u64 {
  return rotl(lane + word * K1, 31) * K0 + neighbour;
}

/** Hashes a span into hashLow and hashHigh. What lies behind the span has no influence. */
function hashSpan(pointer: usize, bytes: u32, seedLow: u64, seedHigh: u64): void {
  let a = seedLow + <u64>bytes * K1;
  let b = seedHigh ^ K2;
  let c = seedLow ^ K3;
  let d = seedHigh + K4;
  if (bytes >= 32) {
    // The last block ends with the span and may overlap the one before it: no part of a word is left over.
    const last = pointer + bytes - 32;
    let p = pointer;
    while (true) {
      const w0 = load<u64>(p), w1 = load<u64>(p, 8), w2 = load<u64>(p, 16), w3 = load<u64>(p, 24);
      a = round(a, w0, w1);
      b = round(b, w1, w2);
      c = round(c, w2, w3);
      d = round(d, w3, w0);
      if (p == last) break;
      p += 32;
      if (p > last) p = last;
    }
  } else {
    let w0: u64 = 0, w1: u64 = 0, w2: u64 = 0, w3: u64 = 0;
    if (bytes >= 16) {
      w0 = load<u64>(pointer);
      w1 = load<u64>(pointer, 8);
      w2 = load<u64>(pointer + bytes - 16);
      w3 = load<u64>(pointer + bytes - 8);
    } else if (bytes >= 8) {
      w0 = load<u64>(pointer);
      w1 = load<u64>(pointer + bytes - 8);
    } else if (bytes > 0) {
      w0 = load<u64>(pointer) & (U64.MAX_VALUE >> (64 - 8 * <u64>bytes));
    }
    a = round(a, w0, w1);
    b = round(b, w1, w2);
    c = round(c, w2, w3);
    d = round(d, w3, w0);
  }
  finish(a, b, c, d);
}

/** Folds 256 bits into 128, each half depending on all lanes. */
// @ts-ignore
@inline
function finish(a: u64, b: u64, c: u64, d: u64): void {
  let low = (a ^ rotl(c, 31)) * K1 + rotl(d, 17);
  let high = (b ^ rotl(d, 37)) * K2 + rotl(a, 11);
  low = (low ^ (low >> 32)) * K3 + rotl(c, 7);
  high = (high ^ (high >> 29)) * K4 + rotl(b, 23);
  low ^= high >> 31;
  high ^= low >> 33;
  low *= K0;
  high *= K1;
  low ^= rotl(high, 27);
  high ^= low >> 30;
  low = (low ^ (low >> 29)) * K2;
  high = (high ^ (high >> 32)) * K4;
  hashLow = low ^ (low >> 32);
  hashHigh = high ^ (high >> 29);
}

/** Hash with the seed of keys; the tenant is mixed in, so that tenants with equal labels do not crowd one slot of the table. */
export function hashOfKey(pointer: usize, bytes: u32, tenant: u32): void {
  hashSpan(pointer, bytes, keySeedLow ^ (<u64>(tenant + 1) * K4), keySeedHigh);
}

/** Hash that goes on from another one, made with the seed of keys: of a key in two parts, of which the first is common to many. */
export function hashInContext(pointer: usize, bytes: u32, contextLow: u64, contextHigh: u64): void {
  hashSpan(pointer, bytes, contextLow, contextHigh);
}

/** Hash with the identity seed, 16 bytes at the address that is returned, valid until the next call. */
export function identityHash(pointer: usize, bytes: u32): usize {
  hashSpan(pointer, bytes, identitySeedLow, identitySeedHigh);
  store<u64>(IDENTITY_HASH, hashLow);
  store<u64>(IDENTITY_HASH, hashHigh, 8);
  return IDENTITY_HASH;
}
