// Walks an OTLP metrics body that otlp-metrics-index.ts or, in JSON, otlp-json-index.ts checked: number points -> rows. A stream is found by its metric's context (the bytes of its
// resource, its name, that of its scope, whether it is a counter) and the bytes of the point's attributes, before any of that is read. The walk stops where TypeScript has
// to act (kernel-status.ts) and goes on from the same place.
// Sketch for a point of four attributes: 15 ns its fields, 15 ns hash, 5 ns table, 3 ns row.
import {
  RETAINED_PARSE, OTLP_POINT, OTLP_POINT_BYTES, OTLP_POINT_COUNTER, OTLP_POINT_NAME, OTLP_POINT_NAME_BYTES, OTLP_POINT_RESOURCE, OTLP_POINT_RESOURCE_BYTES,
  OTLP_POINT_SCOPE, OTLP_POINT_SCOPE_BYTES, OTLP_POINT_UNIT, SCRATCH, SCRATCH_BYTES, SERIES_INDEX,
} from "../../../../core/layout/memory-map";
import { ROW_BYTES, START_MARKER_HIGH } from "../../../../core/layout/row-frame";
import { STATUS_DONE, STATUS_ODD_RECORD, STATUS_OK, STATUS_ROWS_FULL, STATUS_UNKNOWN_STREAM } from "../../../../core/layout/kernel-status";
import { hashOfKey, hashHigh, hashInContext, hashLow } from "../hash/identity-hash";
import { foundDestination, foundRef, keyFind, keyFindNext, keyInsert, keyStartMoved } from "../ingest/key-table";
import { stagedRows, stagingAdvance, stagingPointer, STALE_MARKER, writeRow } from "../ingest/row-staging";
import {
  FIELD_POINT, indexMetrics, METRIC_BYTES, METRIC_END, METRIC_IS_COUNTER, METRIC_NAME, METRIC_NAME_BYTES, METRIC_POINTS, METRIC_RESOURCE,
  METRIC_RESOURCE_BYTES, METRIC_SCOPE, METRIC_SCOPE_BYTES, METRIC_UNIT, metricsEnd, otlpDistributions, setIndexed, TAG_POINT,
} from "./otlp-metrics-index";
import { indexJsonMetrics } from "./otlp-json-index";
import {
  pointFlags, pointIsOdd, pointIsValued, pointSpan, pointSpanBytes, pointStartNs, pointTimeNs, pointValue, readJsonPoint,
} from "./otlp-json-point";
import { afterSpace, COMMA, setTextLimit } from "../json/json-text";
import { fieldNumber, payload, readField, readRepeated, readVarint, varint } from "../wire/protobuf-wire";

const EXPONENT: u64 = 0x7ff0000000000000;
const NO_RECORDED_VALUE: u64 = 1;
const NANOSECONDS: u64 = 1_000_000; // in a millisecond
/** A point takes two rows where a counter's start time moved. */
const POINT_ROWS: u32 = 2;

/** Attributes that do not lie in one piece are put together here (the upper half of SCRATCH) to be hashed. */
const GATHERED: usize = SCRATCH + SCRATCH_BYTES / 2;
const GATHERED_BYTES: u32 = SCRATCH_BYTES / 2 - 64;

// The body.
let isJson: bool = false;
let tenant: u32 = 0;
let baseMs: i64 = 0;
let minMs: i64 = 0;
let admittedMs: u64 = 0; // maxMs - minMs
let arrivalMs: i64 = 0;
let maxRows: u32 = 0;
let converts: bool = true;
let nextMetric: usize = SERIES_INDEX;

// The metric at hand.
let resource: usize = 0;
let resourceLow: u64 = 0;
let resourceHigh: u64 = 0;
let scope: usize = 0;
let scopeHash: u64 = 0; // 0 for one without a name
let contextLow: u64 = 0;
let contextHigh: u64 = 0;
let isCounter: bool = false;
let fieldsAt: usize = 0; // the next field of its Gauge or Sum
let fieldsEnd: usize = 0;

// The point at hand.
let pending: i32 = STATUS_OK; // why TypeScript was asked, until it answers
let bits: u64 = 0;
let time: i64 = 0;
let startNs: u64 = 0;

// The points of one export mostly have one time: it is divided once.
let lastNs: u64 = 0;
let lastMs: i64 = 0;

/**
 * Checks a decompressed body, in JSON or protobuf (BODY_PADDING_BYTES must follow it, and its bytes must not change until the walk is done) and sets the walk to its start.
 * Answers the number of number points, STATUS_BAD_PROTOBUF or STATUS_ODD_BODY. Whole milliseconds with base <= min <= max < base + 2^32; a point without a
 * time gets `arrival`. With `convert` 0 cumulative sums are values like others. A walk stops with STATUS_ROWS_FULL when `rowsMax` rows are staged.
 */
export function otlpMetricsBegin(
  pointer: usize, bytes: u32, json: u32, tenantIndex: u32, base: f64, min: f64, max: f64, arrival: f64, convert: u32, rowsMax: u32,
): i32 {
  isJson = json != 0;
  const points = isJson ? indexJsonMetrics(pointer, bytes) : indexMetrics(pointer, bytes);
  tenant = tenantIndex;
  baseMs = <i64>base;
  minMs = <i64>min;
  admittedMs = <u64>(<i64>max - <i64>min);
  arrivalMs = <i64>arrival;
  converts = convert != 0;
  maxRows = rowsMax;
  nextMetric = points < 0 ? metricsEnd : SERIES_INDEX;
  resource = scope = 0;
  fieldsAt = fieldsEnd = 0;
  pending = STATUS_OK;
  return points;
}

/** Notes where the walk stands, which waits for nobody, so that other bodies may be walked before it goes on; answers where the index ends, which is the caller's to keep, as are body and OTLP_POINT. */
export function otlpMetricsSuspend(): usize {
  const at = <usize>RETAINED_PARSE;
  const flags: u32 = (isJson ? 1 : 0) | (converts ? 2 : 0) | (isCounter ? 4 : 0);
  store<i64>(at, baseMs, 0);
  store<i64>(at, minMs, 8);
  store<u64>(at, admittedMs, 16);
  store<i64>(at, arrivalMs, 24);
  store<u64>(at, resourceLow, 32);
  store<u64>(at, resourceHigh, 40);
  store<u64>(at, contextLow, 48);
  store<u64>(at, contextHigh, 56);
  store<u32>(at, flags, 64);
  store<u32>(at, tenant, 68);
  store<u32>(at, maxRows, 72);
  store<u32>(at, <u32>nextMetric, 76);
  store<u32>(at, <u32>resource, 80);
  store<u32>(at, <u32>fieldsAt, 84);
  store<u32>(at, <u32>fieldsEnd, 88);
  store<u32>(at, <u32>metricsEnd, 92);
  store<u32>(at, otlpDistributions(), 96);
  store<u32>(at, <u32>scope, 100);
  store<u64>(at, scopeHash, 104);
  return metricsEnd;
}

/** Goes on from there: what was noted and kept lies where it lay, but for the body, which lies `moved` bytes further. */
export function otlpMetricsGoOn(moved: isize): void {
  const at = <usize>RETAINED_PARSE;
  const flags = load<u32>(at, 64);
  isJson = (flags & 1) != 0;
  converts = (flags & 2) != 0;
  isCounter = (flags & 4) != 0;
  baseMs = load<i64>(at, 0);
  minMs = load<i64>(at, 8);
  admittedMs = load<u64>(at, 16);
  arrivalMs = load<i64>(at, 24);
  resourceLow = load<u64>(at, 32);
  resourceHigh = load<u64>(at, 40);
  contextLow = load<u64>(at, 48);
  contextHigh = load<u64>(at, 56);
  tenant = load<u32>(at, 68);
  maxRows = load<u32>(at, 72);
  nextMetric = load<u32>(at, 76);
  resource = load<u32>(at, 80);
  fieldsAt = load<u32>(at, 84);
  fieldsEnd = load<u32>(at, 88);
  setIndexed(load<u32>(at, 92), load<u32>(at, 96));
  scope = load<u32>(at, 100);
  scopeHash = load<u64>(at, 104);
  setTextLimit(usize.MAX_VALUE);
  pending = STATUS_OK;
  if (moved == 0) return;
  resource += moved;
  scope += moved;
  fieldsAt += moved;
  fieldsEnd += moved;
  moveAddress(OTLP_POINT + OTLP_POINT_RESOURCE, moved);
  moveAddress(OTLP_POINT + OTLP_POINT_NAME, moved);
  moveAddress(OTLP_POINT + OTLP_POINT_UNIT, moved);
  moveAddress(OTLP_POINT + OTLP_POINT_SCOPE, moved);
  for (let entry = <usize>SERIES_INDEX; entry < metricsEnd; entry += METRIC_BYTES) {
    moveAddress(entry + METRIC_RESOURCE, moved);
    moveAddress(entry + METRIC_NAME, moved);
    moveAddress(entry + METRIC_POINTS, moved);
    moveAddress(entry + METRIC_END, moved);
    moveAddress(entry + METRIC_UNIT, moved);
    moveAddress(entry + METRIC_SCOPE, moved);
  }
}

/** Moves the address that stands at p, unless it is 0: none. */
// @ts-ignore
@inline
function moveAddress(p: usize, moved: isize): void {
  const address = load<u32>(p);
  if (address != 0) store<u32>(p, <u32>(<isize>address + moved));
}

/** Runs until the body is done or TypeScript has to act: STATUS_DONE, _UNKNOWN_STREAM, _ODD_RECORD (a point to be refused) or _ROWS_FULL. */
export function otlpMetricsStep(): i32 {
  if (pending != STATUS_OK) return pending;
  while (true) {
    if (fieldsAt >= fieldsEnd) {
      if (nextMetric == metricsEnd) return STATUS_DONE;
      enterMetric();
    }
    const status = stagePoints();
    if (status != STATUS_OK) return status;
  }
}

/** Enters the unknown stream into the key table and stages its point: STATUS_OK, or STATUS_TABLE_FULL (clear the table and resolve again). */
export function otlpMetricsResolve(ref: u32, destination: u32, partition: u32): i32 {
  if (pending != STATUS_UNKNOWN_STREAM) return STATUS_OK;
  const status = keyInsert(ref, destination, partition);
  if (status != STATUS_OK) return status;
  pending = STATUS_OK;
  stage();
  return STATUS_OK;
}

/** Leaves the point at hand out. */
export function otlpMetricsSkip(): void {
  pending = STATUS_OK;
}

function enterMetric(): void {
  const entry = nextMetric;
  nextMetric += METRIC_BYTES;
  const at = <usize>load<u32>(entry, METRIC_RESOURCE), name = <usize>load<u32>(entry, METRIC_NAME);
  const nameBytes = load<u32>(entry, METRIC_NAME_BYTES);
  if (at != resource) {
    resource = at;
    hashOfKey(at, load<u32>(entry, METRIC_RESOURCE_BYTES), tenant);
    resourceLow = hashLow;
    resourceHigh = hashHigh;
  }
  enterScope(load<u32>(entry, METRIC_SCOPE), load<u32>(entry, METRIC_SCOPE_BYTES));
  isCounter = converts && load<u32>(entry, METRIC_IS_COUNTER) == 1;
  hashInContext(name, nameBytes, resourceLow + (isCounter ? 1 : 0) + (isJson ? 2 : 0), resourceHigh ^ scopeHash);
  contextLow = hashLow;
  contextHigh = hashHigh;
  fieldsAt = load<u32>(entry, METRIC_POINTS);
  fieldsEnd = load<u32>(entry, METRIC_END);
  store<u32>(OTLP_POINT, <u32>at, OTLP_POINT_RESOURCE);
  store<u32>(OTLP_POINT, load<u32>(entry, METRIC_RESOURCE_BYTES), OTLP_POINT_RESOURCE_BYTES);
  store<u32>(OTLP_POINT, <u32>name, OTLP_POINT_NAME);
  store<u32>(OTLP_POINT, nameBytes, OTLP_POINT_NAME_BYTES);
  store<u32>(OTLP_POINT, load<u32>(entry, METRIC_IS_COUNTER), OTLP_POINT_COUNTER);
  store<u32>(OTLP_POINT, load<u32>(entry, METRIC_UNIT), OTLP_POINT_UNIT);
  store<u32>(OTLP_POINT, <u32>scope, OTLP_POINT_SCOPE);
  store<u32>(OTLP_POINT, load<u32>(entry, METRIC_SCOPE_BYTES), OTLP_POINT_SCOPE_BYTES);
}

/** Takes the scope of the metric at hand, mostly that of the one before. */
// @ts-ignore
@inline
function enterScope(at: usize, bytes: u32): void {
  if (at == scope) return;
  scope = at;
  scopeHash = 0;
  if (bytes == 0) return;
  hashOfKey(at, bytes, tenant);
  scopeHash = hashLow;
}

/** Stages the points of the metric at hand, from fieldsAt on. */
function stagePoints(): i32 {
  const end = fieldsEnd;
  while (fieldsAt < end) {
    if (stagedRows() + POINT_ROWS > maxRows) return STATUS_ROWS_FULL;
    let from = fieldsAt, next: usize, status: i32;
    if (isJson) {
      next = readJsonPoint(from);
      status = findJsonPoint();
      fieldsAt = afterSpace(next);
      if (<u32>load<u8>(fieldsAt) == COMMA) fieldsAt = afterSpace(fieldsAt + 1);
    } else {
      next = readRepeated(from, end, TAG_POINT);
      fieldsAt = next;
      if (fieldNumber != FIELD_POINT) continue;
      from = payload;
      status = readPoint(from, next);
    }
    if (status == STATUS_OK) {
      stage();
      continue;
    }
    store<u32>(OTLP_POINT, <u32>from);
    store<u32>(OTLP_POINT, <u32>(next - from), OTLP_POINT_BYTES);
    return (pending = status);
  }
  return STATUS_OK;
}

/** Reads a point and finds its stream: STATUS_OK, _UNKNOWN_STREAM or _ODD_RECORD. */
// @ts-ignore
@inline
function readPoint(p: usize, end: usize): i32 {
  const from = p;
  let timeNs: u64 = 0, value: u64 = 0, flags: u64 = 0;
  let isInteger = false, isValued = false, scattered = false;
  let span: usize = 0, spanEnd: usize = 0;
  startNs = 0;
  while (p < end) {
    const field = p;
    const tag = <u32>load<u8>(p);
    if (tag == 0x3a && load<u8>(p, 1) < 128) {
      p += 2 + <usize>load<u8>(p, 1);
    } else if (tag == 0x11) {
      startNs = load<u64>(p, 1);
      p += 9;
      continue;
    } else if (tag == 0x19) {
      timeNs = load<u64>(p, 1);
      p += 9;
      continue;
    } else if (tag == 0x21 || tag == 0x31) {
      isInteger = tag == 0x31;
      isValued = true;
      value = load<u64>(p, 1);
      p += 9;
      continue;
    } else {
      p = readField(p, end);
      if (fieldNumber == 2) startNs = load<u64>(payload);
      else if (fieldNumber == 3) timeNs = load<u64>(payload);
      else if (fieldNumber == 4 || fieldNumber == 6) {
        isInteger = fieldNumber == 6;
        isValued = true;
        value = load<u64>(payload);
      } else if (fieldNumber == 8) {
        readVarint(payload);
        flags = varint;
      }
      if (fieldNumber != 7) continue;
    }
    if (span == 0) span = field;
    else if (field != spanEnd) scattered = true;
    spanEnd = p;
  }
  if ((flags & NO_RECORDED_VALUE) == 0 && !isValued) return STATUS_ODD_RECORD;
  bits = isInteger ? reinterpret<u64>(<f64><i64>value) : value;
  if (!admits(timeNs, flags)) return STATUS_ODD_RECORD;
  let spanBytes = <u32>(spanEnd - span);
  if (scattered) {
    spanBytes = gather(from, end);
    if (spanBytes > GATHERED_BYTES) return STATUS_ODD_RECORD;
    span = GATHERED;
  }
  return find(span, spanBytes);
}

/** The same for the point that otlp-json-point.ts read last. */
// @ts-ignore
@inline
function findJsonPoint(): i32 {
  if (pointIsOdd || ((pointFlags & NO_RECORDED_VALUE) == 0 && !pointIsValued)) return STATUS_ODD_RECORD;
  startNs = pointStartNs;
  bits = reinterpret<u64>(pointValue);
  return admits(pointTimeNs, pointFlags) ? find(pointSpan, pointSpanBytes) : STATUS_ODD_RECORD;
}

/** Sets the time of the point at hand, and its value where it has none; whether both may be stored. */
// @ts-ignore
@inline
function admits(timeNs: u64, flags: u64): bool {
  if (timeNs < NANOSECONDS) time = arrivalMs;
  else {
    if (timeNs != lastNs) {
      lastNs = timeNs;
      lastMs = <i64>(timeNs / NANOSECONDS);
    }
    time = lastMs;
  }
  if ((flags & NO_RECORDED_VALUE) != 0) bits = STALE_MARKER;
  else if ((bits & EXPONENT) == EXPONENT && bits != STALE_MARKER) return false;
  return <u64>(time - minMs) <= admittedMs;
}

/** Finds the stream of the attributes in the metric at hand. */
// @ts-ignore
@inline
function find(span: usize, spanBytes: u32): i32 {
  hashInContext(span, spanBytes, contextLow, contextHigh);
  return keyFindNext(hashLow, hashHigh, tenant) || keyFind(hashLow, hashHigh, tenant) ? STATUS_OK : STATUS_UNKNOWN_STREAM;
}

/** Puts the attributes of a point together and answers their bytes; more than GATHERED_BYTES when there is no room. */
function gather(p: usize, end: usize): u32 {
  let gathered: u32 = 0;
  while (p < end) {
    const field = p;
    p = readField(p, end);
    if (fieldNumber != 7) continue;
    const bytes = <u32>(p - field);
    if (bytes > GATHERED_BYTES - gathered) return U32.MAX_VALUE;
    memory.copy(GATHERED + gathered, field, bytes);
    gathered += bytes;
  }
  return gathered;
}

/** Stages the point at hand, whose stream was found; ahead of it the start time of a counter, where the table does not know it yet. */
// @ts-ignore
@inline
function stage(): void {
  const destination = foundDestination(), ref = foundRef(), offset = <u32>(time - baseMs);
  const row = stagingPointer(destination);
  if (isCounter && startNs != 0 && bits != STALE_MARKER && keyStartMoved(startNs)) {
    writeRow(row, ref, offset, (<u64>START_MARKER_HIGH << 48) | (startNs / NANOSECONDS));
    writeRow(row + ROW_BYTES, ref, offset, bits);
    stagingAdvance(destination, 2);
    return;
  }
  writeRow(row, ref, offset, bits);
  stagingAdvance(destination, 1);
}
