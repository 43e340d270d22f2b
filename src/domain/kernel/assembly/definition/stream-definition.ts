// Definitions of new streams: identity, hash, partition and ref, written as they stand in the log into the definitions area, one behind another.
// Of a remote-write series the kernel makes all of it from the label bytes; of other streams TypeScript brings identity and partition.
// What the kernel may hand out it has been given before: a run of refs, and how many new streams the tenant may still have.
// Sketch: 150 ns a series of eight labels and 280 bytes of identity.
import { DEFINITIONS, DEFINITIONS_BYTES } from "../../../../core/layout/memory-map";
import {
  DEFINE_COUNTED, DEFINE_FLAGS, DEFINE_HASH, DEFINE_HEADER_BYTES, DEFINE_IDENTITY_BYTES, DEFINE_PARTITION, DEFINE_REF, DEFINE_SERVICE_LABEL_SHIFT,
  DEFINE_TENANT,
} from "../../../../core/layout/row-frame";
import {
  STATUS_ALLOWANCE_SPENT, STATUS_ASK_OWNER, STATUS_DEFINITIONS_FULL, STATUS_OK, STATUS_UNKNOWN_STREAM,
} from "../../../../core/layout/kernel-status";
import { hashHigh, hashLow, identityHash } from "../hash/identity-hash";
import { identityBytes, serviceText, serviceTextBytes, TEXT_SLACK, writeIdentity } from "./identity-text";
import { partitionOfService } from "../hash/placement-hash";
import { KIND_CONTESTED, kindOfSeries } from "./series-kinds";
import { metricLabel, readLabels, serviceLabelNumber, valueBytesOf, valueOf } from "./series-labels";
import { findSlot } from "../shard/shard-table";

/** As IDENTITY_BYTES_MAX in core/config/limits.ts. */
const IDENTITY_MAX: u32 = 16 * 1024;

// Texts as numbers in little-endian order.
const UP: u16 = 0x7075;
const TARGET_I: u64 = 0x695f746567726174;
const INFO: u32 = 0x6f666e69;

let engine: u32 = 0;
let engines: u32 = 1;
let retainedFlags: u32 = U32.MAX_VALUE;

// The tenant at hand.
let headBytes: u32 = 0; // 0: series are not defined here
let serviceSeed: u32 = 0;

// What may be handed out.
let nextRef: u32 = 0;
let endRef: u32 = 0;
let newStreams: u32 = 0;

/** Bytes in the area. */
let used: u32 = 0;

// The definition at the end of the area that has no ref yet.
let bytes: u32 = 0;
let partition: u32 = 0;

/** Which engine this is, of how many, and which flags its definitions may have. */
export function defineSetup(self: u32, count: u32, flags: u32): void {
  engine = self;
  engines = count;
  retainedFlags = flags;
}

/** The tenant of the series to come: bytes at TENANT_HEAD (0: series are left to TypeScript), and the hash that the partition of a service goes on from. */
export function defineTenant(bytesOfHead: u32, seed: u32): void {
  headBytes = bytesOfHead;
  serviceSeed = seed;
}

/** Gives the kernel refs first .. first + count - 1; those it still had are lost. */
export function defineRefs(first: u32, count: u32): void {
  nextRef = first;
  endRef = first + count;
}

export function defineRefsLeft(): u32 {
  return endRef - nextRef;
}

/** Sets how many new streams the tenant at hand may have, and answers how many were left. */
export function defineAllow(streams: u32): u32 {
  const left = newStreams;
  newStreams = streams;
  return left;
}

/** Bytes of definitions at DEFINITIONS. */
export function definitionsBytes(): u32 {
  return used;
}

/** Empties the area: the unit has been committed and handed on. */
export function definitionsReset(): void {
  used = 0;
}

/** Address of the identity hash of the definition that is waiting for defineSettle(). */
export function definedHash(): usize {
  return entry() + DEFINE_HASH;
}

/** Partition of the definition that was prepared last. */
export function definedPartition(): u32 {
  return partition;
}

// @ts-ignore
@inline
function entry(): usize {
  return <usize>DEFINITIONS + <usize>used;
}

// @ts-ignore
@inline
function hasCapacity(identity: u32): bool {
  return used + DEFINE_HEADER_BYTES + identity + TEXT_SLACK <= <u32>DEFINITIONS_BYTES;
}

/**
 * Prepares the definition of a remote-write series, whose own type is `type` (0 for none): STATUS_OK when its stream's shard is this engine's, and held() says whether it is known there;
 * STATUS_ASK_OWNER, _UNKNOWN_STREAM (TypeScript defines it), _ALLOWANCE_SPENT or _DEFINITIONS_FULL.
 */
export function prepareSeries(span: usize, spanBytes: u32, tenant: u32, type: u32): i32 {
  if (headBytes == 0 || !readLabels(span, spanBytes)) return STATUS_UNKNOWN_STREAM;
  const name = valueOf(metricLabel), nameBytes = valueBytesOf(metricLabel);
  if (describesTarget(name, nameBytes)) return STATUS_UNKNOWN_STREAM;
  const flags = kindOfSeries(name, nameBytes, tenant, type);
  if (flags == KIND_CONTESTED) return STATUS_UNKNOWN_STREAM;
  const identity = identityBytes(headBytes);
  if (identity > IDENTITY_MAX) return STATUS_UNKNOWN_STREAM;
  if (!hasCapacity(identity)) return STATUS_DEFINITIONS_FULL;
  if (nextRef == endRef) return STATUS_ALLOWANCE_SPENT;
  if (!writeIdentity(entry() + DEFINE_HEADER_BYTES, headBytes)) return STATUS_UNKNOWN_STREAM;
  return prepare(identity, tenant, partitionOfService(serviceSeed, serviceText(), serviceTextBytes()), flags | serviceLabelNumber << DEFINE_SERVICE_LABEL_SHIFT);
}

/** Whether a series is `up` or `target_info`, whose labels TypeScript looks at (domain/labels/service-label.ts). */
// @ts-ignore
@inline
function describesTarget(name: usize, nameBytes: u32): bool {
  if (nameBytes == 2) return load<u16>(name) == UP;
  return nameBytes == 11 && load<u64>(name) == TARGET_I && load<u32>(name, 7) == INFO;
}

/**
 * Prepares the definition of a stream whose identity TypeScript knows: STATUS_OK (definedIsKnown() says whether the shard has it),
 * STATUS_ASK_OWNER or STATUS_DEFINITIONS_FULL. BODY_PADDING_BYTES of anything follow the identity.
 */
export function definePrepare(identity: usize, identityLength: u32, tenant: u32, ofPartition: u32, flags: u32): i32 {
  if (!hasCapacity(identityLength)) return STATUS_DEFINITIONS_FULL;
  const to = entry() + DEFINE_HEADER_BYTES;
  memory.copy(to, identity, identityLength);
  store<u64>(to + identityLength, 0);
  return prepare(identityLength, tenant, ofPartition, flags);
}

let isPreparedKnown: bool = false;

/** Whether this engine's shard has the stream that was prepared last: 1 or 0. */
export function definedIsKnown(): u32 {
  return isPreparedKnown ? 1 : 0;
}

function prepare(identity: u32, tenant: u32, ofPartition: u32, flags: u32): i32 {
  const at = entry();
  bytes = identity;
  partition = ofPartition;
  identityHash(at + DEFINE_HEADER_BYTES, identity);
  store<u32>(at, partition, DEFINE_PARTITION);
  store<u32>(at, flags & retainedFlags, DEFINE_FLAGS);
  store<u32>(at, tenant, DEFINE_TENANT);
  store<u64>(at, hashLow, DEFINE_HASH);
  store<u64>(at, hashHigh, DEFINE_HASH + 8);
  store<u64>(at, identity, DEFINE_IDENTITY_BYTES);
  if (definedDestination() != engine) return STATUS_ASK_OWNER;
  isPreparedKnown = findSlot(at + DEFINE_HASH, tenant) >= 0;
  return STATUS_OK;
}

/** Engine that owns the stream that was prepared last. */
export function definedDestination(): u32 {
  return partition % engines;
}

/** Ends the definition that was prepared last with a ref of the caller's. A stream that is not known counts as new. */
export function defineFinish(ref: u32, isKnown: bool): void {
  const at = entry();
  store<u32>(at, ref, DEFINE_REF);
  if (!isKnown) store<u32>(at, load<u32>(at, DEFINE_FLAGS) | DEFINE_COUNTED, DEFINE_FLAGS);
  used += (DEFINE_HEADER_BYTES + bytes + 7) & ~7;
}

/** The same with a ref and, for a new stream, an allowance of the kernel's own: STATUS_OK or STATUS_ALLOWANCE_SPENT. */
export function finishSeries(isKnown: bool): i32 {
  if (nextRef == endRef || (!isKnown && newStreams == 0)) return STATUS_ALLOWANCE_SPENT;
  if (!isKnown) newStreams--;
  defineFinish(nextRef++, isKnown);
  return STATUS_OK;
}

/** Whether the stream that was prepared last is known here. */
// @ts-ignore
@inline
export function preparedIsKnown(): bool {
  return isPreparedKnown;
}

/** Ref that was handed out last by finishSeries(). */
// @ts-ignore
@inline
export function finishedRef(): u32 {
  return nextRef - 1;
}
