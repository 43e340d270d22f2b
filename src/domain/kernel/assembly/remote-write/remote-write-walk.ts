// Walks a remote-write body that remote-write-index.ts (1.0) or remote-write-2-index.ts checked: hash of a series -> stream ref by the key table,
// samples -> rows in the staging area.
// Tags and lengths are trusted here. The walk stops where TypeScript has to act (kernel-status.ts) and goes on from the same place.
// Sketch for a series with one sample: 5 ns table (20 at a million streams), 10 ns sample.
import { REJECT_IN_FUTURE, REJECT_TOO_OLD } from "../../../../core/layout/kernel-event";
import { RETAINED_PARSE, REPLICA_DECISIONS, SERIES_INDEX } from "../../../../core/layout/memory-map";
import { ROW_BYTES, START_MARKER_HIGH } from "../../../../core/layout/row-frame";
import {
  STATUS_ALLOWANCE_SPENT, STATUS_ASK_OWNER, STATUS_ASK_REPLICA, STATUS_BAD_LABELS, STATUS_DEFINITIONS_FULL, STATUS_DONE, STATUS_METADATA, STATUS_OK,
  STATUS_REJECTS_FULL, STATUS_ROWS_FULL, STATUS_UNKNOWN_STREAM,
} from "../../../../core/layout/kernel-status";
import {
  foundDestination, foundRef, foundSource, keyFind, keyInsert, keyStoreLabels, keyNotes, keySetNotes, keySetSource, keyTableClear,
} from "../ingest/key-table";
import { addReject, stagedRows, stagingAdvance, stagingPointer, STALE_MARKER, writeRow } from "../ingest/row-staging";
import { fieldNumber, payload, readField } from "../wire/protobuf-wire";
import {
  ENTRY_2_BYTES, ENTRY_DESCRIBED, ENTRY_NOTES, ENTRY_START, ENTRY_TYPE, indexBody2, indexEnd2, indexFurther2, NOTES_TYPE_MASK, setIndexed2, unindexed2,
} from "./remote-write-2-index";
import {
  ENTRY_BYTES, ENTRY_DESTINATION, ENTRY_END, ENTRY_FIELDS, ENTRY_HASH_HIGH, ENTRY_HASH_LOW, ENTRY_KNOWN, ENTRY_REF, ENTRY_SOURCE, ENTRY_SPAN,
  ENTRY_SPAN_BYTES, ENTRY_USUAL, FIELD_SAMPLE, indexBody, indexEnd, indexFurther, isUsualSample, setIndexed, unindexed, USUAL_SAMPLE_BYTES,
} from "./remote-write-index";
import { readSample, sampleBits, sampleStart, sampleTime } from "./remote-write-sample";
import { labelsBytes, labelsOf, setSymbols, symbolCount } from "./remote-write-symbols";
import { definedDestination, definedPartition, finishedRef, finishSeries, preparedIsKnown, prepareSeries } from "../definition/stream-definition";
import { usualTimeAt } from "./usual-time";

const EXPONENT: u64 = 0x7ff0000000000000;
const MANTISSA: u64 = 0x000fffffffffffff;
/** The NaN that Prometheus stores for all but stale markers. */
const NOT_A_NUMBER: u64 = 0x7ff8000000000001;
/** ENTRY_USUAL in ENTRY_FIELDS, ENTRY_KNOWN in ENTRY_END. */
const FLAG_BIT: u32 = ENTRY_USUAL & ENTRY_KNOWN;
/** What a start marker holds. */
const START_MAX: i64 = 0xffffffffffff;

// The body.
let tenant: u32 = 0;
let baseMs: i64 = 0;
let minMs: i64 = 0;
let admittedMs: u64 = 0; // maxMs - minMs
let maxRows: u32 = 0;
let bodyEnd: usize = 0;
let nextEntry: usize = SERIES_INDEX;
let isVersion2: bool = false;
/** Number of the body: decisions of others do not count. */
let bodyNumber: u64 = 0, bodies: u64 = 0;
let unobserved: u32 = 0;
let skipped: u32 = 0;

// The series at hand.
let inSeries: bool = false;
let pending: i32 = STATUS_OK; // why TypeScript was asked, until it answers
let spanPointer: usize = 0;
let spanBytes: u32 = 0;
let fieldsAt: usize = 0; // the next field
let seriesEnd: usize = 0;
let usual: bool = false; // from fieldsAt on there are usual samples only
export let entryAt: usize = 0;
let keyLow: u64 = 0;
let keyHigh: u64 = 0;
let isEntered: bool = false; // found by that key, not by the first pass
let ref: u32 = 0;
let destination: u32 = 0;
let source: u32 = 0;
let reportedStart: i64 = 0; // the start time that the stream's shard knows
let newStart: i64 = 0; // a start time to be told ahead of the next sample; 0 = none

/**
 * Checks a decompressed body (BODY_PADDING_BYTES must follow it, and its bytes must not change until the walk is done) and sets the walk to its start.
 * Answers the number of samples or STATUS_BAD_PROTOBUF. Times are whole milliseconds with base <= min <= max < base + 2^32; a walk stops with
 * STATUS_ROWS_FULL when stagedRows() is `rowsMax` (rowsMax * ROW_BYTES <= STAGING_BYTES).
 */
export function remoteWriteBegin(pointer: usize, bytes: u32, tenantIndex: u32, base: f64, min: f64, max: f64, rowsMax: u32): i32 {
  isVersion2 = false;
  return begin(indexBody(pointer, bytes, tenantIndex), pointer + bytes, tenantIndex, base, min, max, rowsMax);
}

/** The same for a body of remote-write 2.0; STATUS_TOO_LARGE when it has more than SYMBOLS_MAX symbols. */
export function remoteWrite2Begin(pointer: usize, bytes: u32, tenantIndex: u32, base: f64, min: f64, max: f64, rowsMax: u32): i32 {
  isVersion2 = true;
  return begin(indexBody2(pointer, bytes, tenantIndex), pointer + bytes, tenantIndex, base, min, max, rowsMax);
}

function begin(samples: i32, end: usize, tenantIndex: u32, base: f64, min: f64, max: f64, rowsMax: u32): i32 {
  tenant = tenantIndex;
  baseMs = <i64>base;
  minMs = <i64>min;
  admittedMs = <u64>(<i64>max - <i64>min);
  maxRows = rowsMax;
  bodyEnd = samples < 0 ? (isVersion2 ? unindexed2 : unindexed) : end;
  nextEntry = samples < 0 ? (isVersion2 ? indexEnd2 : indexEnd) : SERIES_INDEX;
  inSeries = false;
  pending = STATUS_OK;
  newStart = reportedStart = 0;
  unobserved = skipped = 0;
  bodyNumber = ++bodies;
  return samples;
}

/** Samples of the body that were no observation (a NaN for a summary's quantile) and so are not staged. */
export function remoteWriteUnobserved(): u32 {
  return unobserved;
}

/** Samples of the body that were passed over because another replica's are taken. */
export function remoteWriteSkipped(): u32 {
  return skipped;
}

/**
 * Notes where the walk stands, so that other bodies may be walked before it goes on; answers where the index ends. The index, the symbols and the body are the
 * caller's to keep. Only where a step has stopped with STATUS_ROWS_FULL, _REJECTS_FULL or _DEFINITIONS_FULL, or the series it stopped at has been settled.
 */
export function remoteWriteSuspend(): usize {
  const at = <usize>RETAINED_PARSE;
  const flags: u32 = (isVersion2 ? 1 : 0) | (inSeries ? 2 : 0) | (usual ? 4 : 0) | (isEntered ? 8 : 0);
  store<i64>(at, baseMs, 0);
  store<i64>(at, minMs, 8);
  store<u64>(at, admittedMs, 16);
  store<u64>(at, bodyNumber, 24);
  store<i64>(at, reportedStart, 48);
  store<i64>(at, newStart, 56);
  store<u32>(at, flags, 64);
  store<u32>(at, tenant, 68);
  store<u32>(at, maxRows, 72);
  store<u32>(at, <u32>bodyEnd, 76);
  store<u32>(at, <u32>nextEntry, 80);
  store<u32>(at, unobserved, 84);
  store<u32>(at, skipped, 88);
  store<i32>(at, pending, 92);
  store<u32>(at, <u32>fieldsAt, 104);
  store<u32>(at, <u32>seriesEnd, 108);
  store<u32>(at, <u32>entryAt, 112);
  store<u32>(at, ref, 116);
  store<u32>(at, destination, 120);
  store<u32>(at, source, 124);
  const end = isVersion2 ? indexEnd2 : indexEnd;
  store<u32>(at, <u32>end, 128);
  store<u32>(at, <u32>(isVersion2 ? unindexed2 : unindexed), 132);
  store<u32>(at, symbolCount(), 136);
  return end;
}

/** Goes on from there: what was noted and kept lies where it lay. */
export function remoteWriteGoOn(): void {
  const at = <usize>RETAINED_PARSE;
  const flags = load<u32>(at, 64);
  isVersion2 = (flags & 1) != 0;
  inSeries = (flags & 2) != 0;
  usual = (flags & 4) != 0;
  isEntered = (flags & 8) != 0;
  baseMs = load<i64>(at, 0);
  minMs = load<i64>(at, 8);
  admittedMs = load<u64>(at, 16);
  bodyNumber = load<u64>(at, 24);
  reportedStart = load<i64>(at, 48);
  newStart = load<i64>(at, 56);
  tenant = load<u32>(at, 68);
  maxRows = load<u32>(at, 72);
  bodyEnd = load<u32>(at, 76);
  nextEntry = load<u32>(at, 80);
  unobserved = load<u32>(at, 84);
  skipped = load<u32>(at, 88);
  pending = load<i32>(at, 92);
  fieldsAt = load<u32>(at, 104);
  seriesEnd = load<u32>(at, 108);
  entryAt = load<u32>(at, 112);
  spanPointer = load<u32>(entryAt, ENTRY_SPAN);
  spanBytes = load<u32>(entryAt, ENTRY_SPAN_BYTES);
  keyLow = load<u64>(entryAt, ENTRY_HASH_LOW);
  keyHigh = load<u64>(entryAt, ENTRY_HASH_HIGH);
  ref = load<u32>(at, 116);
  destination = load<u32>(at, 120);
  source = load<u32>(at, 124);
  if (isVersion2) {
    setIndexed2(load<u32>(at, 128), load<u32>(at, 132), tenant);
    setSymbols(load<u32>(at, 136));
  } else {
    setIndexed(load<u32>(at, 128), load<u32>(at, 132), tenant);
  }
}

/** Row offsets count from another time from now on: the next unit has a base of its own (base <= min, max < base + 2^32). */
export function remoteWriteRebase(base: f64): void {
  baseMs = <i64>base;
}

/**
 * Runs until the body is done or TypeScript has to act: STATUS_DONE, _UNKNOWN_STREAM, _ROWS_FULL, _REJECTS_FULL, _BAD_LABELS, _ASK_OWNER,
 * _ALLOWANCE_SPENT, _DEFINITIONS_FULL, _METADATA or _ASK_REPLICA.
 */
export function remoteWriteStep(): i32 {
  if (pending == STATUS_ALLOWANCE_SPENT || pending == STATUS_DEFINITIONS_FULL) pending = define();
  if (pending != STATUS_OK) return pending;
  while (true) {
    if (!inSeries) {
      if (!isVersion2) stagePlain();
      const status = nextSeries();
      if (status != STATUS_OK) return status;
      if (!inSeries) continue;
    }
    const status = stageSamples();
    if (status != STATUS_OK) return status;
    inSeries = false;
    if (newStart != 0) withdraw();
  }
}

/**
 * Stages the series from nextEntry on that leave nothing to ask: their streams are known and have one sender, their samples are usual, finite, of an
 * admitted time, and find room. The first series that is otherwise is left to the general way, from its first sample on.
 */
function stagePlain(): void {
  const entriesEnd = indexEnd;
  let entry = nextEntry;
  let into: u32 = U32.MAX_VALUE, first: usize = 0, row: usize = 0, rowsEnd: usize = 0;
  let left = maxRows - min(maxRows, stagedRows());
  for (; entry < entriesEnd; entry += ENTRY_BYTES) {
    const fields = load<u32>(entry, ENTRY_FIELDS), ends = load<u32>(entry, ENTRY_END);
    if ((fields & ends & FLAG_BIT) == 0 || load<u32>(entry, ENTRY_SOURCE) != 0) break;
    const to = load<u32>(entry, ENTRY_DESTINATION);
    if (to != into) {
      if (into != U32.MAX_VALUE) {
        left -= <u32>(row - first) / ROW_BYTES;
        stagingAdvance(into, <u32>(row - first) / ROW_BYTES);
      }
      into = to;
      first = row = stagingPointer(to);
      rowsEnd = row + <usize>left * ROW_BYTES;
    }
    const end = <usize>(ends & ~ENTRY_KNOWN), ofRef = load<u32>(entry, ENTRY_REF);
    let at = row;
    let p = <usize>(fields & ~ENTRY_USUAL);
    for (; p < end && at < rowsEnd; p += USUAL_SAMPLE_BYTES) {
      const bits = load<u64>(p, 3), time = usualTimeAt(p);
      if ((bits & EXPONENT) == EXPONENT || <u64>(time - minMs) > admittedMs) break;
      writeRow(at, ofRef, <u32>(time - baseMs), bits);
      at += ROW_BYTES;
    }
    if (p < end) break;
    row = at;
  }
  if (into != U32.MAX_VALUE) stagingAdvance(into, <u32>(row - first) / ROW_BYTES);
  nextEntry = entry;
}

/** A start time that no sample was taken for has not been told. */
function withdraw(): void {
  if (isEntered && keyFind(keyLow, keyHigh, tenant)) keySetNotes(0);
  newStart = 0;
}

/**
 * Address of the label bytes of the series that a step stopped at, unknown, label-less, or with metadata; fields other than labels may lie between them. Of a
 * 2.0 body they are made of its symbols, and valid until the next call.
 */
export function unknownPointer(): usize {
  return spanPointer;
}

/** Length of those bytes. */
export function unknownBytes(): u32 {
  return spanBytes;
}

/** After STATUS_METADATA: the metadata have been taken; the key table may have been cleared since. A series of another type than before is defined anew. */
export function remoteWriteNoted(): void {
  if (pending != STATUS_METADATA) return;
  const isKnown = keyFind(keyLow, keyHigh, tenant) && (keyNotes() & NOTES_TYPE_MASK) == (load<u32>(entryAt, ENTRY_NOTES) & NOTES_TYPE_MASK);
  pending = isKnown ? enterSeries() : define();
}

/** After STATUS_ASK_REPLICA: which source it is, as keySetSource() or remoteWriteResolve() said. */
export function replicaSource(): u32 {
  return source;
}

/** After STATUS_ASK_REPLICA: whether the samples of that source are taken, in all of this body. */
export function remoteWriteReplica(isTaken: bool): void {
  if (pending != STATUS_ASK_REPLICA) return;
  store<u64>(decision(), (bodyNumber << 1) | (isTaken ? 1 : 0));
  pending = STATUS_OK;
  if (isTaken) inSeries = true;
  else skipSeries();
}

// @ts-ignore
@inline
function decision(): usize {
  return <usize>REPLICA_DECISIONS + (<usize>source << 3);
}

function skipSeries(): void {
  inSeries = true;
  skipped += remoteWriteSkipSeries();
}

/** After STATUS_ASK_OWNER: whether the shard of another engine holds the stream. STATUS_OK, or STATUS_ALLOWANCE_SPENT as from a step. */
export function defineSettle(isKnown: bool): i32 {
  if (pending == STATUS_ASK_OWNER) pending = settle(isKnown);
  return pending;
}

/** Defines the series at hand and enters it; STATUS_OK, or what TypeScript has to do. */
function define(): i32 {
  if (isVersion2 && !bringLabels()) return STATUS_BAD_LABELS;
  const status = prepareSeries(spanPointer, spanBytes, tenant, isVersion2 ? load<u32>(entryAt, ENTRY_TYPE) & ~ENTRY_DESCRIBED : 0);
  return status == STATUS_OK ? settle(preparedIsKnown()) : status;
}

/** Makes the label bytes of a 2.0 series, which refer to symbols in its entry. */
function bringLabels(): bool {
  spanPointer = labelsOf(load<u32>(entryAt, ENTRY_SPAN), load<u32>(entryAt, ENTRY_SPAN_BYTES));
  spanBytes = spanPointer == 0 ? 0 : labelsBytes();
  return spanPointer != 0;
}

function settle(isKnown: bool): i32 {
  const status = finishSeries(isKnown);
  if (status != STATUS_OK) return status;
  if (keyInsert(finishedRef(), definedDestination(), definedPartition()) != STATUS_OK) {
    keyTableClear();
    keyInsert(finishedRef(), definedDestination(), definedPartition());
  }
  keySetSource(0);
  storeLabels();
  return enterSeries();
}

/** Where the labels lie together, for a series to be compared with them. */
function storeLabels(): void {
  if (!isVersion2 && fieldsAt == spanPointer + spanBytes) keyStoreLabels(spanPointer, spanBytes);
}

/** Enters the unknown stream into the key table: STATUS_OK, or STATUS_TABLE_FULL (clear it, resolve again). `ofSource` tells replicas apart; 0 = one sender. */
export function remoteWriteResolve(newRef: u32, newDestination: u32, partition: u32, ofSource: u32): i32 {
  if (pending != STATUS_UNKNOWN_STREAM && pending != STATUS_ALLOWANCE_SPENT) return STATUS_OK;
  const status = keyInsert(newRef, newDestination, partition);
  if (status != STATUS_OK) return status;
  keySetSource(ofSource);
  storeLabels();
  pending = enterSeries();
  return STATUS_OK;
}

/** Leaves the series at hand and answers how many of its samples are lost by that. */
export function remoteWriteSkipSeries(): i32 {
  if (pending == STATUS_OK && !inSeries) return 0;
  pending = STATUS_OK;
  inSeries = false;
  let lost = 0;
  for (let p = fieldsAt; p < seriesEnd; ) {
    p = readField(p, seriesEnd);
    if (fieldNumber == FIELD_SAMPLE) lost++;
  }
  return lost;
}

/** Goes to the next series, and finds its stream. */
// @ts-ignore
@inline
function nextSeries(): i32 {
  if (nextEntry == (isVersion2 ? indexEnd2 : indexEnd)) {
    if ((isVersion2 ? unindexed2 : unindexed) == bodyEnd) return STATUS_DONE;
    if (isVersion2) indexFurther2(bodyEnd);
    else indexFurther(bodyEnd);
    nextEntry = SERIES_INDEX;
  }
  const entry = nextEntry;
  entryAt = entry;
  nextEntry += isVersion2 ? ENTRY_2_BYTES : ENTRY_BYTES;
  spanPointer = load<u32>(entry, ENTRY_SPAN);
  spanBytes = load<u32>(entry, ENTRY_SPAN_BYTES);
  const fields = load<u32>(entry, ENTRY_FIELDS), end = load<u32>(entry, ENTRY_END);
  fieldsAt = fields & ~ENTRY_USUAL;
  usual = (fields & ENTRY_USUAL) != 0;
  seriesEnd = end & ~ENTRY_KNOWN;
  if ((end & ENTRY_KNOWN) != 0) {
    ref = load<u32>(entry, ENTRY_REF);
    destination = load<u32>(entry, ENTRY_DESTINATION);
    source = load<u32>(entry, ENTRY_SOURCE);
    if (isVersion2) reportedStart = load<i64>(entry, ENTRY_START);
    newStart = 0;
    isEntered = false;
    return admit();
  }
  const low = load<u64>(entry, ENTRY_HASH_LOW);
  const high = load<u64>(entry, ENTRY_HASH_HIGH);
  if ((low | high) == 0) return (pending = STATUS_BAD_LABELS);
  const isFound = keyFind(low, high, tenant);
  if (isVersion2) {
    keyLow = low;
    keyHigh = high;
    const isNoted = isFound && keyNotes() == load<u32>(entry, ENTRY_NOTES);
    if (!isNoted && (load<u32>(entry, ENTRY_TYPE) & ENTRY_DESCRIBED) != 0) return (pending = bringLabels() ? STATUS_METADATA : STATUS_BAD_LABELS);
  }
  if (!isFound) return (pending = define());
  pending = enterSeries();
  return pending;
}

/** Begins the series at hand with the stream that was found or inserted last: STATUS_OK or STATUS_ASK_REPLICA. */
function enterSeries(): i32 {
  ref = foundRef();
  destination = foundDestination();
  source = foundSource();
  if (isVersion2) {
    const notes = load<u32>(entryAt, ENTRY_NOTES);
    const start = load<i64>(entryAt, ENTRY_START);
    reportedStart = start;
    newStart = keyNotes() == notes ? 0 : start;
    isEntered = true;
    keySetNotes(notes);
    spanPointer = load<u32>(entryAt, ENTRY_SPAN); // rejected samples refer to what stays: the references in the body
    spanBytes = load<u32>(entryAt, ENTRY_SPAN_BYTES);
  }
  return admit();
}

/** Passes over the series where another replica's samples are taken. */
// @ts-ignore
@inline
function admit(): i32 {
  inSeries = true;
  if (source == 0) return STATUS_OK;
  const decided = load<u64>(decision());
  if (decided >> 1 != bodyNumber) {
    inSeries = false;
    return (pending = STATUS_ASK_REPLICA);
  }
  if ((decided & 1) == 0) skipSeries();
  return STATUS_OK;
}

/** Stages the samples of the series at hand, from fieldsAt on. */
function stageSamples(): i32 {
  const rows = stagingPointer(destination);
  const rowsEnd = rows + (maxRows - min(maxRows, stagedRows())) * ROW_BYTES;
  const end = seriesEnd;
  let status = STATUS_OK;
  let row = rows;
  let p = fieldsAt;
  while (p < end) {
    let next = p + USUAL_SAMPLE_BYTES;
    let bits: u64, time: i64;
    if (usual || (next <= end && isUsualSample(p))) {
      bits = load<u64>(p, 3);
      time = usualTimeAt(p);
    } else {
      next = readField(p, end);
      if (fieldNumber != FIELD_SAMPLE) {
        p = next;
        continue;
      }
      readSample(payload, next, isVersion2);
      bits = sampleBits;
      time = sampleTime;
      if (sampleStart != 0 && sampleStart != reportedStart) newStart = reportedStart = sampleStart;
    }
    if (<u64>(time - minMs) > admittedMs) {
      if (!addReject(time < minMs ? REJECT_TOO_OLD : REJECT_IN_FUTURE, spanPointer, spanBytes, <f64>time, bits)) {
        status = STATUS_REJECTS_FULL;
        break;
      }
    } else {
      if (row == rowsEnd) {
        status = STATUS_ROWS_FULL;
        break;
      }
      if (newStart != 0) {
        const start = newStart;
        newStart = 0;
        if (start > 0 && start <= START_MAX) {
          writeRow(row, ref, <u32>(time - baseMs), (<u64>START_MARKER_HIGH << 48) | <u64>start);
          row += ROW_BYTES;
          continue;
        }
      }
      if ((bits & EXPONENT) == EXPONENT && bits != STALE_MARKER) {
        unobserved++;
        // A shard takes other NaN for what they are: markers of its own.
        if ((bits & MANTISSA) != 0) bits = NOT_A_NUMBER;
      }
      writeRow(row, ref, <u32>(time - baseMs), bits);
      row += ROW_BYTES;
    }
    p = next;
  }
  fieldsAt = p;
  stagingAdvance(destination, <u32>(row - rows) / ROW_BYTES);
  return status;
}
