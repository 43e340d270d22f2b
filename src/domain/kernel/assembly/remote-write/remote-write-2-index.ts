// First pass over a decompressed remote-write 2.0 body: as remote-write-index.ts does for 1.0, it checks all of it and notes each series that has samples in
// SERIES_INDEX, with what its sender says of it beside the samples: when it began to be counted, its type, help and unit.
// Request {4: symbols, 5: TimeSeries}, TimeSeries {1: label references, 2: Sample, 3: histogram, 4: exemplar, 5: Metadata, 6: created timestamp of the first
// release candidates}, Sample {1: double value, 2: int64 timestamp, 3: int64 start timestamp}, Metadata {1: type, 3: help reference, 4: unit reference}.
// https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/
// Symbols stand ahead of the series that refer to them; a body with a symbol behind is read twice.
import { SERIES_INDEX, SERIES_INDEX_BYTES } from "../../../../core/layout/memory-map";
import { STATUS_BAD_PROTOBUF, STATUS_TOO_LARGE } from "../../../../core/layout/kernel-status";
import { hashHigh, hashLow } from "../hash/identity-hash";
import { foundDestination, foundRef, foundSource, keyFind, keyFindNext, keyNotes, keyTouchEntry, keyTouchSlot } from "../ingest/key-table";
import {
  fieldNumber, payload, readField, readVarint, varint, wireType, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT,
} from "../wire/protobuf-wire";
import {
  ENTRY_DESTINATION, ENTRY_END, ENTRY_FIELDS, ENTRY_HASH_HIGH, ENTRY_HASH_LOW, ENTRY_KNOWN, ENTRY_REF, ENTRY_SOURCE, ENTRY_SPAN, ENTRY_SPAN_BYTES,
  ENTRY_USUAL, FIELD_SAMPLE, FIELD_SAMPLE_TIME, FIELD_SAMPLE_VALUE, isUsualSample, USUAL_SAMPLE_BYTES,
} from "./remote-write-index";
import { addPackedRefs, addSymbol, addUnpackedRef, FIELD_REFS, hashRefs, refsBegin, symbolHash, symbolsReset } from "./remote-write-symbols";

const FIELD_SYMBOL: u32 = 4;
const FIELD_SERIES: u32 = 5;
const FIELD_HISTOGRAM: u32 = 3;
const FIELD_EXEMPLAR: u32 = 4;
const FIELD_METADATA: u32 = 5;
const FIELD_CREATED: u32 = 6;
export const FIELD_SAMPLE_START: u32 = 3;
const FIELD_TYPE: u32 = 1;
const FIELD_HELP: u32 = 3;
const FIELD_UNIT: u32 = 4;

/** Entry of the index: that of 1.0, then what is reported beside the samples. */
export const ENTRY_2_BYTES: usize = 64;
export const ENTRY_START: usize = 32; // i64, ms since 1970; 0 = not told
export const ENTRY_NOTES: usize = 40; // u32, hash of all that follows and of the start; 0 = nothing is told
export const ENTRY_TYPE: usize = 44; // u32, with ENTRY_DESCRIBED
export const ENTRY_HELP: usize = 48; // u32, number of a symbol, perhaps of none
export const ENTRY_UNIT: usize = 52; // u32, the same
/** In ENTRY_TYPE: the series has metadata. */
export const ENTRY_DESCRIBED: u32 = 0x80000000;
/** The type's bits in ENTRY_NOTES. */
export const NOTES_TYPE_MASK: u32 = 14;
const FOUND_AT_ONCE_BYTES: usize = 16 * ENTRY_2_BYTES;
const INDEX_END: usize = SERIES_INDEX + SERIES_INDEX_BYTES;

/** The end of the entries in the index. */
export let indexEnd2: usize = SERIES_INDEX;
/** The first field of the body behind what is indexed; the end of the body when all is. */
export let unindexed2: usize = 0;

// Counts of the body that was checked last.
let samples: u32 = 0;
let histograms: u32 = 0;
let exemplars: u32 = 0;

let tenant: u32 = 0;
let nextFind: usize = SERIES_INDEX;

// The series at hand.
let refsAt: usize = 0;
let refsEnd: usize = 0;
let fieldsAt: usize = 0; // the first sample
let samplesEnd: usize = 0;
let isUsual: bool = false; // its samples are usual ones and stand together
let start: i64 = 0;
let metadataType: u32 = 0;
let helpRef: u32 = 0;
let unitRef: u32 = 0;

/** Native histograms in the 2.0 body at hand. */
export function histogramCount2(): u32 {
  return histograms;
}

/** Exemplars in the 2.0 body at hand. */
export function exemplarCount2(): u32 {
  return exemplars;
}

/** Checks the whole body and indexes as much as there is room for: the number of samples, STATUS_BAD_PROTOBUF, or STATUS_TOO_LARGE for too many symbols. */
export function indexBody2(pointer: usize, bytes: u32, ofTenant: u32): i32 {
  tenant = ofTenant;
  const end = pointer + bytes;
  let status = scan(pointer, end, false);
  if (status == SYMBOL_BEHIND) {
    status = takeSymbols(pointer, end);
    if (status == 0) status = scan(pointer, end, true);
  }
  return status == 0 ? <i32>samples : status;
}

/** As setIndexed() of remote-write-index.ts. */
export function setIndexed2(end: usize, behind: usize, ofTenant: u32): void {
  indexEnd2 = end;
  unindexed2 = behind;
  tenant = ofTenant;
}

/** Indexes what follows in a body that was checked. */
export function indexFurther2(end: usize): void {
  const counted = samples, countedHistograms = histograms, countedExemplars = exemplars;
  scanFrom(unindexed2, end, true, true);
  samples = counted;
  histograms = countedHistograms;
  exemplars = countedExemplars;
}

const SYMBOL_BEHIND: i32 = 1;

/** All symbols of a body in which they do not stand ahead of the series: 0 or a status. */
function takeSymbols(p: usize, end: usize): i32 {
  symbolsReset();
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return STATUS_BAD_PROTOBUF;
    if (fieldNumber != FIELD_SYMBOL) continue;
    if (wireType != WIRE_BYTES) return STATUS_BAD_PROTOBUF;
    if (!addSymbol(payload, <u32>(p - payload))) return STATUS_TOO_LARGE;
  }
  return 0;
}

function scan(p: usize, end: usize, hasSymbols: bool): i32 {
  samples = histograms = exemplars = 0;
  if (!hasSymbols) symbolsReset();
  return scanFrom(p, end, hasSymbols, false);
}

/** Checks and indexes fields of the request: 0, SYMBOL_BEHIND, or a status; stops where the index is full if told so. */
function scanFrom(p: usize, end: usize, hasSymbols: bool, stopWhenFull: bool): i32 {
  indexEnd2 = nextFind = SERIES_INDEX;
  unindexed2 = end;
  let isBehind = false; // a series came
  while (p < end) {
    const field = p;
    const head = load<u32>(p);
    let content: usize = 0;
    if ((head & 0x80ff) == 0x2a) {
      content = p + 2;
      p = content + ((head >> 8) & 127);
    } else if ((head & 0x8080ff) == 0x802a) {
      content = p + 3;
      p = content + (((head >> 8) & 127) | ((head >> 9) & 0x3f80));
    }
    if (content == 0) {
      p = readField(p, end);
      if (p == 0) return STATUS_BAD_PROTOBUF;
      if (fieldNumber == FIELD_SYMBOL) {
        if (wireType != WIRE_BYTES) return STATUS_BAD_PROTOBUF;
        if (hasSymbols) continue;
        if (isBehind) return SYMBOL_BEHIND;
        if (!addSymbol(payload, <u32>(p - payload))) return STATUS_TOO_LARGE;
        continue;
      }
      if (fieldNumber != FIELD_SERIES) continue;
      if (wireType != WIRE_BYTES) return STATUS_BAD_PROTOBUF;
      content = payload;
    }
    isBehind = true;
    const before = samples;
    if (p > end || !readSeries(content, p)) return STATUS_BAD_PROTOBUF;
    if (samples == before || unindexed2 != end) continue; // without samples it is no reason to define a stream
    if (indexEnd2 == INDEX_END) {
      unindexed2 = field;
      if (stopWhenFull) break;
      continue;
    }
    enter(content, p);
    if (indexEnd2 - nextFind >= FOUND_AT_ONCE_BYTES) findEntries();
  }
  findEntries();
  return 0;
}

/** Reads and checks the fields of one series. */
function readSeries(p: usize, end: usize): bool {
  refsBegin();
  refsAt = refsEnd = fieldsAt = samplesEnd = 0;
  isUsual = true;
  start = 0;
  metadataType = helpRef = unitRef = 0;
  while (p < end) {
    const field = p;
    if (isUsualSample(p) && p + USUAL_SAMPLE_BYTES <= end) {
      takeSample(field, (p += USUAL_SAMPLE_BYTES));
      continue;
    }
    const head = <u32>load<u16>(p);
    if ((head & 0x80ff) == 0x0a) {
      // Packed references of less than 128 bytes, as nearly every series has.
      const content = p + 2;
      p = content + (head >> 8);
      if (p > end || !addPackedRefs(content, p)) return false;
      takeRefs(field, p);
      continue;
    }
    p = readField(p, end);
    if (p == 0 || !takeField(field, p)) return false;
  }
  return true;
}

// @ts-ignore
@inline
function takeSample(field: usize, behind: usize): void {
  samples++;
  if (fieldsAt == 0) fieldsAt = field;
  else if (field != samplesEnd) isUsual = false;
  samplesEnd = behind;
}

// @ts-ignore
@inline
function takeRefs(field: usize, behind: usize): void {
  if (refsAt == 0) refsAt = field;
  refsEnd = behind;
}

/** Takes the field that was read last and ends at `behind`. */
function takeField(field: usize, behind: usize): bool {
  const content = payload;
  switch (fieldNumber) {
    case FIELD_REFS:
      takeRefs(field, behind);
      if (wireType == WIRE_VARINT) addUnpackedRef(content);
      else return wireType == WIRE_BYTES && addPackedRefs(content, behind);
      return true;
    case FIELD_SAMPLE:
      takeSample(field, behind);
      isUsual = false;
      return wireType == WIRE_BYTES && readSample(content, behind);
    case FIELD_HISTOGRAM:
      histograms++;
      return wireType == WIRE_BYTES;
    case FIELD_EXEMPLAR:
      exemplars++;
      return wireType == WIRE_BYTES;
    case FIELD_METADATA:
      return wireType == WIRE_BYTES && readMetadata(content, behind);
    case FIELD_CREATED:
      if (wireType != WIRE_VARINT) return false;
      readVarint(content);
      if (varint != 0) start = <i64>varint;
      return true;
    default:
      return true;
  }
}

/** Checks the fields of a sample that is not written the usual way; the first that tells its start tells the series'. */
function readSample(p: usize, end: usize): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber == FIELD_SAMPLE_VALUE && wireType != WIRE_FIXED64) return false;
    if ((fieldNumber == FIELD_SAMPLE_TIME || fieldNumber == FIELD_SAMPLE_START) && wireType != WIRE_VARINT) return false;
    if (fieldNumber == FIELD_SAMPLE_START && start == 0) {
      readVarint(payload);
      start = <i64>varint;
    }
  }
  return true;
}

/** Of repeated fields the last counts. */
function readMetadata(p: usize, end: usize): bool {
  metadataType |= ENTRY_DESCRIBED;
  while (p < end) {
    const head = load<u32>(p) & 0xffffff;
    // Values of one or two bytes.
    if ((head & 0xc7) == 0 && (head & 0x38) != 0 && (head & 0x808000) != 0x808000) {
      const isShort = (head & 0x8000) == 0;
      takeMetadata((head & 0x38) >> 3, isShort ? (head >> 8) & 127 : ((head >> 8) & 127) | ((head >> 9) & 0x3f80));
      p += isShort ? 2 : 3;
      continue;
    }
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber != FIELD_TYPE && fieldNumber != FIELD_HELP && fieldNumber != FIELD_UNIT) continue;
    if (wireType != WIRE_VARINT) return false;
    readVarint(payload);
    takeMetadata(fieldNumber, <u32>varint);
  }
  return p == end;
}

// @ts-ignore
@inline
function takeMetadata(field: u32, value: u32): void {
  if (field == FIELD_TYPE) metadataType = ENTRY_DESCRIBED | (value < 8 ? value : 0); // others are unspecified
  else if (field == FIELD_HELP) helpRef = value;
  else if (field == FIELD_UNIT) unitRef = value;
}

/** Enters the series that was read last. */
// @ts-ignore
@inline
function enter(content: usize, end: usize): void {
  const at = indexEnd2;
  const usable = hashRefs(tenant);
  store<u32>(at, <u32>refsAt, ENTRY_SPAN);
  store<u32>(at, <u32>(refsEnd - refsAt), ENTRY_SPAN_BYTES);
  store<u32>(at, isUsual ? <u32>fieldsAt | ENTRY_USUAL : <u32>content, ENTRY_FIELDS);
  store<u32>(at, isUsual ? <u32>samplesEnd : <u32>end, ENTRY_END);
  store<u64>(at, usable ? hashLow : 0, ENTRY_HASH_LOW);
  store<u64>(at, usable ? hashHigh : 0, ENTRY_HASH_HIGH);
  store<i64>(at, start, ENTRY_START);
  store<u32>(at, notesOf(), ENTRY_NOTES);
  store<u32>(at, metadataType, ENTRY_TYPE);
  store<u32>(at, helpRef, ENTRY_HELP);
  store<u32>(at, unitRef, ENTRY_UNIT);
  indexEnd2 = at + ENTRY_2_BYTES;
}

/** 32 bits that change with what is reported, whatever the body's symbols are numbered. */
// @ts-ignore
@inline
function notesOf(): u32 {
  if (start == 0 && metadataType == 0) return 0;
  let hash = <u64>start * 0x9e3779b185ebca87 + metadataType;
  hash = (hash ^ hash >> 29 ^ symbolHash(helpRef)) * 0xc2b2ae3d27d4eb4f;
  hash = (hash ^ hash >> 32 ^ symbolHash(unitRef)) * 0xd6e8feb86659fd93;
  return (<u32>(hash >> 32) & ~NOTES_TYPE_MASK) | ((metadataType << 1) & NOTES_TYPE_MASK) | 1;
}

/** Looks up the entries that have not been; those that are known, with all that is said about them, need no second look. */
function findEntries(): void {
  const end = indexEnd2;
  let touchedAll = false;
  for (let entry = nextFind; entry < end; entry += ENTRY_2_BYTES) {
    const low = load<u64>(entry, ENTRY_HASH_LOW), high = load<u64>(entry, ENTRY_HASH_HIGH);
    if (!keyFindNext(low, high, tenant)) {
      if (!touchedAll) touchEntries(entry, end);
      touchedAll = true;
      if ((low | high) == 0 || !keyFind(low, high, tenant)) continue;
    }
    if (keyNotes() != load<u32>(entry, ENTRY_NOTES)) continue;
    store<u32>(entry, foundRef(), ENTRY_REF);
    store<u32>(entry, foundDestination(), ENTRY_DESTINATION);
    store<u32>(entry, foundSource(), ENTRY_SOURCE);
    store<u32>(entry, load<u32>(entry, ENTRY_END) | ENTRY_KNOWN, ENTRY_END);
  }
  nextFind = end;
}

let lastTouched: u32 = 0; // so that the loads are not optimised away

/** Brings what the look-ups of these entries will read into the cache: their misses then overlap. */
function touchEntries(from: usize, end: usize): void {
  let touched: u32 = 0;
  for (let entry = from; entry < end; entry += ENTRY_2_BYTES) touched ^= keyTouchSlot(load<u64>(entry, ENTRY_HASH_LOW));
  for (let entry = from; entry < end; entry += ENTRY_2_BYTES) touched ^= keyTouchEntry(load<u64>(entry, ENTRY_HASH_LOW));
  lastTouched = touched;
}
