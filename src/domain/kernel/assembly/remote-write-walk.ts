// Walks a remote-write 1.0 body that remote-write-index.ts checked: label hash -> stream ref by the lane table, samples -> rows in the staging area.
// Tags and lengths are trusted here. The walk stops where TypeScript has to act (kernel-status.ts) and goes on from the same place.
// Sketch for a series with one sample: 5 ns table (20 at a million streams), 10 ns sample.
import { REJECT_INVALID_VALUE, REJECT_IN_FUTURE, REJECT_TOO_OLD } from "../../../core/layout/kernel-event";
import { SERIES_INDEX } from "../../../core/layout/memory-map";
import { ROW_BYTES } from "../../../core/layout/row-frame";
import {
  STATUS_ALLOWANCE_SPENT, STATUS_ASK_OWNER, STATUS_BAD_LABELS, STATUS_DEFINITIONS_FULL, STATUS_DONE, STATUS_OK, STATUS_REJECTS_FULL,
  STATUS_ROWS_FULL, STATUS_UNKNOWN_STREAM,
} from "../../../core/layout/kernel-status";
import { foundDestination, foundRef, laneFind, laneInsert, laneTableClear } from "./lane-table";
import { addReject, stagedRows, stagingAdvance, stagingPointer, writeRow } from "./lane-staging";
import { fieldNumber, payload, readField, readVarint, varint } from "./protobuf-wire";
import {
  ENTRY_BYTES, ENTRY_DESTINATION, ENTRY_END, ENTRY_FIELDS, ENTRY_HASH_HIGH, ENTRY_HASH_LOW, ENTRY_KNOWN, ENTRY_REF, ENTRY_SPAN, ENTRY_SPAN_BYTES,
  ENTRY_USUAL, FIELD_SAMPLE, FIELD_SAMPLE_TIME, FIELD_SAMPLE_VALUE, indexBody, indexEnd, indexFurther, isUsualSample, unindexed, USUAL_SAMPLE_BYTES,
} from "./remote-write-index";
import { definedDestination, definedPartition, finishedRef, finishSeries, preparedIsHeld, prepareSeries } from "./stream-definition";

/** The one kind of NaN that is stored: Prometheus' mark for a series that ended. */
const STALE_MARKER: u64 = 0x7ff0000000000002;
const EXPONENT: u64 = 0x7ff0000000000000;

// The body.
let tenant: u32 = 0;
let baseMs: i64 = 0;
let minMs: i64 = 0;
let admittedMs: u64 = 0; // maxMs - minMs
let maxRows: u32 = 0;
let bodyEnd: usize = 0;
let nextEntry: usize = SERIES_INDEX;

// The series at hand.
let inSeries: bool = false;
let pending: i32 = STATUS_OK; // why TypeScript was asked, until it answers
let spanPointer: usize = 0;
let spanBytes: u32 = 0;
let fieldsAt: usize = 0; // the next field
let seriesEnd: usize = 0;
let usual: bool = false; // from fieldsAt on there are usual samples only
let ref: u32 = 0;
let destination: u32 = 0;

// The sample that was read last.
let sampleBits: u64 = 0;
let sampleTime: i64 = 0;

/**
 * Checks a decompressed body (BODY_PADDING_BYTES must follow it, and its bytes must not change until the walk is done) and sets the walk to its start.
 * Answers the number of samples or STATUS_BAD_PROTOBUF. Times are whole milliseconds with base <= min <= max < base + 2^32; a walk stops with
 * STATUS_ROWS_FULL when stagedRows() is `rowsMax` (rowsMax * ROW_BYTES <= STAGING_BYTES).
 */
export function remoteWriteBegin(pointer: usize, bytes: u32, tenantIndex: u32, base: f64, min: f64, max: f64, rowsMax: u32): i32 {
  const samples = indexBody(pointer, bytes, tenantIndex);
  tenant = tenantIndex;
  baseMs = <i64>base;
  minMs = <i64>min;
  admittedMs = <u64>(<i64>max - <i64>min);
  maxRows = rowsMax;
  bodyEnd = samples < 0 ? unindexed : pointer + bytes;
  nextEntry = samples < 0 ? indexEnd : SERIES_INDEX;
  inSeries = false;
  pending = STATUS_OK;
  return samples;
}

/** Row offsets count from another time from now on: the next unit has a base of its own (base <= min, max < base + 2^32). */
export function remoteWriteRebase(base: f64): void {
  baseMs = <i64>base;
}

/**
 * Runs until the body is done or TypeScript has to act: STATUS_DONE, _UNKNOWN_STREAM, _ROWS_FULL, _REJECTS_FULL, _BAD_LABELS, _ASK_OWNER,
 * _ALLOWANCE_SPENT or _DEFINITIONS_FULL.
 */
export function remoteWriteStep(): i32 {
  if (pending == STATUS_ALLOWANCE_SPENT || pending == STATUS_DEFINITIONS_FULL) pending = define();
  if (pending != STATUS_OK) return pending;
  while (true) {
    if (!inSeries) {
      const status = nextSeries();
      if (status != STATUS_OK) return status;
    }
    const status = stageSamples();
    if (status != STATUS_OK) return status;
    inSeries = false;
  }
}

/** Address of the unknown (or label-less) series' label bytes; fields other than labels may lie between them. */
export function unknownPointer(): usize {
  return spanPointer;
}

/** Length of those bytes. */
export function unknownBytes(): u32 {
  return spanBytes;
}

/** After STATUS_ASK_OWNER: whether the shard of another engine holds the stream. STATUS_OK, or STATUS_ALLOWANCE_SPENT as from a step. */
export function defineSettle(isHeld: bool): i32 {
  if (pending == STATUS_ASK_OWNER) pending = settle(isHeld);
  return pending;
}

/** Defines the series at hand and enters it; STATUS_OK, or what TypeScript has to do. */
function define(): i32 {
  const status = prepareSeries(spanPointer, spanBytes, tenant);
  return status == STATUS_OK ? settle(preparedIsHeld()) : status;
}

function settle(isHeld: bool): i32 {
  const status = finishSeries(isHeld);
  if (status != STATUS_OK) return status;
  if (laneInsert(finishedRef(), definedDestination(), definedPartition()) != STATUS_OK) {
    laneTableClear();
    laneInsert(finishedRef(), definedDestination(), definedPartition());
  }
  enterSeries();
  return STATUS_OK;
}

/** Enters the unknown stream into the lane table: STATUS_OK, or STATUS_TABLE_FULL (clear the table and resolve again). */
export function remoteWriteResolve(newRef: u32, newDestination: u32, partition: u32): i32 {
  if (pending != STATUS_UNKNOWN_STREAM && pending != STATUS_ALLOWANCE_SPENT) return STATUS_OK;
  const status = laneInsert(newRef, newDestination, partition);
  if (status != STATUS_OK) return status;
  pending = STATUS_OK;
  enterSeries();
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
  if (nextEntry == indexEnd) {
    if (unindexed == bodyEnd) return STATUS_DONE;
    indexFurther(bodyEnd);
    nextEntry = SERIES_INDEX;
  }
  const entry = nextEntry;
  nextEntry += ENTRY_BYTES;
  spanPointer = load<u32>(entry, ENTRY_SPAN);
  spanBytes = load<u32>(entry, ENTRY_SPAN_BYTES);
  const fields = load<u32>(entry, ENTRY_FIELDS), end = load<u32>(entry, ENTRY_END);
  fieldsAt = fields & ~ENTRY_USUAL;
  usual = (fields & ENTRY_USUAL) != 0;
  seriesEnd = end & ~ENTRY_KNOWN;
  if ((end & ENTRY_KNOWN) != 0) {
    ref = load<u32>(entry, ENTRY_REF);
    destination = load<u32>(entry, ENTRY_DESTINATION);
    inSeries = true;
    return STATUS_OK;
  }
  const low = load<u64>(entry, ENTRY_HASH_LOW);
  const high = load<u64>(entry, ENTRY_HASH_HIGH);
  if ((low | high) == 0) return (pending = STATUS_BAD_LABELS);
  if (!laneFind(low, high, tenant)) return (pending = define());
  enterSeries();
  return STATUS_OK;
}

// @ts-ignore
@inline
function enterSeries(): void {
  ref = foundRef();
  destination = foundDestination();
  inSeries = true;
}

/** Reads a sample that is not written the usual way; fields that are absent are 0, of repeated ones the last counts. */
function readSample(p: usize, end: usize): void {
  sampleBits = 0;
  sampleTime = 0;
  while (p < end) {
    p = readField(p, end);
    if (fieldNumber == FIELD_SAMPLE_VALUE) {
      sampleBits = load<u64>(payload);
    } else if (fieldNumber == FIELD_SAMPLE_TIME) {
      readVarint(payload);
      sampleTime = <i64>varint;
    }
  }
}

/** The time of a usual sample is a varint of six bytes. */
const USUAL_TIME_BITS: u64 = 0x7f7f7f7f7f7f;
// The samples of one scrape have one time: it is decoded once.
let lastTimeWord: u64 = 0;
let lastTime: i64 = 0;

// @ts-ignore
@inline
function usualTime(word: u64): i64 {
  const pairs = (word & 0x007f007f007f) | ((word & 0x7f007f007f00) >> 1); // 14 bits in each of three 16-bit places
  return (pairs & 0x3fff) | ((pairs >> 2) & 0xfffc000) | ((pairs >> 4) & 0x3fff0000000);
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
      const word = load<u64>(p, 12) & USUAL_TIME_BITS;
      if (word != lastTimeWord) {
        lastTimeWord = word;
        lastTime = usualTime(word);
      }
      time = lastTime;
    } else {
      next = readField(p, end);
      if (fieldNumber != FIELD_SAMPLE) {
        p = next;
        continue;
      }
      readSample(payload, next);
      bits = sampleBits;
      time = sampleTime;
    }
    const invalid = (bits & EXPONENT) == EXPONENT && bits != STALE_MARKER;
    if (invalid || <u64>(time - minMs) > admittedMs) {
      const code = invalid ? REJECT_INVALID_VALUE : time < minMs ? REJECT_TOO_OLD : REJECT_IN_FUTURE;
      if (!addReject(code, spanPointer, spanBytes, <f64>time, bits)) {
        status = STATUS_REJECTS_FULL;
        break;
      }
    } else {
      if (row == rowsEnd) {
        status = STATUS_ROWS_FULL;
        break;
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
