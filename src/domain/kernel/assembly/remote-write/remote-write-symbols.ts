// Symbols of a remote-write 2.0 body, and label references that resolve to them. Each symbol is hashed once for the body, to 128 bits with a secret seed. The
// key of a series in the key table is made of its symbols' hashes in the order of its references, so it does not depend on how a body numbers its symbols:
// two sums, one over each half of the hashes, of (name + p) * (value + q), with p and q of their own for each label (NH, Black et al. 1999). The factors are
// random and secret, so two series meet in one sum with a probability of about 2^-58, and in both with 2^-116. Keys begin with a word that neither labels
// of 1.0 nor JSON records begin with.
// The label bytes themselves, as 1.0 writes them, are made at first sight of a series only.
// Sketch: 10 ns a symbol, 2 ns a label, 8 ns a series.
import { SCRATCH, SCRATCH_BYTES, SYMBOL_ENTRY_BYTES, SYMBOL_INDEX, SYMBOLS_MAX } from "../../../../core/layout/memory-map";
import { hashOfKey, hashHigh, hashLow } from "../hash/identity-hash";
import { fieldNumber, payload, readField, readVarint, varint } from "../wire/protobuf-wire";

export const FIELD_REFS: u32 = 1;

/** {address u32, bytes u32, 8 unused, hash u128} */
const SYMBOL_SHIFT: usize = 5;
if (<usize>SYMBOL_ENTRY_BYTES != <usize>1 << SYMBOL_SHIFT) ERROR("an entry of the symbols has another size");
const SYMBOL_BYTES: usize = 4;
const SYMBOL_HASH: usize = 16;
/** In place of a tenant's number, which is below TENANTS_MAX: no key of a stream is hashed as a symbol is. */
const SYMBOLS_TENANT: u32 = 0xfffffffe;

/** References of one series: 512 labels; a stream may have 128. */
const REFS_MAX: u32 = 1024;
const REFS = memory.data(4 * 1024, 4);
/** {begin u64, references u64, both sums u64} */
const KEY = memory.data(32, 16);
const KEY_BEGIN: u64 = 0x325752; // RW2
/**
 * By label, counted from 0: p and q of both sums. They must not follow a simple rule: with i * p in their place, series that have the same symbols in
 * another order met, where the numbers of their labels had the same sum.
 */
const FACTORS = memory.data(32 * 513, 16);
fillFactors();

/** SplitMix64 (Steele, Lea, Flood 2014). */
function fillFactors(): void {
  let state: u64 = 0x325752;
  for (let at: usize = 0; at < 32 * 513; at += 8) {
    state += 0x9e3779b97f4a7c15;
    let word = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    store<u64>(FACTORS + at, word ^ (word >> 31));
  }
}

/** Where labelsOf() writes: the upper half of SCRATCH. */
const LABELS: usize = SCRATCH + SCRATCH_BYTES / 2;
const LABELS_BYTES: u32 = SCRATCH_BYTES / 2 - 64;

let symbols: u32 = 0;
// The references of the series at hand.
let refs: u32 = 0;
let resolves: bool = true;
let nameRef: u32 = 0; // one that waits for its value
let sumLow: u64 = 0;
let sumHigh: u64 = 0;

/** Forgets the symbols of the body before. */
export function symbolsReset(): void {
  symbols = 0;
}

/** Takes up the symbols of a body that others came after. */
export function setSymbols(count: u32): void {
  symbols = count;
}

/** Takes the next symbol of the body, whose bytes must stay; false when there are too many. */
export function addSymbol(pointer: usize, bytes: u32): bool {
  if (symbols == <u32>SYMBOLS_MAX) return false;
  hashOfKey(pointer, bytes, SYMBOLS_TENANT);
  const at = symbolAt(symbols++);
  store<u32>(at, <u32>pointer);
  store<u32>(at, bytes, SYMBOL_BYTES);
  v128.store(at, i64x2.replace_lane(i64x2.splat(<i64>hashLow), 1, <i64>hashHigh), SYMBOL_HASH);
  return true;
}

// @ts-ignore
@inline
function symbolAt(number: u32): usize {
  return <usize>SYMBOL_INDEX + (<usize>number << SYMBOL_SHIFT);
}

/** Symbols of the body at hand. */
export function symbolCount(): u32 {
  return symbols;
}

/** Address of a symbol's bytes; the number must be below symbolCount(). */
export function symbolPointer(number: u32): usize {
  return load<u32>(symbolAt(number));
}

/** Length of a symbol. */
export function symbolBytes(number: u32): u32 {
  return load<u32>(symbolAt(number), SYMBOL_BYTES);
}

/** 64 bits of the hash of a symbol, 0 for one that is not there. */
export function symbolHash(number: u32): u64 {
  return number < symbols ? load<u64>(symbolAt(number), SYMBOL_HASH) : 0;
}

/** Begins the references of a series. */
// @ts-ignore
@inline
export function refsBegin(): void {
  refs = 0;
  resolves = true;
  sumLow = sumHigh = 0;
}

function addRef(ref: u32): void {
  if (ref >= symbols) resolves = false;
  else if ((refs & 1) == 0) nameRef = ref;
  else if (resolves) {
    const name = symbolAt(nameRef), value = symbolAt(ref), factors = FACTORS + (<usize>min(refs, REFS_MAX) << 4);
    sumLow += (load<u64>(name, SYMBOL_HASH) + load<u64>(factors, 0)) * (load<u64>(value, SYMBOL_HASH) + load<u64>(factors, 8));
    sumHigh += (load<u64>(name, SYMBOL_HASH + 8) + load<u64>(factors, 16)) * (load<u64>(value, SYMBOL_HASH + 8) + load<u64>(factors, 24));
  }
  refs++;
}

/** Takes one reference that stands by itself, at p. */
export function addUnpackedRef(p: usize): void {
  readVarint(p);
  addRef(<u32>varint);
}

/** Takes packed references; false when their bytes are malformed. */
export function addPackedRefs(p: usize, end: usize): bool {
  if ((refs & 1) == 0) p = addUsualRefs(p, end);
  while (p < end) {
    p = readVarint(p);
    if (p == 0) return false;
    addRef(<u32>varint);
  }
  return p == end;
}

/** Takes pairs of references of one or two bytes each; answers where the first other one stands. */
// @ts-ignore
@inline
function addUsualRefs(p: usize, end: usize): usize {
  let low = sumLow, high = sumHigh, factors = FACTORS + (<usize>min(refs, REFS_MAX) << 4);
  const count = symbols;
  let taken = refs;
  while (true) {
    let next = p + 1;
    let name = <u32>load<u8>(p);
    if (name > 127) {
      const more = <u32>load<u8>(p, 1);
      if (more > 127) break;
      name = (name & 127) | (more << 7);
      next = p + 2;
    }
    let value = <u32>load<u8>(next++);
    if (value > 127) {
      const more = <u32>load<u8>(next++);
      if (more > 127) break;
      value = (value & 127) | (more << 7);
    }
    if (next > end || name >= count || value >= count || taken >= REFS_MAX) break;
    const nameAt = symbolAt(name), valueAt = symbolAt(value);
    low += (load<u64>(nameAt, SYMBOL_HASH) + load<u64>(factors, 0)) * (load<u64>(valueAt, SYMBOL_HASH) + load<u64>(factors, 8));
    high += (load<u64>(nameAt, SYMBOL_HASH + 8) + load<u64>(factors, 16)) * (load<u64>(valueAt, SYMBOL_HASH + 8) + load<u64>(factors, 24));
    factors += 32;
    taken += 2;
    p = next;
  }
  sumLow = low;
  sumHigh = high;
  refs = taken;
  return p;
}

/** Hashes the key of the references that were taken; false when they are no labels: none, an odd number, too many, or beyond the symbols. */
// @ts-ignore
@inline
export function hashRefs(tenant: u32): bool {
  if (!resolves || refs == 0 || (refs & 1) != 0 || refs > REFS_MAX) return false;
  store<u64>(KEY, KEY_BEGIN);
  store<u64>(KEY, refs, 8);
  store<u64>(KEY, sumLow, 16);
  store<u64>(KEY, sumHigh, 24);
  hashOfKey(KEY, 32, tenant);
  return true;
}

/** Puts the references in a checked span into REFS, REFS_MAX at most; answers how many. */
function collectRefs(span: usize, end: usize): u32 {
  let count: u32 = 0;
  for (let p = span; p < end; ) {
    p = readField(p, end);
    if (fieldNumber != FIELD_REFS) continue;
    for (let q = payload; q < p; ) {
      q = readVarint(q);
      if (count == REFS_MAX) break;
      store<u32>(REFS + (<usize>count << 2), <u32>varint);
      count++;
    }
  }
  return count;
}

let writtenBytes: u32 = 0;

/** Bytes that labelsOf() wrote. */
export function labelsBytes(): u32 {
  return writtenBytes;
}

/** Writes the labels that the references in a checked span resolve to as the label fields of a 1.0 series; 0 when there is no room. Valid until the next call. */
export function labelsOf(span: usize, bytes: u32): usize {
  const count = collectRefs(span, span + bytes);
  let to = LABELS;
  for (let i: u32 = 0; i + 1 < count; i += 2) {
    const name = symbolAt(load<u32>(REFS + (<usize>i << 2))), value = symbolAt(load<u32>(REFS + (<usize>i << 2), 4));
    const nameBytes = load<u32>(name, SYMBOL_BYTES), valueBytes = load<u32>(value, SYMBOL_BYTES);
    const freeBytes = LABELS_BYTES - <u32>(to - LABELS);
    if (nameBytes > freeBytes || valueBytes > freeBytes || nameBytes + valueBytes + 32 > freeBytes) return 0;
    const content = 2 + lengthBytes(nameBytes) + nameBytes + lengthBytes(valueBytes) + valueBytes;
    to = writeHead(to, 0x0a, content);
    to = writeHead(to, 0x0a, nameBytes);
    memory.copy(to, load<u32>(name), nameBytes);
    to = writeHead(to + nameBytes, 0x12, valueBytes);
    memory.copy(to, load<u32>(value), valueBytes);
    to += valueBytes;
  }
  writtenBytes = <u32>(to - LABELS);
  return LABELS;
}

// @ts-ignore
@inline
function lengthBytes(length: u32): u32 {
  return length < 128 ? 1 : length < 16384 ? 2 : 3; // LABELS_BYTES is below 2^21
}

function writeHead(to: usize, tag: u32, length: u32): usize {
  store<u8>(to++, <u8>tag);
  while (length > 127) {
    store<u8>(to++, <u8>(length & 127) | 128);
    length >>= 7;
  }
  store<u8>(to++, <u8>length);
  return to;
}
