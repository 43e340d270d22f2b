// The labels of a remote-write series as its definition needs them: sorted by name, and which of them says the name, the service and the environment.
// Names are compared as bytes, which for ASCII is the order of canonical JSON (domain/series/stream-identity.ts); other names are TypeScript's.
import { SERVICE_LABEL_ABSENT } from "../../../../core/layout/stream-record";
import { readVarint, varint } from "../wire/protobuf-wire";

/** As ATTRIBUTES_MAX and the like in core/config/limits.ts; a series beyond them is TypeScript's to refuse. */
const LABELS_MAX: u32 = 129;
const NAME_MAX: u32 = 1024;
const VALUE_MAX: u32 = 8192;

const LABEL_BYTES: usize = 16;
const LABEL_NAME: usize = 0; // u32 address
const LABEL_NAME_BYTES: usize = 4;
const LABEL_VALUE: usize = 8;
const LABEL_VALUE_BYTES: usize = 12;
const LABELS = memory.data(129 * 16, 16);

/** The index of a label that is missing. */
export const NO_LABEL: u32 = U32.MAX_VALUE;

/** Labels that were read last; their indexes are 0 .. labelCount - 1. */
export let labelCount: u32 = 0;
export let metricLabel: u32 = NO_LABEL;
export let serviceLabel: u32 = NO_LABEL;
/** What named the service of the labels, as SR_SERVICE_LABEL has it. */
export let serviceLabelNumber: u32 = SERVICE_LABEL_ABSENT;
export let environmentLabel: u32 = NO_LABEL;
/** Bytes of all names and values. */
export let labelTextBytes: u32 = 0;

// @ts-ignore
@inline
function labelAt(index: u32): usize {
  return LABELS + <usize>index * LABEL_BYTES;
}
// @ts-ignore
@inline
export function nameOf(index: u32): usize {
  return load<u32>(labelAt(index), LABEL_NAME);
}
// @ts-ignore
@inline
export function nameBytesOf(index: u32): u32 {
  return load<u32>(labelAt(index), LABEL_NAME_BYTES);
}
// @ts-ignore
@inline
export function valueOf(index: u32): usize {
  return load<u32>(labelAt(index), LABEL_VALUE);
}
// @ts-ignore
@inline
export function valueBytesOf(index: u32): u32 {
  return load<u32>(labelAt(index), LABEL_VALUE_BYTES);
}

/**
 * Reads the labels of a checked span. False when the series is none that the kernel defines: too many or too long labels, labels that are not
 * written as {name, value}, a name twice, other fields between, no metric name, a name that is too long, or a label that names a replica.
 */
export function readLabels(span: usize, spanBytes: u32): bool {
  labelCount = 0;
  labelTextBytes = 0;
  const end = span + spanBytes;
  for (let p = span; p < end; ) {
    if (labelCount == LABELS_MAX || load<u8>(p) != 0x0a) return false;
    p = readLength(p + 1);
    const labelEnd = p + length;
    let name = p, nameBytes: u32 = 0;
    if (p < labelEnd && load<u8>(p) == 0x0a) {
      name = readLength(p + 1);
      nameBytes = length;
      p = name + nameBytes;
    }
    let value = p, valueBytes: u32 = 0;
    if (p < labelEnd) {
      if (load<u8>(p) != 0x12) return false;
      value = readLength(p + 1);
      valueBytes = length;
      p = value + valueBytes;
    }
    if (p != labelEnd || nameBytes > NAME_MAX || valueBytes > VALUE_MAX) return false;
    if (valueBytes == 0) continue; // is none
    if (!enter(name, nameBytes, value, valueBytes)) return false;
  }
  findRoles();
  return metricLabel != NO_LABEL && !namesReplica && isNameLong(metricLabel) && isNameLong(serviceLabel) && isNameLong(environmentLabel);
}

/** Whether the value of a label, which may be absent, is no longer than a name. */
// @ts-ignore
@inline
function isNameLong(index: u32): bool {
  return index == NO_LABEL || valueBytesOf(index) <= NAME_MAX;
}

let length: u32 = 0;

/** Reads a length of one byte or more, which the first pass has checked. */
// @ts-ignore
@inline
function readLength(p: usize): usize {
  const first = <u32>load<u8>(p);
  if (first < 128) {
    length = first;
    return p + 1;
  }
  const next = readVarint(p);
  length = <u32>varint;
  return next;
}

/** Inserts a label in the order of names; false when the name is there already. */
// @ts-ignore
@inline
function enter(name: usize, nameBytes: u32, value: usize, valueBytes: u32): bool {
  let index = labelCount;
  while (index > 0) {
    const order = compare(nameOf(index - 1), nameBytesOf(index - 1), name, nameBytes);
    if (order < 0) break;
    if (order == 0) return false;
    v128.store(labelAt(index), v128.load(labelAt(index - 1)));
    index--;
  }
  const at = labelAt(index);
  store<u32>(at, <u32>name, LABEL_NAME);
  store<u32>(at, nameBytes, LABEL_NAME_BYTES);
  store<u32>(at, <u32>value, LABEL_VALUE);
  store<u32>(at, valueBytes, LABEL_VALUE_BYTES);
  labelCount++;
  labelTextBytes += nameBytes + valueBytes;
  return true;
}

// @ts-ignore
@inline
function compare(a: usize, aBytes: u32, b: usize, bBytes: u32): i32 {
  const shorter = min(aBytes, bBytes);
  for (let i: u32 = 0; i < shorter; i++) {
    const difference = <i32>load<u8>(a + i) - <i32>load<u8>(b + i);
    if (difference != 0) return difference;
  }
  return <i32>aBytes - <i32>bBytes;
}

let namesReplica: bool = false;

/** Finds __name__, the first of the service labels and the first of the environment names that have a value. */
function findRoles(): void {
  metricLabel = serviceLabel = environmentLabel = NO_LABEL;
  namesReplica = false;
  let serviceRank: u32 = <u32>SERVICE_LABEL_ABSENT - 1, environmentRank: u32 = 4;
  for (let index: u32 = 0; index < labelCount; index++) {
    const role = roleOf(nameOf(index), nameBytesOf(index));
    if (role == ROLE_REPLICA) namesReplica = true;
    if (role == 0 || role == ROLE_REPLICA || valueBytesOf(index) == 0) continue;
    if (role == ROLE_METRIC) {
      metricLabel = index;
    } else if (role < ROLE_ENVIRONMENT) {
      if (role - ROLE_SERVICE >= serviceRank) continue;
      serviceRank = role - ROLE_SERVICE;
      serviceLabel = index;
    } else if (role - ROLE_ENVIRONMENT < environmentRank) {
      environmentRank = role - ROLE_ENVIRONMENT;
      environmentLabel = index;
    }
  }
  serviceLabelNumber = serviceRank + 1;
}

const ROLE_METRIC: u32 = 1;
const ROLE_SERVICE: u32 = 2; // and the four ranks behind it
const ROLE_ENVIRONMENT: u32 = 7; // and the three ranks behind it
const ROLE_REPLICA: u32 = 11;

/** What a label of this name says; lists and order are those of stream-identity.ts. Words are ASCII, little-endian. */
// @ts-ignore
@inline
function roleOf(name: usize, bytes: u32): u32 {
  const word = load<u64>(name);
  switch (bytes) {
    case 3: {
      const text = <u32>word & 0xffffff;
      return text == 0x707061 ? ROLE_SERVICE + 3 : text == 0x626f6a ? ROLE_SERVICE + 4 : text == 0x766e65 ? ROLE_ENVIRONMENT + 3 : 0; // app, job, env
    }
    case 7:
      return (word & 0xffffffffffffff) == 0x65636976726573 ? ROLE_SERVICE + 1 : (word & 0xffffffffffffff) == 0x6163696c706572 ? ROLE_REPLICA : 0; // service, replica
    case 8:
      return word == 0x5f5f656d616e5f5f ? ROLE_METRIC : 0; // __name__
    case 10:
      return word == 0x5f65636976726573 && load<u16>(name, 8) == 0x6469 ? ROLE_SERVICE : 0; // service_id
    case 11:
      if (word == 0x63696c7065725f5f && load<u64>(name, 3) == 0x5f5f6163696c7065) return ROLE_REPLICA; // __replica__
      return word == 0x6d6e6f7269766e65 && load<u64>(name, 3) == 0x746e656d6e6f7269 ? ROLE_ENVIRONMENT + 2 : 0; // environment
    case 12:
      return word == 0x5f65636976726573 && load<u32>(name, 8) == 0x656d616e ? ROLE_SERVICE + 2 : 0; // service_name
    case 18: // prometheus_replica
      return word == 0x656874656d6f7270 && load<u16>(name, 8) == 0x7375 && load<u64>(name, 10) == 0x6163696c7065725f ? ROLE_REPLICA : 0;
    case 22: // deployment.environment
      return isDeployment(name, word) && load<u64>(name, 14) == 0x746e656d6e6f7269 ? ROLE_ENVIRONMENT + 1 : 0;
    case 27: // deployment.environment.name
      return isDeployment(name, word) && load<u64>(name, 16) == 0x6e2e746e656d6e6f && load<u64>(name, 19) == 0x656d616e2e746e65 ? ROLE_ENVIRONMENT : 0;
    default:
      return 0;
  }
}

function isDeployment(name: usize, word: u64): bool {
  return word == 0x656d796f6c706564 && load<u64>(name, 8) == 0x7269766e652e746e;
}
