// Which slot a stream has: identity hash (u128) and tenant -> slot, and ref -> slot.
// Table entries are 8 bytes {low 32 bits of the hash, slot + 1}: 2^13 at first (64 KiB), doubled into the next region of the arena at load
// 0.5, up to 2^22 (32 MiB; all regions together 64 of 128 MiB). An equal entry is confirmed with hash and tenant in the stream's record.
// Slots that were given back are taken again first. Taking an entry out moves those behind it up, so that there are no holes to pass.
import { REF_MAP, REF_MAP_BYTES, SHARD_TABLE, STREAM_RECORDS, STREAM_RINGS, STREAM_SLOTS_MAX } from "../../../../core/layout/memory-map";
import {
  FIRST_MAX, RING_INTERVALS, SR_CHUNK_AT, SR_FIRST_INTERVALS, SR_FIRST_VALUES, SR_FLAGS, SR_HASH, SR_PARTITION, SR_PUSHES, SR_TENANT, STREAM_RECORD_BYTES,
  STREAM_RECORD_SHIFT, STREAM_RING_BYTES, WINDOW_MAX,
} from "../../../../core/layout/stream-record";

const ENTRY_BYTES: usize = 8;
const TABLE_BITS_MIN: u32 = 13;
const TABLE_BITS_MAX: u32 = 22;

let table: usize = SHARD_TABLE;
let bits: u32 = TABLE_BITS_MIN;
let slotCount: u32 = 0;
/** Of the slots below slotCount: streams, and the one that was given back last, plus one; its record holds the next such number. */
let streamCount: u32 = 0;
let freeSlot: u32 = 0;

/** Address of a slot's record. */
// @ts-ignore
@inline
export function recordOf(slot: u32): usize {
  return <usize>STREAM_RECORDS + <usize>slot * STREAM_RECORD_BYTES;
}

/** Address of the ring that belongs to a record. */
// @ts-ignore
@inline
export function ringOf(r: usize): usize {
  return <usize>STREAM_RINGS + ((r - <usize>STREAM_RECORDS) >> STREAM_RECORD_SHIFT) * STREAM_RING_BYTES;
}

/** Where the values of a record's ring lie while it holds `count`. */
// @ts-ignore
@inline
export function valuesOf(r: usize, count: u32): usize {
  return count <= <u32>FIRST_MAX ? r + SR_FIRST_VALUES : ringOf(r);
}

/** Where their intervals lie. */
// @ts-ignore
@inline
export function intervalsOf(r: usize, count: u32): usize {
  return count <= <u32>FIRST_MAX ? r + SR_FIRST_INTERVALS : ringOf(r) + RING_INTERVALS;
}

/** The table has 2^bits entries. */
export function tableBits(): u32 {
  return bits;
}

/** Slots that are or were in use: 0 .. slots() - 1. */
export function slots(): u32 {
  return slotCount;
}

/** Streams that have a slot. */
export function streams(): u32 {
  return streamCount;
}

/** Slot of the stream with the 16 hash bytes at `hashPointer`, or -1. */
export function findSlot(hashPointer: usize, tenant: u32): i32 {
  const low = load<u64>(hashPointer), high = load<u64>(hashPointer, 8);
  const mask = (<usize>1 << bits) - 1;
  let i = <usize>(<u32>low) & mask;
  while (true) {
    const entry = table + i * ENTRY_BYTES;
    const stored = load<u32>(entry, 4);
    if (stored == 0) return -1;
    if (load<u32>(entry) == <u32>low) {
      const r = recordOf(stored - 1);
      if (load<u64>(r, SR_HASH) == low && load<u64>(r, SR_HASH + 8) == high && load<u32>(r, SR_TENANT) == tenant) return <i32>(stored - 1);
    }
    i = (i + 1) & mask;
  }
}

/**
 * Takes a slot for a stream that findSlot does not know; -1 when every slot is in use. The record of a slot that is taken for the first time is zero
 * as the system gave it, and only what is written here costs anything.
 */
export function createSlot(hashPointer: usize, tenant: u32, partition: u32, flags: u32): i32 {
  if (freeSlot == 0 && slotCount >= <u32>STREAM_SLOTS_MAX) return -1;
  if (streamCount >= <u32>1 << (bits - 1) && bits < TABLE_BITS_MAX) grow();
  const slot = freeSlot == 0 ? slotCount++ : reuseSlot();
  streamCount++;
  const r = recordOf(slot);
  store<u64>(r, load<u64>(hashPointer), SR_HASH);
  store<u64>(r, load<u64>(hashPointer, 8), SR_HASH + 8);
  store<u32>(r, tenant, SR_TENANT);
  store<u32>(r, partition, SR_PARTITION);
  store<u32>(r, flags, SR_FLAGS);
  store<u8>(r, firstChunkAt(load<u64>(hashPointer, 8)), SR_CHUNK_AT);
  store<u8>(r, firstPushes(partition), SR_PUSHES);
  insertEntry(<u32>load<u64>(hashPointer), slot + 1);
  return <i32>slot;
}

function reuseSlot(): u32 {
  const slot = freeSlot - 1;
  const r = recordOf(slot);
  freeSlot = load<u32>(r);
  memory.fill(r, 0, STREAM_RECORD_BYTES);
  return slot;
}

/** Gives a stream's slot back. No ref may be bound to it any more. */
export function removeSlot(slot: u32): void {
  const r = recordOf(slot);
  takeOut(<u32>load<u64>(r, SR_HASH), slot + 1);
  store<u64>(r, 0, SR_HASH);
  store<u64>(r, 0, SR_HASH + 8);
  store<u32>(r, freeSlot);
  freeSlot = slot + 1;
  streamCount--;
}

/** Closes the gap: an entry behind it moves up when its own place is not between the gap and where it stands. */
function takeOut(low: u32, stored: u32): void {
  const mask = (<usize>1 << bits) - 1;
  let gap = <usize>low & mask;
  while (load<u32>(table + gap * ENTRY_BYTES, 4) != stored) gap = (gap + 1) & mask;
  for (let i = (gap + 1) & mask; ; i = (i + 1) & mask) {
    const entry = load<u64>(table + i * ENTRY_BYTES);
    if (<u32>(entry >> 32) == 0) break;
    const home = <usize>(<u32>entry) & mask;
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    store<u64>(table + gap * ENTRY_BYTES, entry);
    gap = i;
  }
  store<u64>(table + gap * ENTRY_BYTES, 0);
}

/** Rows with this ref go to this slot. False when the ref is beyond the map. */
export function bindRef(ref: u32, slot: u32): bool {
  if (ref >= <u32>REF_MAP_BYTES >> 2) return false;
  store<u32>(<usize>REF_MAP + (<usize>ref << 2), slot + 1);
  return true;
}

/** Slot that a ref is bound to, from COLD_SLOTS on a stream that is not in memory; -1 for none. */
// @ts-ignore
@inline
export function slotOfRef(ref: u32): i32 {
  if (ref >= <u32>REF_MAP_BYTES >> 2) return -1;
  return <i32>load<u32>(<usize>REF_MAP + (<usize>ref << 2)) - 1;
}

/** A stream's first chunk is due after 61 to 120 values, by its hash: streams that began together then do not all turn at once. */
function firstChunkAt(hash: u64): u32 {
  const half = WINDOW_MAX / 2;
  return half + 1 + <u32>(hash % half);
}

/**
 * The same for statistics, which are taken anew every so many pushes: those of 10,000 streams in step took 10 ms in one round of them, and nothing in 119.
 * By the partition, which is that of the service on every server: the hash has a server's own seeds, and rounding would differ with them.
 */
function firstPushes(partition: u32): u32 {
  return partition % WINDOW_MAX;
}

function insertEntry(low: u32, stored: u32): void {
  const mask = (<usize>1 << bits) - 1;
  let i = <usize>low & mask;
  while (load<u32>(table + i * ENTRY_BYTES, 4) != 0) i = (i + 1) & mask;
  store<u32>(table + i * ENTRY_BYTES, low);
  store<u32>(table + i * ENTRY_BYTES, stored, 4);
}

/** The next region lies behind the present one and has never been touched, so it is zero. */
function grow(): void {
  const end = table + (<usize>1 << bits) * ENTRY_BYTES;
  let entry = table;
  table = end;
  bits++;
  for (; entry < end; entry += ENTRY_BYTES) {
    if (load<u32>(entry, 4) != 0) insertEntry(load<u32>(entry), load<u32>(entry, 4));
  }
}
