// First pass over a decompressed remote-write 1.0 body: checks all of it, so that an undecodable body stores nothing and the walk behind it may trust
// every tag and length, and notes each series that has samples in SERIES_INDEX {labels, samples, hash}, so that the walk need not find them again.
// As strict as Prometheus' own decoder: a known field with another wire type is an error, unknown fields are skipped.
// WriteRequest {1: TimeSeries, 3: metadata}, TimeSeries {1: Label, 2: Sample, 3: exemplar, 4: histogram}, Label {1: name, 2: value},
// Sample {1: double value, 2: int64 timestamp}. https://prometheus.io/docs/specs/prw/remote_write_spec/
// The index holds 131,072 series; of a body with more, the rest is checked at once and indexed when the walk gets there.
//
// Labels of a stream that is in the key table were checked when it got there. So a series that ends in samples as senders write them is not read label by
// label: what stands before those samples is compared with the labels that followed last time, else hashed and looked up, and only where the table does not
// know it is it checked. That needs the keys of remote-write in the table to be distinguished from all others: they begin with a label's tag, which is a line feed, as
// no other key does.
// Sketch: 8 ns to compare a series, or 25 ns its hash and 5 ns its look-up (20 at a million streams); 2 ns a sample; 2 to 3 ns a label only at first sight.
import { SCRATCH, SCRATCH_BYTES, SERIES_INDEX, SERIES_INDEX_BYTES } from "../../../../core/layout/memory-map";
import { STATUS_BAD_PROTOBUF } from "../../../../core/layout/kernel-status";
import { hashOfKey, hashHigh, hashLow } from "../hash/identity-hash";
import {
  foundDestination, foundRef, foundSource, keyExpectNext, keyFind, keyFindExpected, keyFindNext, keyTouchEntry, keyTouchSlot,
} from "../ingest/key-table";
import { fieldNumber, payload, readField, wireType, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../wire/protobuf-wire";

const FIELD_SERIES: u32 = 1;
const FIELD_METADATA: u32 = 3;
const FIELD_LABEL: u32 = 1;
const LABEL_TAG: u8 = 0x0a;
export const FIELD_SAMPLE: u32 = 2;
const FIELD_EXEMPLAR: u32 = 3;
const FIELD_HISTOGRAM: u32 = 4;
export const FIELD_SAMPLE_VALUE: u32 = 1;
export const FIELD_SAMPLE_TIME: u32 = 2;

/** Entry of the index. Addresses are those of the body's bytes. */
export const ENTRY_BYTES: usize = 32;
export const ENTRY_SPAN: usize = 0; // u32, the first label
export const ENTRY_SPAN_BYTES: usize = 4; // u32, up to the end of the last label
export const ENTRY_FIELDS: usize = 8; // u32, where samples may begin, with ENTRY_USUAL
export const ENTRY_END: usize = 12; // u32, with ENTRY_KNOWN
export const ENTRY_HASH_LOW: usize = 16; // u64; both halves 0: no labels, or too many bytes of scattered ones
export const ENTRY_HASH_HIGH: usize = 24; // u64
/** Instead of the hash, of an entry that is ENTRY_KNOWN. */
export const ENTRY_REF: usize = 16; // u32
export const ENTRY_DESTINATION: usize = 20; // u32
export const ENTRY_SOURCE: usize = 24; // u32
/** In ENTRY_END: the key table had the stream. Addresses in a body are below 2^31. */
export const ENTRY_KNOWN: u32 = 0x80000000;
/** In ENTRY_FIELDS: from there to the end are usual samples and nothing else. */
export const ENTRY_USUAL: u32 = 0x80000000;
/** Entries looked up together: their cache misses then overlap, in a table of a million streams 16 for the time of one. */
const FOUND_AT_ONCE: usize = 16;
/** After so many series in the expected order, one that is not is looked up alone, to find the place where the order goes on; else with those behind it. */
const RUN_SERIES: u32 = 4;
const INDEX_END: usize = SERIES_INDEX + SERIES_INDEX_BYTES;

/** Labels that do not lie in one piece are put together here (the upper half of SCRATCH) to be hashed; nothing is kept here between calls. */
const GATHERED: usize = SCRATCH + SCRATCH_BYTES / 2;
const GATHERED_BYTES: u32 = SCRATCH_BYTES / 2 - 64;

/** The end of the entries in the index. */
export let indexEnd: usize = SERIES_INDEX;
/** The first field of the body behind what is indexed; the end of the body when all is. */
export let unindexed: usize = 0;

// Counts of the body that was checked last.
let samples: u32 = 0;
let metadata: u32 = 0;
let histograms: u32 = 0;
let exemplars: u32 = 0;

/** The first entry that has not been looked up. */
let nextFind: usize = SERIES_INDEX;

// The series at hand.
let tenant: u32 = 0;
let seriesField: u32 = 0; // number of the field that was checked last

/** Metadata entries in the body at hand. */
export function metadataCount(): u32 {
  return metadata;
}

/** Native histograms in the body at hand. */
export function histogramCount(): u32 {
  return histograms;
}

/** Exemplars in the body at hand. */
export function exemplarCount(): u32 {
  return exemplars;
}

/** Checks the whole body and indexes as much as there is room for: the number of samples, or STATUS_BAD_PROTOBUF. */
export function indexBody(pointer: usize, bytes: u32, ofTenant: u32): i32 {
  samples = metadata = histograms = exemplars = 0;
  tenant = ofTenant;
  return scan(pointer, pointer + bytes, false) ? <i32>samples : STATUS_BAD_PROTOBUF;
}

/** Takes up the index of a body that others came after: its end, the first field behind what is indexed, and whose body it is. */
export function setIndexed(end: usize, behind: usize, ofTenant: u32): void {
  indexEnd = end;
  unindexed = behind;
  tenant = ofTenant;
}

/** Indexes what follows in a body that was checked. */
export function indexFurther(end: usize): void {
  const counted = samples, countedMetadata = metadata, countedHistograms = histograms, countedExemplars = exemplars;
  scan(unindexed, end, true);
  samples = counted;
  metadata = countedMetadata;
  histograms = countedHistograms;
  exemplars = countedExemplars;
}

/** Checks and indexes fields of the request; stops where the index is full if told so. */
function scan(p: usize, end: usize, stopWhenFull: bool): bool {
  indexEnd = nextFind = SERIES_INDEX;
  unindexed = end;
  while (p < end) {
    const field = p;
    let start = usualSeries(p);
    if (start != 0) {
      p = start + usualLength;
      if (p > end) return false;
    } else {
      p = readField(p, end);
      if (p == 0) return false;
      if (fieldNumber == FIELD_METADATA) {
        if (wireType != WIRE_BYTES) return false;
        metadata++;
      }
      if (fieldNumber != FIELD_SERIES) continue;
      if (wireType != WIRE_BYTES) return false;
      start = payload;
    }
    if (unindexed == end && indexEnd < INDEX_END) {
      if (!enterUsual(start, p)) {
        const known = samples;
        if (!isSeries(start, p)) return false;
        if (samples != known) indexSeries(start, p); // without samples it is no reason to define a stream
        leaveOrder();
      }
      const pending = indexEnd - nextFind;
      if ((pending >= FOUND_AT_ONCE * ENTRY_BYTES || (pending == ENTRY_BYTES && hasLostOrder)) && !findEntries()) return false;
      continue;
    }
    const known = samples;
    if (!isSeries(start, p)) return false;
    if (samples == known || unindexed != end) continue;
    unindexed = field;
    if (stopWhenFull) break;
  }
  return findEntries();
}

/** How many series came in the expected order up to now; 0 = nothing is expected. All entries before have been looked up where it is not. */
let inOrder: u32 = 0;
/** The order was lost with the newest series, after some in order. */
let hasLostOrder: bool = false;

// @ts-ignore
@inline
function leaveOrder(): void {
  hasLostOrder = inOrder > RUN_SERIES;
  inOrder = 0;
}

/** Enters a series that ends in usual samples, for its labels to be looked up; false when it does not look like one. */
// @ts-ignore
@inline
function enterUsual(start: usize, end: usize): bool {
  let fields = end;
  // A label takes two bytes at least.
  while (fields - start >= USUAL_SAMPLE_BYTES + 2 && isUsualSample(fields - USUAL_SAMPLE_BYTES)) fields -= USUAL_SAMPLE_BYTES;
  if (fields == end || load<u8>(start) != LABEL_TAG) return false;
  samples += <u32>(end - fields) / <u32>USUAL_SAMPLE_BYTES;
  const labelsBytes = <u32>(fields - start);
  if (inOrder != 0) {
    if (keyFindExpected(start, labelsBytes, tenant)) {
      inOrder++;
      enterKnown(start, labelsBytes, fields, end);
      return true;
    }
    leaveOrder();
  }
  enter(start, labelsBytes, <u32>fields | ENTRY_USUAL, end, start, labelsBytes);
  return true;
}

/** Enters the series of the stream that was found last. */
// @ts-ignore
@inline
function enterKnown(start: usize, labelsBytes: u32, fields: usize, end: usize): void {
  const entry = indexEnd;
  setEntryBounds(entry, start, labelsBytes, <u32>fields | ENTRY_USUAL, end);
  markKnown(entry, foundRef(), foundDestination(), foundSource());
  indexEnd = nextFind = entry + ENTRY_BYTES;
}

/** Looks up the entries that have not been; what the table does not know is checked. False when that is malformed. */
function findEntries(): bool {
  const end = indexEnd;
  if (nextFind == end) return true;
  let touchedAll = false;
  let isKnown = false;
  for (let entry = nextFind; entry < end; entry += ENTRY_BYTES) {
    const low = load<u64>(entry, ENTRY_HASH_LOW), high = load<u64>(entry, ENTRY_HASH_HIGH);
    isKnown = keyFindNext(low, high, tenant);
    if (!isKnown) {
      if (!touchedAll) touchEntries(entry, end);
      touchedAll = true;
      isKnown = (low | high) != 0 && keyFind(low, high, tenant);
      if (!isKnown) {
        if ((load<u32>(entry, ENTRY_FIELDS) & ENTRY_USUAL) != 0 && !checkEntry(entry)) return false;
        continue;
      }
    }
    markKnown(entry, foundRef(), foundDestination(), foundSource());
  }
  nextFind = end;
  hasLostOrder = false;
  if (isKnown && keyExpectNext()) inOrder = 1;
  return true;
}

/** Brings what the look-ups of these entries will read into the cache: their misses then overlap. */
function touchEntries(from: usize, end: usize): void {
  let touched: u32 = 0;
  for (let entry = from; entry < end; entry += ENTRY_BYTES) touched ^= keyTouchSlot(load<u64>(entry, ENTRY_HASH_LOW));
  for (let entry = from; entry < end; entry += ENTRY_BYTES) touched ^= keyTouchEntry(load<u64>(entry, ENTRY_HASH_LOW));
  lastTouched = touched;
}
let lastTouched: u32 = 0; // so that the loads are not optimised away

// @ts-ignore
@inline
function markKnown(entry: usize, ref: u32, destination: u32, source: u32): void {
  store<u32>(entry, ref, ENTRY_REF);
  store<u32>(entry, destination, ENTRY_DESTINATION);
  store<u32>(entry, source, ENTRY_SOURCE);
  store<u32>(entry, load<u32>(entry, ENTRY_END) | ENTRY_KNOWN, ENTRY_END);
}

/** Checks a series that was entered without a look at its labels; where its fields are not what they seemed, the entry is made again. */
function checkEntry(entry: usize): bool {
  const start = <usize>load<u32>(entry, ENTRY_SPAN), end = <usize>load<u32>(entry, ENTRY_END);
  const fields = <usize>(load<u32>(entry, ENTRY_FIELDS) & ~ENTRY_USUAL);
  samples -= <u32>(end - fields) / <u32>USUAL_SAMPLE_BYTES;
  const known = samples;
  if (!isSeries(start, end)) return false;
  if (labelsEnd == fields && !scattered) return true;
  const after = indexEnd;
  indexEnd = entry;
  indexSeries(start, end);
  indexEnd = after;
  if (samples == known) markKnown(entry, 0, 0, 0); // no sample: the walk finds nothing to stage
  return true;
}

let usualLength: usize = 0;

/** Where the content of the series at p begins if its length takes one or two bytes (and sets usualLength), else 0. */
// @ts-ignore
@inline
function usualSeries(p: usize): usize {
  const head = load<u32>(p);
  if ((head & 0x80ff) == 0x0a) {
    usualLength = (head >> 8) & 127;
    return p + 2;
  }
  if ((head & 0x8080ff) == 0x800a) {
    usualLength = ((head >> 8) & 127) | ((head >> 9) & 0x3f80);
    return p + 3;
  }
  return 0;
}

let labelsEnd: usize = 0; // the end of the labels that the series begins with
let scattered: bool = false; // other labels follow elsewhere

/** Checks the fields of one series. */
function isSeries(p: usize, end: usize): bool {
  p = endOfUsualLabels(p, end);
  labelsEnd = p;
  scattered = false;
  while (p < end) {
    if (p + USUAL_SAMPLE_BYTES <= end && isUsualSample(p)) {
      samples++;
      p += USUAL_SAMPLE_BYTES;
      continue;
    }
    const start = p;
    p = checkField(p, end);
    if (p == 0) return false;
    if (seriesField != FIELD_LABEL) continue;
    if (labelsEnd == start) labelsEnd = p;
    else scattered = true;
  }
  return true;
}

/**
 * The end of the run of labels at p that have name and value with one-byte lengths. Branches rather than selects: the next label's address then hangs on
 * one load, not on the checks.
 */
// @ts-ignore
@inline
function endOfUsualLabels(p: usize, end: usize): usize {
  while (p < end) {
    const head = load<u32>(p);
    if ((head & 0x80ff80ff) != 0x000a000a) break;
    const bytes = (head >> 8) & 0xff;
    const nameBytes = head >> 24;
    if (nameBytes + 4 > bytes || bytes + 2 > <u32>(end - p)) break;
    const value = <u32>load<u16>(p + nameBytes, 4);
    if ((value & 0x80ff) != 0x12 || nameBytes + (value >> 8) + 4 != bytes) break;
    p += bytes + 2;
  }
  return p;
}

/** Whether 18 bytes at p are a sample as senders write it: a value and a time between 2^35 and 2^42 ms (1971 to 2109). */
// @ts-ignore
@inline
export function isUsualSample(p: usize): bool {
  return (load<u32>(p) & 0xffffff) == 0x091012 && load<u8>(p, 11) == 0x10 && (load<u64>(p, 12) & 0x808080808080) == 0x008080808080;
}
export const USUAL_SAMPLE_BYTES: usize = 18;

/** Checks a field of a series that is not written the usual way: the position behind it, or 0. */
function checkField(p: usize, end: usize): usize {
  p = readField(p, end);
  if (p == 0) return 0;
  seriesField = fieldNumber;
  if (seriesField <= FIELD_HISTOGRAM && wireType != WIRE_BYTES) return 0;
  if (seriesField == FIELD_LABEL) return isLabel(payload, p) ? p : 0;
  if (seriesField == FIELD_SAMPLE) {
    samples++;
    return isSample(payload, p) ? p : 0;
  }
  if (seriesField == FIELD_EXEMPLAR) exemplars++;
  if (seriesField == FIELD_HISTOGRAM) histograms++;
  return p;
}

/** Checks the fields of one label: name and value are bytes. */
function isLabel(p: usize, end: usize): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0 || (fieldNumber <= 2 && wireType != WIRE_BYTES)) return false;
  }
  return true;
}

/** Checks the fields of one sample. */
function isSample(p: usize, end: usize): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber == FIELD_SAMPLE_VALUE && wireType != WIRE_FIXED64) return false;
    if (fieldNumber == FIELD_SAMPLE_TIME && wireType != WIRE_VARINT) return false;
  }
  return true;
}

/** Enters the series that was checked last. */
// @ts-ignore
@inline
function indexSeries(start: usize, end: usize): void {
  if (scattered) {
    gatherLabels(start, end);
  } else {
    enter(start, <u32>(labelsEnd - start), <u32>labelsEnd, end, start, <u32>(labelsEnd - start));
  }
}

/** Where in the body the series of an entry lies. */
// @ts-ignore
@inline
function setEntryBounds(entry: usize, span: usize, spanBytes: u32, fields: u32, end: usize): void {
  store<u32>(entry, <u32>span, ENTRY_SPAN);
  store<u32>(entry, spanBytes, ENTRY_SPAN_BYTES);
  store<u32>(entry, fields, ENTRY_FIELDS);
  store<u32>(entry, <u32>end, ENTRY_END);
}

// @ts-ignore
@inline
function enter(span: usize, spanBytes: u32, fields: u32, end: usize, key: usize, keyBytes: u32): void {
  const usable = keyBytes > 0 && keyBytes != U32.MAX_VALUE;
  if (usable) hashOfKey(key, keyBytes, tenant);
  setEntryBounds(indexEnd, span, spanBytes, fields, end);
  store<u64>(indexEnd, usable ? hashLow : 0, ENTRY_HASH_LOW);
  store<u64>(indexEnd, usable ? hashHigh : 0, ENTRY_HASH_HIGH);
  indexEnd += ENTRY_BYTES;
}

/** Enters a series whose labels do not all stand together at its start; their bytes are hashed as if they did. */
function gatherLabels(start: usize, end: usize): void {
  let gathered: u32 = 0;
  let first: usize = 0;
  let last: usize = 0;
  for (let p = start; p < end; ) {
    const label = p;
    p = readField(p, end);
    if (fieldNumber != FIELD_LABEL) continue;
    if (first == 0) first = label;
    last = p;
    const bytes = <u32>(p - label);
    if (gathered <= GATHERED_BYTES && bytes <= GATHERED_BYTES - gathered) {
      memory.copy(GATHERED + gathered, label, bytes);
      gathered += bytes;
    } else {
      gathered = U32.MAX_VALUE;
    }
  }
  enter(first, <u32>(last - first), <u32>start, end, GATHERED, gathered);
}
