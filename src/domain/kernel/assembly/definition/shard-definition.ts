// Takes definitions into the shard, where they lie: finds or makes each stream's slot and binds its ref. What is out of the ordinary (a kind that
// changed, a count to correct, no room, a stream that may be one that is not in memory) is left to TypeScript, one definition at a time.
// Sketch: 100 ns a new stream and what its pages cost.
import {
  BINDINGS, BINDINGS_BYTES, COLD_FILTER, COLD_FILTER_BYTES, DEFINITIONS_BYTES, IDENTITIES, IDENTITIES_BYTES, TENANT_HEAD,
} from "../../../../core/layout/memory-map";
import {
  BINDING_BYTES, BINDING_IS_NEW, BINDING_PARTITION, BINDING_REF, BINDING_SLOT, DEFINE_COUNTED, DEFINE_FLAGS, DEFINE_HASH, DEFINE_HEADER_BYTES,
  DEFINE_IDENTITY_BYTES, DEFINE_PARTITION, DEFINE_REF, DEFINE_SERVICE_LABEL_MASK, DEFINE_SERVICE_LABEL_SHIFT, DEFINE_STREAM_FLAGS, DEFINE_TENANT,
} from "../../../../core/layout/row-frame";
import { FLAG_COUNTER, FLAG_GUESSED, FLAG_SETTLED, SR_FLAGS, SR_IDENTITY, SR_IDENTITY_BYTES, SR_SERVICE_LABEL } from "../../../../core/layout/stream-record";
import { markBucket } from "../shard/shard-bucket";
import { partitionOfIdentity } from "./identity-service";
import { bindRef, createSlot, findSlot, recordOf, removeSlot } from "../shard/shard-table";

/** Entries at BINDINGS, at most. */
export const BINDINGS_MAX: u32 = BINDINGS_BYTES / BINDING_BYTES;

if (BINDINGS_BYTES / <i32>BINDING_BYTES < DEFINITIONS_BYTES / (<i32>DEFINE_HEADER_BYTES + 8)) ERROR("more definitions than bindings in one call");

/** Blocks for identities come in multiples of so many bytes; what is given back is kept by size, and taken again before fresh memory. */
const UNIT: u32 = 8;
/** As IDENTITY_BYTES_MAX in core/config/limits.ts. */
export const IDENTITY_MAX: u32 = 16 * 1024;
/** By size in units: the first free block, whose first word is the address of the next. */
const freeBlocks: usize = memory.data(4 * (16 * 1024 / 8 + 1), 8);

let end: usize = IDENTITIES;
let used: u32 = 0;
let bindings: u32 = 0;

/** Bytes of the identities that are kept. */
export function identitiesBytes(): u32 {
  return used;
}

/** A block for an identity; 0 when there is no room. Once fresh memory is used up, larger free blocks are cut. */
function takeBlock(bytes: u32): usize {
  const units = (bytes + UNIT - 1) / UNIT;
  let from = units;
  if (load<u32>(freeBlocks + (units << 2)) == 0) {
    if (end + units * UNIT <= <usize>IDENTITIES + <usize>IDENTITIES_BYTES) {
      const fresh = end;
      end += units * UNIT;
      used += units * UNIT;
      return fresh;
    }
    while (from <= IDENTITY_MAX / UNIT && load<u32>(freeBlocks + (from << 2)) == 0) from++;
    if (from > IDENTITY_MAX / UNIT) return 0;
  }
  const block = <usize>load<u32>(freeBlocks + (from << 2));
  store<u32>(freeBlocks + (from << 2), load<u32>(block));
  if (from > units) freeBlock(block + units * UNIT, from - units);
  used += units * UNIT;
  return block;
}

// @ts-ignore
@inline
function freeBlock(block: usize, units: u32): void {
  store<u32>(block, load<u32>(freeBlocks + (units << 2)));
  store<u32>(freeBlocks + (units << 2), <u32>block);
}

/** Gives a stream's slot and the memory of its identity back. No ref may be bound to it any more. */
export function removeStream(slot: u32): void {
  const r = recordOf(slot);
  const units = (load<u32>(r, SR_IDENTITY_BYTES) + UNIT - 1) / UNIT;
  used -= units * UNIT;
  freeBlock(<usize>load<u32>(r, SR_IDENTITY), units);
  removeSlot(slot);
}

/** Whether a stream with this hash may be one that is not in memory: false is certain. */
// @ts-ignore
@inline
export function mayBeCold(hash: usize): bool {
  const high = load<u64>(hash, 8);
  return isSet(<u32>high) && isSet(<u32>(high >> 32));
}

// @ts-ignore
@inline
function isSet(hash: u32): bool {
  const bit = hash & (<u32>COLD_FILTER_BYTES * 8 - 1);
  return ((load<u8>(<usize>COLD_FILTER + (bit >> 3)) >> <u8>(bit & 7)) & 1) != 0;
}

/** Entries of BINDING_BYTES at BINDINGS, of the last call that takes definitions or streams. */
export function bindingsCount(): u32 {
  return bindings;
}

export function bindingsReset(): void {
  bindings = 0;
}

/** A new slot with its identity, for a hash that findSlot does not know; -1 when there is no room. `defined` are flags of a definition. */
export function createStream(hashPointer: usize, tenant: u32, partition: u32, defined: u32, identity: usize, identityLength: u32): i32 {
  const block = takeBlock(identityLength);
  if (block == 0) return -1;
  const slot = createSlot(hashPointer, tenant, partition, defined & DEFINE_STREAM_FLAGS);
  if (slot < 0) {
    used -= (identityLength + UNIT - 1) / UNIT * UNIT;
    freeBlock(block, (identityLength + UNIT - 1) / UNIT);
    return -1;
  }
  const r = recordOf(slot);
  memory.copy(block, identity, identityLength);
  store<u32>(r, <u32>block, SR_IDENTITY);
  store<u32>(r, identityLength, SR_IDENTITY_BYTES);
  takeServiceLabel(r, defined);
  markBucket(slot);
  return slot;
}

/** Notes which label named the service, where a definition says so: the newest is what the sender calls it now. */
// @ts-ignore
@inline
function takeServiceLabel(r: usize, defined: u32): void {
  if ((defined & DEFINE_SERVICE_LABEL_MASK) != 0) store<u8>(r, (defined & DEFINE_SERVICE_LABEL_MASK) >> DEFINE_SERVICE_LABEL_SHIFT, SR_SERVICE_LABEL);
}

/** Gives a known stream the kind of its definition; false where it has to start anew for that. A guess changes no kind that is settled, nor an earlier guess. */
function takesKind(r: usize, defined: u32): bool {
  takeServiceLabel(r, defined);
  const known = load<u32>(r, SR_FLAGS);
  const isGuess = (defined & FLAG_GUESSED) != 0;
  if (isGuess && (known & (FLAG_GUESSED | FLAG_SETTLED)) != 0) return true;
  if (((known ^ defined) & FLAG_COUNTER) != 0) return false;
  if (((known | defined) & (FLAG_GUESSED | FLAG_SETTLED)) != 0)
    store<u32>(r, known & ~(<u32>(FLAG_GUESSED | FLAG_SETTLED)) | defined & (FLAG_GUESSED | FLAG_SETTLED), SR_FLAGS);
  return true;
}

/**
 * Takes definitions of streams of this engine, which is `engine` of `engines`, and passes over others; returns how many bytes it took. When that
 * is less than `bytes`, the next definition is for TypeScript to take.
 */
export function takeDefinitions(pointer: usize, bytes: u32, engine: u32, engines: u32): u32 {
  bindings = 0;
  let at = pointer;
  for (const stop = pointer + bytes; at < stop; at = behind(at)) {
    const partition = load<u32>(at, DEFINE_PARTITION);
    if (partition % engines != engine) continue;
    const flags = load<u32>(at, DEFINE_FLAGS);
    const tenant = load<u32>(at, DEFINE_TENANT);
    const isCounted = (flags & DEFINE_COUNTED) != 0;
    let slot = findSlot(at + DEFINE_HASH, tenant);
    if ((slot < 0) != isCounted || slot < 0 && mayBeCold(at + DEFINE_HASH)) break;
    if (isCounted) slot = create(at, tenant, partition, flags & ~DEFINE_COUNTED);
    else if (!takesKind(recordOf(slot), flags)) break;
    const ref = load<u32>(at, DEFINE_REF);
    if (slot < 0 || !bindRef(ref, slot)) break;
    bind(ref, slot, partition, isCounted);
  }
  return <u32>(at - pointer);
}

/**
 * The same for definitions of an earlier start, whole ones of the first `bytes` behind the pointer. Their refs are bound to nothing here, and new
 * streams are this tenant's, to whom the identity must belong: `headBytes` at TENANT_HEAD.
 */
export function replayDefinitions(pointer: usize, bytes: u32, engine: u32, engines: u32, tenant: u32, headBytes: u32, seed: u32): u32 {
  bindings = 0;
  let at = pointer;
  for (const stop = pointer + bytes; at + DEFINE_HEADER_BYTES <= stop && behind(at) <= stop; at = behind(at)) {
    const partition = load<u32>(at, DEFINE_PARTITION);
    if (partition % engines != engine) continue;
    const identity = at + DEFINE_HEADER_BYTES;
    const length = load<u32>(at, DEFINE_IDENTITY_BYTES);
    if (headBytes == 0 || length < headBytes || memory.compare(identity, TENANT_HEAD, headBytes) != 0) break;
    if (partitionOfIdentity(identity + headBytes, identity + length, seed) != <i32>partition) break;
    const flags = load<u32>(at, DEFINE_FLAGS) & ~DEFINE_COUNTED;
    let slot = findSlot(at + DEFINE_HASH, tenant);
    const isNew = slot < 0;
    if (isNew && mayBeCold(at + DEFINE_HASH)) break;
    if (isNew) slot = create(at, tenant, partition, flags);
    else if (!takesKind(recordOf(slot), flags)) break;
    if (slot < 0) break;
    bind(load<u32>(at, DEFINE_REF), slot, partition, isNew);
  }
  return <u32>(at - pointer);
}

// @ts-ignore
@inline
function behind(at: usize): usize {
  return at + ((DEFINE_HEADER_BYTES + load<u32>(at, DEFINE_IDENTITY_BYTES) + 7) & ~7);
}

// @ts-ignore
@inline
function create(at: usize, tenant: u32, partition: u32, flags: u32): i32 {
  return createStream(at + DEFINE_HASH, tenant, partition, flags, at + DEFINE_HEADER_BYTES, load<u32>(at, DEFINE_IDENTITY_BYTES));
}

// @ts-ignore
@inline
export function bind(ref: u32, slot: u32, partition: u32, isNew: bool): void {
  const at = <usize>BINDINGS + <usize>bindings * BINDING_BYTES;
  store<u32>(at, ref, BINDING_REF);
  store<u32>(at, slot, BINDING_SLOT);
  store<u32>(at, partition, BINDING_PARTITION);
  store<u32>(at, isNew ? 1 : 0, BINDING_IS_NEW);
  bindings++;
}
