// The lane's dictionary: hash of the raw label bytes and tenant -> stream ref, destination engine, partition. Open addressing with linear probing,
// 32-byte slots (two a cache line), load at most 0.5 (0.75 in the last region). A table that is full doubles into a fresh region behind it, read and
// written in order because the place is the hash's low bits: 2^14 slots (512 KiB) at first, 2^21 (64 MiB, 1.57 M streams) at most, 128 MiB in all.
// A slot counts only when its epoch is the table's, so clearing costs nothing.
import { LANE_TABLE, LANE_TABLE_BYTES } from "../../../core/layout/memory-map";
import { STATUS_OK, STATUS_TABLE_FULL } from "../../../core/layout/kernel-status";
import { hashForLane, hashHigh, hashLow } from "./identity-hash";

const SLOT_SHIFT: usize = 5;
const SLOT_BYTES: usize = 32;
const SLOT_HASH_LOW: usize = 0;
const SLOT_HASH_HIGH: usize = 8;
const SLOT_TENANT: usize = 16;
const SLOT_REF: usize = 20;
const SLOT_PLACE: usize = 24; // destination in bits 0..7, partition in bits 8..15
const SLOT_EPOCH: usize = 28;

const FIRST_SLOTS: u32 = 1 << 14;
const LAST_SLOTS: u32 = 1 << 21;
if ((LAST_SLOTS * 2 - FIRST_SLOTS) * <u32>SLOT_BYTES > <u32>LANE_TABLE_BYTES) ERROR("the arena does not hold all doublings");

let region: usize = LANE_TABLE;
let slots: u32 = FIRST_SLOTS;
let entries: u32 = 0;
let epoch: u32 = 1;

// The key that was looked up last, for the insertion that may follow.
let keyLow: u64 = 0;
let keyHigh: u64 = 0;
let keyTenant: u32 = 0;
// What the last lookup found.
let ref: u32 = 0;
let place: u32 = 0;

/** The slot of a key: its own, or the free one where it belongs. */
// @ts-ignore
@inline
function slotOf(low: u64, high: u64, tenant: u32): usize {
  const end = region + (<usize>slots << SLOT_SHIFT);
  let slot = region + ((<usize>low & <usize>(slots - 1)) << SLOT_SHIFT);
  while (load<u32>(slot, SLOT_EPOCH) == epoch) {
    if (load<u64>(slot, SLOT_HASH_LOW) == low && load<u64>(slot, SLOT_HASH_HIGH) == high && load<u32>(slot, SLOT_TENANT) == tenant) break;
    slot += SLOT_BYTES;
    if (slot == end) slot = region;
  }
  return slot;
}

/** Doubles the table; false when the arena has no room for that. */
function grow(): bool {
  if (slots == LAST_SLOTS) return false;
  const old = region;
  const oldEnd = region + (<usize>slots << SLOT_SHIFT);
  region = oldEnd;
  slots <<= 1;
  for (let from = old; from < oldEnd; from += SLOT_BYTES) {
    if (load<u32>(from, SLOT_EPOCH) != epoch) continue;
    const to = slotOf(load<u64>(from, SLOT_HASH_LOW), load<u64>(from, SLOT_HASH_HIGH), load<u32>(from, SLOT_TENANT));
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
  }
  return true;
}

/**
 * Has the operating system provide a page of the next region now and then while the table fills from a quarter to a half: 16 insertions pay for one page,
 * instead of one insertion for up to 16,384 (measured: a pause of 47 to 157 ms, 14 ms with this).
 */
// @ts-ignore
@inline
function prepareNextRegion(): void {
  const quarter = slots >> 2;
  if (slots == LAST_SLOTS || entries < quarter || (entries & 15) != 0) return;
  const nextRegion = region + (<usize>slots << SLOT_SHIFT);
  store<u32>(nextRegion + (<usize>((entries - quarter) >> 4) << 12), 0, SLOT_EPOCH);
}

/** Looks up a key. */
// @ts-ignore
@inline
export function laneFind(low: u64, high: u64, tenant: u32): bool {
  keyLow = low;
  keyHigh = high;
  keyTenant = tenant;
  const slot = slotOf(low, high, tenant);
  if (load<u32>(slot, SLOT_EPOCH) != epoch) return false;
  ref = load<u32>(slot, SLOT_REF);
  place = load<u32>(slot, SLOT_PLACE);
  return true;
}

/** Reads from where a key's slot should be, to have it in the cache. */
// @ts-ignore
@inline
export function laneTouch(low: u64): u32 {
  return load<u32>(region + ((<usize>low & <usize>(slots - 1)) << SLOT_SHIFT));
}

/** Looks up the label bytes of a tenant's stream: 1 = found (foundRef() and so on hold), 0 = unknown. */
export function laneLookup(pointer: usize, bytes: u32, tenant: u32): i32 {
  hashForLane(pointer, bytes, tenant);
  return laneFind(hashLow, hashHigh, tenant) ? 1 : 0;
}

/** Enters (or changes) the key that was looked up last: STATUS_OK or STATUS_TABLE_FULL. */
export function laneInsert(newRef: u32, destination: u32, partition: u32): i32 {
  const most = slots == LAST_SLOTS ? slots - (slots >> 2) : slots >> 1;
  if (entries >= most && !grow()) return STATUS_TABLE_FULL;
  prepareNextRegion();
  const slot = slotOf(keyLow, keyHigh, keyTenant);
  if (load<u32>(slot, SLOT_EPOCH) != epoch) entries++;
  ref = newRef;
  place = (destination & 255) | ((partition & 255) << 8);
  store<u64>(slot, keyLow, SLOT_HASH_LOW);
  store<u64>(slot, keyHigh, SLOT_HASH_HIGH);
  store<u32>(slot, keyTenant, SLOT_TENANT);
  store<u32>(slot, ref, SLOT_REF);
  store<u32>(slot, place, SLOT_PLACE);
  store<u32>(slot, epoch, SLOT_EPOCH);
  return STATUS_OK;
}

/** Forgets all streams; the key that was looked up last may still be inserted. */
export function laneTableClear(): void {
  region = LANE_TABLE;
  slots = FIRST_SLOTS;
  entries = 0;
  epoch++;
}

/** Streams in the table. */
export function laneTableEntries(): u32 {
  return entries;
}

/** Ref of the stream that was found or inserted last. */
export function foundRef(): u32 {
  return ref;
}

/** Engine that owns the stream that was found or inserted last. */
export function foundDestination(): u32 {
  return place & 255;
}

/** Partition of the stream that was found or inserted last. */
export function foundPartition(): u32 {
  return place >> 8;
}
