// Key table: hash of a key's bytes and tenant -> stream ref, destination engine, partition. A key is the raw label bytes of a remote-write
// series, or what the JSON decoder makes of a record; the former begin with a line feed, the latter never do (remote-write-index.ts relies on it).
//
// Entries of 32 bytes lie in the order in which they came. Senders repeat their series in the same order, so the entry behind the last one found is
// tried first: a comparison in memory that the processor has fetched ahead, instead of two cache misses. Other keys are found by an index of
// {low half of the hash's first word u32, entry number + 1 u32}: open addressing, linear probing, load at most 0.5. An index that is half full doubles
// into a fresh region behind it, read and written in order because the slot is the hash's low bits.
import { KEY_TABLE, KEY_TABLE_BYTES } from "../../../../core/layout/memory-map";
import { STATUS_OK, STATUS_TABLE_FULL } from "../../../../core/layout/kernel-status";
import { hashOfKey, hashHigh, hashLow } from "../hash/identity-hash";
import { keyExpectBehind, keyExpects, keyStoreText, keyTextsClear } from "./key-texts";

const ENTRY_SHIFT: usize = 5;
const ENTRY_HASH_LOW: usize = 0;
const ENTRY_HASH_HIGH: usize = 8;
const ENTRY_TENANT: usize = 16;
const ENTRY_REF: usize = 20;
const ENTRY_OWNER: usize = 24; // destination in bits 0..7, partition in bits 8..15, source in bits 16..31
/** What was reported last of the stream beside its samples; 0 = nothing. Of remote-write a hash; of OTLP its start time in units of 2^20 ns (about a millisecond). */
const ENTRY_NOTES: usize = 28;

const SLOT_SHIFT: usize = 3;
const SLOT_NUMBER: usize = 4;
const FIRST_SLOTS: u32 = 1 << 14;
const LAST_SLOTS: u32 = 1 << 22;
/** 64 MiB of entries; then the index: 128 KiB at first, 32 MiB at most, 64 MiB for all its regions. */
const ENTRIES_MAX: u32 = 1 << 21;
const INDEX: usize = KEY_TABLE + (<usize>ENTRIES_MAX << ENTRY_SHIFT);
if (((<u32>ENTRIES_MAX) << <u32>ENTRY_SHIFT) + ((LAST_SLOTS * 2 - FIRST_SLOTS) << <u32>SLOT_SHIFT) > <u32>KEY_TABLE_BYTES) {
  ERROR("the arena does not hold entries and index");
}

let region: usize = INDEX;
let slots: u32 = FIRST_SLOTS;
let entries: u32 = 0;
/** End of the part of the index that was written before the table was cleared last: it has to be emptied before it is used again. */
let soiledEnd: usize = INDEX;

// The key that was looked up last, for the insertion that may follow.
let keyLow: u64 = 0;
let keyHigh: u64 = 0;
let keyTenant: u32 = 0;
/** The entry that was found or inserted last. */
let found: usize = KEY_TABLE;

// @ts-ignore
@inline
function entryOf(number: u32): usize {
  return <usize>KEY_TABLE + (<usize>number << ENTRY_SHIFT);
}

// @ts-ignore
@inline
function slotAt(probe: u32): usize {
  return region + (<usize>(probe & (slots - 1)) << SLOT_SHIFT);
}

// @ts-ignore
@inline
function holds(entry: usize, low: u64, high: u64, tenant: u32): bool {
  return load<u64>(entry, ENTRY_HASH_LOW) == low && load<u64>(entry, ENTRY_HASH_HIGH) == high && load<u32>(entry, ENTRY_TENANT) == tenant;
}

/** Puts an entry's number into the first free slot from its own on. */
function index(low: u64, number: u32): void {
  let probe = <u32>low;
  let slot = slotAt(probe);
  while (load<u32>(slot, SLOT_NUMBER) != 0) slot = slotAt(++probe);
  store<u32>(slot, <u32>low);
  store<u32>(slot, number + 1, SLOT_NUMBER);
}

/** Doubles the index; false when the arena has no room for that. */
function grow(): bool {
  if (slots == LAST_SLOTS) return false;
  const old = region;
  const oldEnd = region + (<usize>slots << SLOT_SHIFT);
  region = oldEnd;
  slots <<= 1;
  emptyRegion();
  for (let slot = old; slot < oldEnd; slot += 1 << SLOT_SHIFT) {
    const number = load<u32>(slot, SLOT_NUMBER);
    if (number != 0) index(<u64>load<u32>(slot), number - 1);
  }
  return true;
}

/** The region has never been touched, and so is zero, unless the table was cleared. */
function emptyRegion(): void {
  const end = min(region + (<usize>slots << SLOT_SHIFT), soiledEnd);
  if (end > region) memory.fill(region, 0, end - region);
}

/**
 * Has the operating system provide a page of the next region now and then while the index fills from a quarter to a half: 64 insertions pay for one page,
 * instead of one insertion for up to 8,192.
 */
// @ts-ignore
@inline
function prepareNextRegion(): void {
  const quarter = slots >> 2;
  if (slots == LAST_SLOTS || entries < quarter || (entries & 63) != 0) return;
  const page = region + (<usize>slots << SLOT_SHIFT) + (<usize>((entries - quarter) >> 6) << 12);
  store<u32>(page, load<u32>(page));
}

/** Whether the entry behind the last one found is the key's; then it is the one found last. */
// @ts-ignore
@inline
export function keyFindNext(low: u64, high: u64, tenant: u32): bool {
  const next = found + (1 << ENTRY_SHIFT);
  if (next >= entryOf(entries) || !holds(next, low, high, tenant)) return false;
  found = next;
  return true;
}

/** Whether the stream whose label bytes are expected next has these, and is the tenant's; then it is the one found last. */
// @ts-ignore
@inline
export function keyFindExpected(pointer: usize, bytes: u32, tenant: u32): bool {
  const number = keyExpects(pointer, bytes);
  if (number < 0 || load<u32>(entryOf(number), ENTRY_TENANT) != tenant) return false;
  found = entryOf(number);
  return true;
}

/** Expects the label bytes of the stream that came behind the one found last; false when those of the latter are not kept. */
export function keyExpectNext(): bool {
  return keyExpectBehind(foundNumber());
}

/** Stores the label bytes of the stream that was inserted last. */
export function keyStoreLabels(pointer: usize, bytes: u32): void {
  if (foundNumber() == entries - 1) keyStoreText(entries - 1, pointer, bytes);
}

// @ts-ignore
@inline
function foundNumber(): u32 {
  return <u32>((found - <usize>KEY_TABLE) >> ENTRY_SHIFT);
}

/** Looks up a key. */
// @ts-ignore
@inline
export function keyFind(low: u64, high: u64, tenant: u32): bool {
  keyLow = low;
  keyHigh = high;
  keyTenant = tenant;
  let probe = <u32>low;
  while (true) {
    const slot = slotAt(probe++);
    const number = load<u32>(slot, SLOT_NUMBER);
    if (number == 0) return false;
    if (load<u32>(slot) != <u32>low) continue;
    const entry = entryOf(number - 1);
    if (!holds(entry, low, high, tenant)) continue;
    found = entry;
    return true;
  }
}

/** Reads from where a key's slot should be, to have it in the cache. */
// @ts-ignore
@inline
export function keyTouchSlot(low: u64): u32 {
  return load<u32>(slotAt(<u32>low));
}

/** The same for the entry that the slot names. */
// @ts-ignore
@inline
export function keyTouchEntry(low: u64): u32 {
  const number = load<u32>(slotAt(<u32>low), SLOT_NUMBER);
  return load<u32>(entryOf(number == 0 ? 0 : number - 1));
}

/** Looks up the key bytes of a tenant's stream: 1 = found (foundRef() and so on hold), 0 = unknown. */
export function keyLookup(pointer: usize, bytes: u32, tenant: u32): i32 {
  hashOfKey(pointer, bytes, tenant);
  return keyFind(hashLow, hashHigh, tenant) ? 1 : 0;
}

/** Enters (or changes) the key that was looked up last: STATUS_OK or STATUS_TABLE_FULL. */
export function keyInsert(ref: u32, destination: u32, partition: u32): i32 {
  if (!keyFind(keyLow, keyHigh, keyTenant)) {
    if (entries == ENTRIES_MAX || (entries >= slots >> 1 && !grow())) return STATUS_TABLE_FULL;
    prepareNextRegion();
    index(keyLow, entries);
    found = entryOf(entries++);
    store<u32>(found, 0, ENTRY_NOTES);
  }
  store<u64>(found, keyLow, ENTRY_HASH_LOW);
  store<u64>(found, keyHigh, ENTRY_HASH_HIGH);
  store<u32>(found, keyTenant, ENTRY_TENANT);
  store<u32>(found, ref, ENTRY_REF);
  store<u32>(found, (destination & 255) | ((partition & 255) << 8), ENTRY_OWNER);
  return STATUS_OK;
}

/** Says which of several replicas the key found or inserted last comes from; 0 = its stream has one sender. */
export function keySetSource(source: u32): void {
  store<u32>(found, (load<u32>(found, ENTRY_OWNER) & 0xffff) | (source << 16), ENTRY_OWNER);
}

/** What keySetSource() said of the key that was found or inserted last. */
// @ts-ignore
@inline
export function foundSource(): u32 {
  return load<u32>(found, ENTRY_OWNER) >> 16;
}

/** What keySetNotes() said of the key that was found or inserted last, 0 at first. */
// @ts-ignore
@inline
export function keyNotes(): u32 {
  return load<u32>(found, ENTRY_NOTES);
}

/** Keeps a hash of what was said about a stream, so that what is reported again need not be looked at. */
// @ts-ignore
@inline
export function keySetNotes(notes: u32): void {
  store<u32>(found, notes, ENTRY_NOTES);
}

/** Forgets all streams; the key that was looked up last may still be inserted. */
export function keyTableClear(): void {
  keyTextsClear(entries);
  soiledEnd = max(soiledEnd, region + (<usize>slots << SLOT_SHIFT));
  region = INDEX;
  slots = FIRST_SLOTS;
  entries = 0;
  found = KEY_TABLE;
  emptyRegion();
}

/** Streams in the table. */
export function keyTableEntries(): u32 {
  return entries;
}

/** Ref of the stream that was found or inserted last. */
export function foundRef(): u32 {
  return load<u32>(found, ENTRY_REF);
}

/** Engine that owns the stream that was found or inserted last. */
export function foundDestination(): u32 {
  return load<u32>(found, ENTRY_OWNER) & 255;
}

/** Partition of the stream that was found or inserted last. */
export function foundPartition(): u32 {
  return (load<u32>(found, ENTRY_OWNER) >> 8) & 255;
}

/** Whether the counter that was found or inserted last began to count at another time than this table knows; it knows then. */
// @ts-ignore
@inline
export function keyStartMoved(startNs: u64): bool {
  const start = <u32>(startNs >> 20) | 1;
  if (load<u32>(found, ENTRY_NOTES) == start) return false;
  store<u32>(found, start, ENTRY_NOTES);
  return true;
}

/** The same for a start time in ms: 1 or 0. */
export function keyStartMovedMs(startMs: f64): u32 {
  return keyStartMoved(<u64>startMs * 1_000_000) ? 1 : 0;
}
