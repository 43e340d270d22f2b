// The shard's half of the kernel: rows -> rings -> statistics -> episodes. 16 B a row; a row touches the three lines of its record's header,
// one of values and one of intervals: about 30 ns in slot order, 60-100 in random order over 10,000 streams, 300 over 100,000 (misses).
// Nothing here allocates; whatever needs more is an event.
import {
  EVENT_CHUNK_DUE, EVENT_ENDED, EVENT_FLAG_AFTER_GAP, EVENT_FLAG_IRREGULAR, EVENT_FLAG_RESET, EVENT_LATE, EVENT_LATE_START, EVENT_NO_COUNTER, EVENT_OWED, EVENT_PARKED, EVENT_REPLACE, EVENT_SENT,
} from "../../../core/layout/kernel-event";
import { COLD_SLOTS, PARTITIONS } from "../../../core/layout/memory-map";
import {
  ARRIVAL_HISTORY, RESTART_MARKER_HIGH, ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE, START_MARKER_HIGH, WIDTH_MARKER_HIGH,
} from "../../../core/layout/row-frame";
import { SERVICE_HOUR_MS, SERVICE_HOURS_MAX } from "../../../core/layout/service-age";
import {
  FIRST_MAX, FLAG_BUCKET, FLAG_COUNTER, FLAG_ENDED, FLAG_GUESSED, FLAG_HISTORY, FLAG_SERVICE_HOURS_MASK, FLAG_SERVICE_HOURS_SHIFT, FLAG_START_MOVED, FLAG_UNJUDGED, RING_INTERVALS, RING_VALUES, SR_CHUNK_AT, SR_COUNT, SR_FIRST_TIME, SR_FLAGS, SR_HEAD, SR_INTERVAL,
  SR_LAST_RAW, SR_LAST_TIME, SR_LAST_VALUE, SR_MASK, SR_OWED, SR_PARTITION, SR_RESOLUTION, SR_SAMPLES, SR_STATE, SR_UNCHUNKED, STATE_LOW_SHIFT, STATE_OPEN, WINDOW_MAX,
  SR_UNJUDGED_MINUTES,
} from "../../../core/layout/stream-record";
import { takeChunk } from "./chunk/chunk-waiting";
import { insertAs, unjudgedFate } from "./shard/shard-apart";
import { addBucketSample, takeWidth } from "./shard/shard-bucket";
import { beganAnew, convert, deltaFlags, isNoCounter, noteRestart, scoredDelta, storeAnchor, storedDelta, takeStart } from "./shard/shard-counter";
import { departsConstant, entersMasked, fate, isQuiet, judge } from "./shard/shard-episode";
import {
  countDuplicate, countInvalid, countLate, countLateCounter, countReplaced, countSample, countStale, countUnbound, emitPlain, eventsCount,
  eventsFitRow,
} from "./shard/shard-event";
import { intervalIsDue, intervalOf, takeInterval } from "./shard/shard-interval";
import { takeRun, takeSingle } from "./shard/shard-run";
import { windowValues } from "./shard/shard-statistics";
import { intervalsOf, recordOf, ringOf, slotOfRef } from "./shard/shard-table";

export { bindRef, createSlot, findSlot, slotOfRef, slots, streams, tableBits } from "./shard/shard-table";
export { bucketSamples, bucketSamplesReset, markBucket } from "./shard/shard-bucket";
export { bindingsCount, createStream, identitiesBytes, removeStream, replayDefinitions, takeDefinitions } from "./definition/shard-definition";
export { findService, foundService, foundServiceBytes, foundTenant, foundTenantBytes } from "./definition/identity-service";
export { encodeChunkBlock } from "./chunk/chunk-block";
export { packRing } from "./chunk/chunk-ring";
export { chunkBytesPacked, chunksPacked, chunkTaken, openChunk, packChunk, takeChunk } from "./chunk/chunk-waiting";
export { restoreStreams, unpackStream } from "./definition/shard-restore";
export { recompute, setWindow } from "./shard/shard-statistics";
export { recentDeviation } from "./shard/recent-deviation";
export {
  closings, counterResets, eventsCount, eventsReset, excursions, openings, rowsInvalid, rowsUnbound, samplesDuplicate, samplesLate,
  samplesLateCounter, samplesReplaced, samplesTaken, staleMarkers,
} from "./shard/shard-event";

/** Prometheus' stale marker: a NaN with this payload. */
const STALE_BITS: u64 = 0x7ff0000000000002;
/** What a decoder makes of any other NaN that was sent. */
const NOT_A_NUMBER: u64 = 0x7ff8000000000001;
const MARKER_BITS: u64 = 0xffffffffffff;
const GAP_FACTOR: f64 = 10;
const MINUTE_MS: f64 = 60_000;
/** Rows ahead whose record's header is touched, so that its cache misses overlap the rows before: 10-30 % where streams come in no order. */
const HEADERS_AHEAD: u32 = 40;
/** Where several rows of a stream follow each other, streams that are touched at once instead, with their places in the rings; at most so many rows of them. */
const STREAMS_TOUCHED: u32 = 24;
const ROWS_TOUCHED_MAX: u32 = 512;

const suspended: usize = memory.data(PARTITIONS, 8);
let suspendedPartitions: u32 = 0;
/** By partition: whether a row has come to one of its streams since forgetRows(). */
const withRows: usize = memory.data(PARTITIONS, 8);

/** Rows are history (ARRIVAL_HISTORY): they enter rings and statistics, and are not judged. */
let isHistory: bool = false;

/** Keeps the touching loads alive. */
let touched: u32 = 0;

/**
 * Applies rows in order and returns how many were taken: up to and with the first that has an event, so that a correction or a verdict sees
 * the ring as it was at that row, however rows are batched; none when the ring of the first holds 120 values that are in no chunk. Read the
 * events, take the chunks, eventsReset(), and call again for the rest.
 */
export function applyRows(pointer: usize, rows: u32, baseMs: f64, arrivalMs: f64): u32 {
  isHistory = arrivalMs == <f64>ARRIVAL_HISTORY;
  const end = pointer + <usize>rows * ROW_BYTES;
  let touchedEnd: usize = pointer;
  for (let i: u32 = 0; i < rows; i++) {
    if (!eventsFitRow()) return i;
    const row = pointer + <usize>i * ROW_BYTES;
    const ref = load<u32>(row, ROW_REF);
    const isRun = row + ROW_BYTES < end && load<u32>(row + ROW_BYTES, ROW_REF) == ref;
    if (!isRun) {
      if (i + HEADERS_AHEAD < rows) touch(row);
    } else if (row >= touchedEnd) {
      touchedEnd = touchRuns(row, min(end, row + ROWS_TOUCHED_MAX * ROW_BYTES));
    }
    const slot = slotOfRef(ref);
    if (<u32>slot >= <u32>COLD_SLOTS && slot < 0) {
      countUnbound();
      continue;
    }
    if (<u32>slot >= <u32>COLD_SLOTS || suspendedPartitions != 0 && isSuspended(slot)) {
      emitPlain(EVENT_PARKED, ref, baseMs + <f64>load<u32>(row, ROW_OFFSET), load<f64>(row, ROW_VALUE), 0, arrivalMs);
      return i + 1;
    }
    store<u8>(withRows + <usize>load<u32>(recordOf(slot), SR_PARTITION), 1);
    if (!isHistory) {
      const taken = isRun ? takeRun(recordOf(slot), row, end, baseMs) : takeSingle(recordOf(slot), row, baseMs) ? 1 : 0;
      if (taken != 0) {
        i += taken - 1;
        continue;
      }
    }
    if (isOwed(recordOf(slot))) {
      emitPlain(EVENT_OWED, slot, baseMs + <f64>load<u32>(row, ROW_OFFSET), 0, 0, arrivalMs);
      return i + 1;
    }
    const time = baseMs + <f64>load<u32>(row, ROW_OFFSET);
    const isNewest = isHistory && time > load<f64>(recordOf(slot), SR_LAST_TIME);
    if (!take(slot, time, load<f64>(row, ROW_VALUE), arrivalMs)) return i;
    if (isNewest) markHistory(recordOf(slot), time);
    if (eventsCount() != 0) return i + 1;
  }
  return rows;
}

/** From now on rows of a partition's streams are parked, each an event; or no longer. They keep their order behind rows that wait for a stream. */
export function suspendPartition(partition: u32, isOn: bool): void {
  if ((load<u8>(suspended + partition) != 0) == isOn) return;
  store<u8>(suspended + partition, isOn ? 1 : 0);
  suspendedPartitions += isOn ? 1 : -1;
}

/** Whether rows have come to streams of a partition since forgetRows(). */
export function hasRows(partition: u32): bool {
  return load<u8>(withRows + partition) != 0;
}

export function forgetRows(partition: u32): void {
  store<u8>(withRows + partition, 0);
}

// @ts-ignore
@inline
function isSuspended(slot: u32): bool {
  return load<u8>(suspended + <usize>load<u32>(recordOf(slot), SR_PARTITION)) != 0;
}

/** Whether the stream is to stay as it is until its episode is told: the mark lies in a line of its own, and is looked at where one is open. */
// @ts-ignore
@inline
function isOwed(r: usize): bool {
  return (load<u32>(r, SR_STATE) & (STATE_OPEN | STATE_OPEN << STATE_LOW_SHIFT)) != 0 && load<u8>(r, SR_OWED) != 0;
}

// @ts-ignore
@inline
function touch(row: usize): void {
  const later = slotOfRef(load<u32>(row + HEADERS_AHEAD * ROW_BYTES, ROW_REF));
  if (<u32>later < <u32>COLD_SLOTS) {
    const r = recordOf(later);
    touched += load<u32>(r, SR_COUNT) + load<u32>(r, SR_UNCHUNKED) + load<u32>(r, SR_MASK);
  }
}

/** Reads what the rows of the next streams will read, in a loop so short that the misses of several overlap; returns where their rows end. */
function touchRuns(row: usize, end: usize): usize {
  let before: u32 = U32.MAX_VALUE;
  let streams: u32 = 0;
  for (; row < end; row += ROW_BYTES) {
    const ref = load<u32>(row, ROW_REF);
    if (ref == before) continue;
    if (streams++ == STREAMS_TOUCHED) break;
    before = ref;
    const slot = slotOfRef(ref);
    if (<u32>slot >= <u32>COLD_SLOTS) continue;
    const r = recordOf(slot), head = load<u32>(r, SR_HEAD);
    touched += head + load<u32>(r, SR_UNCHUNKED) + load<u32>(r, SR_MASK);
    if (load<u32>(r, SR_COUNT) <= <u32>FIRST_MAX) continue;
    const ring = ringOf(r);
    touched += load<u32>(ring + (<usize>head << 3), RING_VALUES) + load<u32>(ring + (<usize>head << 2), RING_INTERVALS);
    // Several rows of the stream: the line behind is next.
    if (row + ROW_BYTES < end && load<u32>(row + ROW_BYTES, ROW_REF) == ref) touched += load<u32>(ring + (<usize>head << 3), RING_VALUES + 64);
  }
  return row;
}

/** The first sample: from here on the age of the stream's service is counted from it and from the hours before. */
function storeFirst(r: usize, time: f64): void {
  const sinceMs = -load<f64>(r, SR_FIRST_TIME);
  const hours = sinceMs > 0 && time > sinceMs ? <u32>min(floor((time - sinceMs) / <f64>SERVICE_HOUR_MS), <f64>SERVICE_HOURS_MAX) : 0;
  store<f64>(r, time, SR_FIRST_TIME);
  store<u32>(r, (load<u32>(r, SR_FLAGS) & ~(<u32>FLAG_SERVICE_HOURS_MASK)) | (hours << FLAG_SERVICE_HOURS_SHIFT), SR_FLAGS);
}

/** Of a row that was newer than all before: where it was a value, the stream ends with history for now. The next live value takes the mark away. */
function markHistory(r: usize, time: f64): void {
  if (time == load<f64>(r, SR_LAST_TIME)) store<u32>(r, load<u32>(r, SR_FLAGS) | FLAG_HISTORY, SR_FLAGS);
}

/** One row of a bound stream. False when its ring has no place yet. */
// @ts-ignore
@inline
function take(slot: u32, time: f64, value: f64, arrivalMs: f64): bool {
  const r = recordOf(slot);
  const last = load<f64>(r, SR_LAST_TIME);
  if (value - value != 0) {
    end(r, slot, time, last, value, arrivalMs);
    return true;
  }
  if (time <= last) {
    old(r, slot, time, last, value, arrivalMs);
    return true;
  }
  let unchunked = load<u32>(r, SR_UNCHUNKED);
  if (unchunked == WINDOW_MAX) {
    if (eventsCount() != 0 || !chunkIsTaken(slot, last, arrivalMs)) return false;
    unchunked = 0;
  }
  const elapsed = last > 0 ? time - last : 0;
  if (!(load<f64>(r, SR_FIRST_TIME) > 0)) storeFirst(r, time);
  const flags = load<u32>(r, SR_FLAGS);
  if ((flags & (FLAG_ENDED | FLAG_HISTORY | FLAG_UNJUDGED)) != 0) store<u32>(r, flags & ~(<u32>(FLAG_ENDED | FLAG_HISTORY | FLAG_UNJUDGED)), SR_FLAGS);
  if ((flags & FLAG_COUNTER) == 0) push(r, slot, time, value, value, takeRestart(r, time), elapsed, arrivalMs);
  else if ((flags & FLAG_GUESSED) != 0 && isNoCounter(r, value)) {
    emitPlain(EVENT_NO_COUNTER, slot, time, value, 0, arrivalMs);
    return true;
  } else {
    const isDelta = convert(r, slot, time, value, elapsed, arrivalMs);
    if (!isHistory && (flags & FLAG_BUCKET) != 0) addBucketSample(slot, time, value, beganAnew, arrivalMs);
    if (!isDelta) {
      store<f64>(r, time, SR_LAST_TIME);
      return true;
    }
    if (unchunked == 0) storeAnchor(r);
    push(r, slot, time, storedDelta, scoredDelta, deltaFlags, elapsed, arrivalMs);
  }
  store<f64>(r, time, SR_LAST_TIME);
  const samples = load<f64>(r, SR_SAMPLES) + 1;
  store<f64>(r, samples, SR_SAMPLES);
  if (intervalIsDue(<u32>(<u64>samples))) takeInterval(r, min(load<u32>(r, SR_COUNT), windowValues()));
  store<u32>(r, unchunked + 1, SR_UNCHUNKED);
  // Insertions of late values may pass the mark between two pushes: then the chunk is due when the ring is full, above.
  if (unchunked + 1 == <u32>load<u8>(r, SR_CHUNK_AT)) chunkIsTaken(slot, time, arrivalMs);
  countSample();
  return true;
}

/** Takes the chunk of a stream, or has the caller do so: where its block is full, and of history, which is looked at before. */
function chunkIsTaken(slot: u32, time: f64, arrivalMs: f64): bool {
  if (!isHistory && takeChunk(slot)) return true;
  emitPlain(EVENT_CHUNK_DUE, slot, time, 0, 0, arrivalMs);
  return false;
}

/** Scores, then inserts. */
// @ts-ignore
@inline
function push(r: usize, slot: u32, time: f64, stored: f64, scored: f64, flags: u32, elapsed: f64, arrivalMs: f64): void {
  const interval = intervalOf(elapsed);
  const irregular = (flags & EVENT_FLAG_IRREGULAR) != 0;
  let masked = false, learns = !irregular, becomes = unjudgedFate(r);
  if (!isHistory && (irregular || !isQuiet(r, time, scored))) {
    const usual = load<f64>(r, SR_INTERVAL);
    judge(r, slot, time, scored, stored, usual > 0 && elapsed > GAP_FACTOR * usual ? flags | EVENT_FLAG_AFTER_GAP : flags, irregular, arrivalMs);
    masked = entersMasked;
    becomes = fate;
    if (departsConstant) learns = false;
  }
  if (learns && load<u32>(r, SR_COUNT) != 0) learnResolution(r, stored);
  insertAs(r, stored, interval, masked, becomes);
}

// @ts-ignore
@inline
function learnResolution(r: usize, value: f64): void {
  const step = abs(value - load<f64>(r, SR_LAST_VALUE));
  const known = load<f64>(r, SR_RESOLUTION);
  if (step > 0 && (step < known || known == 0)) store<f64>(r, step, SR_RESOLUTION);
}

/** The derived value that comes next, at `time`, is of an interval in which counting began anew. */
function markRestart(r: usize, time: f64): void {
  const flags = load<u32>(r, SR_FLAGS);
  if (time > load<f64>(r, SR_LAST_TIME) && (flags & FLAG_COUNTER) == 0) store<u32>(r, flags | FLAG_START_MOVED, SR_FLAGS);
}

/** Flags of an event of a value that is no counter's; takes the mark of markRestart() away. */
// @ts-ignore
@inline
function takeRestart(r: usize, time: f64): u32 {
  const flags = load<u32>(r, SR_FLAGS);
  if ((flags & FLAG_START_MOVED) == 0) return 0;
  store<u32>(r, flags & ~(<u32>FLAG_START_MOVED), SR_FLAGS);
  noteRestart(r, time);
  return EVENT_FLAG_RESET;
}

/** A start marker. That of a late value of history is reported as that is: it is measured from others than the newest. */
// @ts-ignore
@inline
function begin(r: usize, slot: u32, time: f64, last: f64, start: f64, arrivalMs: f64): void {
  if (isHistory && time < last) emitPlain(EVENT_LATE_START, slot, time, start, 0, arrivalMs);
  else takeStart(r, time, start);
}

/** Has a sample kept for reading, and notes up to when there are such: of a stream without a value there is no other time by which it is idle. */
function storeUnjudged(r: usize, slot: u32, time: f64, last: f64, value: f64, arrivalMs: f64): void {
  emitPlain(EVENT_SENT, slot, time, value, 0, arrivalMs);
  if (last == 0) store<f64>(r, time, SR_LAST_TIME);
  if (last == 0 || time <= last) return;
  store<u16>(r, <u16>min(ceil((time - last) / MINUTE_MS), U16.MAX_VALUE), SR_UNJUDGED_MINUTES);
  store<u32>(r, load<u32>(r, SR_FLAGS) | FLAG_UNJUDGED, SR_FLAGS);
}

/** What detection has no use for: what is kept for reading, or a marker. A stale marker that is not older than the newest value ends the stream; a value that comes later begins it again. */
function end(r: usize, slot: u32, time: f64, last: f64, value: f64, arrivalMs: f64): void {
  const bits = reinterpret<u64>(value);
  if (bits != STALE_BITS) {
    if (bits >>> 48 == START_MARKER_HIGH) begin(r, slot, time, last, <f64>(bits & MARKER_BITS), arrivalMs);
    else if (bits >>> 48 == RESTART_MARKER_HIGH) markRestart(r, time);
    else if (bits >>> 48 == WIDTH_MARKER_HIGH) takeWidth(r, time, reinterpret<f64>((bits & MARKER_BITS) << 16));
    else if (bits == NOT_A_NUMBER || abs(value) == Infinity) storeUnjudged(r, slot, time, last, value, arrivalMs);
    else countInvalid();
    return;
  }
  countStale();
  storeUnjudged(r, slot, time, last, value, arrivalMs);
  const flags = load<u32>(r, SR_FLAGS);
  if ((flags & FLAG_BUCKET) != 0) addBucketSample(slot, time, value, false, arrivalMs);
  if (time < last || (flags & FLAG_ENDED) != 0) return;
  store<u32>(r, flags | FLAG_ENDED, SR_FLAGS);
  emitPlain(EVENT_ENDED, slot, time, 0, 0, arrivalMs);
}

/** Not newer than the newest: a repetition, a correction, or late. History corrects nothing; its late values are stored, cumulative ones too. */
function old(r: usize, slot: u32, time: f64, last: f64, value: f64, arrivalMs: f64): void {
  const flags = load<u32>(r, SR_FLAGS);
  const counter = (flags & FLAG_COUNTER) != 0;
  if (isHistory && time == last) {
    countDuplicate();
    return;
  }
  // A family may be behind its streams after a start, and wait for a bucket that comes late.
  if (!isHistory && (flags & FLAG_BUCKET) != 0) addBucketSample(slot, time, value, false, arrivalMs);
  if (time < last) {
    if (counter && !isHistory) {
      countLateCounter();
      if (!ringHas(r, time)) emitPlain(EVENT_SENT, slot, time, value, 0, arrivalMs);
    } else {
      countLate();
      emitPlain(EVENT_LATE, slot, time, value, 0, arrivalMs);
    }
    return;
  }
  if (value == (counter ? load<f64>(r, SR_LAST_RAW) : load<f64>(r, SR_LAST_VALUE))) {
    countDuplicate();
    return;
  }
  countReplaced();
  emitPlain(EVENT_REPLACE, slot, time, value, 0, arrivalMs);
}

/** Whether the ring holds a value of a time before the newest: a counter's sample that came again. Costs what lies behind it. */
function ringHas(r: usize, time: f64): bool {
  const count = load<u32>(r, SR_COUNT), intervals = intervalsOf(r, count);
  let next = load<u32>(r, SR_HEAD), at = load<f64>(r, SR_LAST_TIME);
  for (let i: u32 = 0; i < count && at > time; i++) {
    next = (next == 0 ? <u32>WINDOW_MAX : next) - 1;
    const interval = <f64>load<u32>(intervals + (<usize>next << 2));
    if (interval == 0) return false;
    at -= interval;
  }
  return at == time;
}
