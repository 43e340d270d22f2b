// Streams of a checkpoint, put into the shard where they lie: identity, hash, slot, record and ring (domain/kernel/stream-snapshot.ts and actors/engine/recovery/partition-state.ts
// have the formats). What is out of the ordinary (another tenant, a stream that may be one that is not in memory, no room, bytes that are none) is left to TypeScript,
// one stream at a time. Sketch: half a microsecond a full ring of 3-decimal values, and what its pages cost.
import { TENANT_HEAD } from "../../../../core/layout/memory-map";
import {
  FLAG_PROFILE_MASK, SR_BEYOND_SINCE, SR_CHUNK_AT, SR_COUNT, SR_FLAGS, SR_HEAD, SR_IDENTITY, SR_IDENTITY_BYTES, SR_PEAK_HIGH, SR_STATE_BYTES, SR_TENANT, SR_UNCHUNKED,
  WINDOW_MAX,
} from "../../../../core/layout/stream-record";
import { decodeColumn, varintAt, varintEnd } from "../chunk/chunk-column-reader";
import { identityHash } from "../hash/identity-hash";
import { bind, BINDINGS_MAX, bindingsCount, bindingsReset, createStream, IDENTITY_MAX, mayBeCold, removeStream } from "./shard-definition";
import { intervalsOf, recordOf, valuesOf } from "../shard/shard-table";

/** Words of the record in a snapshot: all of its state but SR_COUNT and SR_TENANT, then the peaks and SR_BEYOND_SINCE. */
const STATE_WORDS: u32 = SR_STATE_BYTES / 8 - 2;
const WORDS: u32 = STATE_WORDS + 2;
const PRESENT_BYTES: usize = 3;

/** The identity at hand, and room for what a hash reads behind it. */
const IDENTITY = memory.data(16 * 1024 + 64, 16);
const INTERVALS = memory.data(1024, 16);

if (SR_COUNT != 0 || SR_TENANT != SR_STATE_BYTES - 16) ERROR("the words of a record that a snapshot holds are others");
if (8 * WINDOW_MAX > 1024) ERROR("no room for intervals");

/**
 * Writes the snapshot at `at` over a slot's record and ring, but for its identity, hash, tenant, partition and profile, and returns the place behind it; 0 when the
 * bytes before `end` are none, after which the slot is of no use. Up to 10 bytes behind `end` are read.
 */
export function unpackStream(slot: u32, at: usize, end: usize): usize {
  if (at + 1 + PRESENT_BYTES > end) return 0;
  const head = load<u32>(at), count = head & 0xff, present = head >> 8;
  at += 1 + PRESENT_BYTES;
  if (count > <u32>WINDOW_MAX || present >> WORDS != 0 || at + (<usize>popcnt(present) << 3) > end) return 0;
  const r = recordOf(slot);
  at = takeWords(r, present, at);
  // The kernel takes both as they stand, and would pack values that the ring has not.
  if (load<u32>(r, SR_UNCHUNKED) > count || <u32>load<u8>(r, SR_CHUNK_AT) > <u32>WINDOW_MAX) return 0;
  store<u32>(r, count, SR_COUNT);
  store<u32>(r, count == <u32>WINDOW_MAX ? 0 : count, SR_HEAD);
  if (count == 0) return at;
  at = decodeColumn(at, end, count, valuesOf(r, count));
  if (at != 0) at = decodeColumn(at, end, count, INTERVALS);
  return at != 0 && takeIntervals(intervalsOf(r, count), count) ? at : 0;
}

/** Writes the words of the record that `present` names, and zeros over the others; the place behind them. */
// @ts-ignore
@inline
function takeWords(r: usize, present: u32, at: usize): usize {
  const profile = load<u32>(r, SR_FLAGS) & FLAG_PROFILE_MASK;
  let rest = present, to = r + 8;
  for (let word: u32 = 0; word < WORDS; word++, rest >>= 1, to += 8) {
    if (word == STATE_WORDS - 1) to += 8; // tenant and partition
    if (word == STATE_WORDS) to = r + SR_PEAK_HIGH;
    if (word == STATE_WORDS + 1) to = r + SR_BEYOND_SINCE;
    store<u64>(to, (rest & 1) != 0 ? load<u64>(at) : 0);
    at += <usize>(rest & 1) << 3;
  }
  store<u32>(r, load<u32>(r, SR_FLAGS) & ~(<u32>FLAG_PROFILE_MASK) | profile, SR_FLAGS);
  return at;
}

/** Whole milliseconds of 32 bits; false when they are none. */
// @ts-ignore
@inline
function takeIntervals(into: usize, count: u32): bool {
  let fits = true;
  for (let i: usize = 0; i < <usize>count; i++) {
    const interval = load<f64>(INTERVALS + (i << 3));
    fits = fits && interval >= 0 && interval <= <f64>U32.MAX_VALUE;
    store<u32>(into + (i << 2), <u32>(<i64>min(max(interval, 0), <f64>U32.MAX_VALUE)));
  }
  return fits;
}

/**
 * Puts the streams of a checkpoint's part into slots, from `pointer` on, where the part has them: {bytes of the identity that `previous`, or the stream before, shares
 * varint, further bytes varint, those bytes, snapshot}. They are of this tenant, `headBytes` at TENANT_HEAD, and of this partition. `previous` is the slot of the
 * stream before the first, or -1. Returns how many bytes were taken, at most `bytes`: fewer when the next stream is for TypeScript to take. The slots are in
 * bindingsCount() entries at BINDINGS.
 */
export function restoreStreams(pointer: usize, bytes: u32, previous: i32, tenant: u32, headBytes: u32, partition: u32): u32 {
  bindingsReset();
  const end = pointer + bytes;
  let at = pointer, known = previous < 0 ? 0 : setIdentityAside(recordOf(previous));
  while (at < end && headBytes != 0 && bindingsCount() < BINDINGS_MAX) {
    const shared = varintAt(at, end);
    const rest = varintEnd() == 0 ? 0 : varintAt(varintEnd(), end);
    const from = varintEnd();
    if (from == 0 || shared > <u64>known || rest > <u64>IDENTITY_MAX || shared + rest > <u64>IDENTITY_MAX || from + <usize>rest > end) break;
    const length = <u32>(shared + rest);
    memory.copy(IDENTITY + <usize>shared, from, <usize>rest);
    known = length;
    if (length < headBytes || memory.compare(IDENTITY, TENANT_HEAD, headBytes) != 0) break;
    const hash = identityHash(IDENTITY, length);
    if (mayBeCold(hash)) break;
    const slot = createStream(hash, tenant, partition, 0, IDENTITY, length);
    if (slot < 0) break;
    const next = unpackStream(slot, from + <usize>rest, end);
    if (next == 0) {
      removeStream(slot);
      break;
    }
    bind(0, slot, partition, true);
    at = next;
  }
  return <u32>(at - pointer);
}

/** Copies a stream's identity to IDENTITY; its bytes. */
// @ts-ignore
@inline
function setIdentityAside(r: usize): u32 {
  const bytes = load<u32>(r, SR_IDENTITY_BYTES);
  memory.copy(IDENTITY, <usize>load<u32>(r, SR_IDENTITY), bytes);
  return bytes;
}
