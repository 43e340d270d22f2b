// Symbols of a remote-write 2.0 body, and label references that resolve to them. Each symbol is hashed once for the body; the key of a series in the lane
// table is the hash of its symbols' hashes in the order of its references, so it does not depend on how a body numbers its symbols. Keys begin with a word
// that neither labels of 1.0 nor JSON records begin with. The label bytes themselves, as 1.0 writes them, are made at first sight of a series only.
// Sketch: 10 ns a symbol, 25 to 40 ns the key of a series of eight labels.
import { SCRATCH, SCRATCH_BYTES, SYMBOL_INDEX, SYMBOLS_MAX } from "../../../core/layout/memory-map";
import { hashForLane, hashHigh, hashLow } from "./identity-hash";
import { fieldNumber, payload, readField, readVarint, varint, wireType, WIRE_VARINT } from "./protobuf-wire";

export const FIELD_REFS: u32 = 1;

/** {address u32, bytes u32, 8 unused, hash u128} */
const SYMBOL_SHIFT: usize = 5;
const SYMBOL_BYTES: usize = 4;
const SYMBOL_HASH: usize = 16;
/** In place of a tenant's number, which is below TENANTS_MAX: no key of a stream is hashed as a symbol is. */
const SYMBOLS_TENANT: u32 = 0xfffffffe;

/** References of one series: 512 labels; a stream may have 64. */
const REFS_MAX: u32 = 1024;
const KEY_BEGIN: u64 = 0x325752; // RW2
const KEY = memory.data(16 + 16 * 1024, 16);
const REFS = memory.data(4 * 1024, 4);

/** Where labelsOf() writes: the upper half of SCRATCH. */
const LABELS: usize = SCRATCH + SCRATCH_BYTES / 2;
const LABELS_BYTES: u32 = SCRATCH_BYTES / 2 - 64;

let symbols: u32 = 0;
let refs: u32 = 0;
let resolves: bool = true;

/** Forgets the symbols of the body before. */
export function symbolsReset(): void {
  symbols = 0;
}

/** Takes the next symbol of the body, whose bytes must stay; false when there are too many. */
export function addSymbol(pointer: usize, bytes: u32): bool {
  if (symbols == <u32>SYMBOLS_MAX) return false;
  hashForLane(pointer, bytes, SYMBOLS_TENANT);
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
}

// @ts-ignore
@inline
function addRef(ref: u32): void {
  if (ref >= symbols || refs == REFS_MAX) {
    resolves = false;
    return;
  }
  v128.store(KEY + 16 + (<usize>refs << 4), v128.load(symbolAt(ref), SYMBOL_HASH));
  store<u32>(REFS + (<usize>refs << 2), ref);
  refs++;
}

/** Takes one reference that stands by itself, at p. */
export function addUnpackedRef(p: usize): void {
  readVarint(p);
  addRef(<u32>varint);
}

/** Takes packed references; false when their bytes are malformed. */
// @ts-ignore
@inline
export function addPackedRefs(p: usize, end: usize): bool {
  while (p < end) {
    const first = <u32>load<u8>(p);
    if (first < 128) {
      addRef(first);
      p++;
      continue;
    }
    const second = <u32>load<u8>(p, 1);
    if (second < 128) {
      addRef((first & 127) | (second << 7));
      p += 2;
      continue;
    }
    p = readVarint(p);
    if (p == 0) return false;
    addRef(<u32>varint);
  }
  return p == end;
}

/** Hashes the key of the references that were taken; false when they are no labels: none, an odd number, too many, or beyond the symbols. */
// @ts-ignore
@inline
export function hashRefs(tenant: u32): bool {
  if (!resolves || refs == 0 || (refs & 1) != 0) return false;
  store<u64>(KEY, KEY_BEGIN);
  hashForLane(KEY, 16 + (refs << 4), tenant);
  return true;
}

let writtenBytes: u32 = 0;

/** Bytes that labelsOf() wrote. */
export function labelsBytes(): u32 {
  return writtenBytes;
}

/** Writes the labels that the references in a checked span resolve to as the label fields of a 1.0 series; 0 when there is no room. Valid until the next call. */
export function labelsOf(span: usize, bytes: u32): usize {
  refsBegin();
  const end = span + bytes;
  for (let p = span; p < end; ) {
    p = readField(p, end);
    if (fieldNumber != FIELD_REFS) continue;
    if (wireType == WIRE_VARINT) addUnpackedRef(payload);
    else addPackedRefs(payload, p);
  }
  let to = LABELS;
  for (let i: u32 = 0; i + 1 < refs; i += 2) {
    const name = symbolAt(load<u32>(REFS + (<usize>i << 2))), value = symbolAt(load<u32>(REFS + (<usize>i << 2), 4));
    const nameBytes = load<u32>(name, SYMBOL_BYTES), valueBytes = load<u32>(value, SYMBOL_BYTES);
    const room = LABELS_BYTES - <u32>(to - LABELS);
    if (nameBytes > room || valueBytes > room || nameBytes + valueBytes + 32 > room) return 0;
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
