// First pass over a decompressed OTLP metrics body (ExportMetricsServiceRequest): checks its structure down to the fields of each point, so that an
// undecodable body stores nothing and the walk behind it may trust tags and lengths, and notes each metric of number points in SERIES_INDEX.
// What attributes hold is judged where a stream is defined: the bytes of a known stream's were.
// Request {1: ResourceMetrics {1: Resource, 2: ScopeMetrics {1: Scope {1: name}, 2: Metric {1: name, 3: unit, 5: Gauge, 7: Sum, 9: Histogram,
// 10: ExponentialHistogram, 11: Summary}}}}, Gauge {1: point}, Sum {1: point, 2: temporality, 3: monotonic}.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto
// Sketch: 2 ns a field of a point.
import { SERIES_INDEX, SERIES_INDEX_BYTES } from "../../../../core/layout/memory-map";
import { STATUS_BAD_PROTOBUF, STATUS_ODD_BODY } from "../../../../core/layout/kernel-status";
import { beginElements, takeElement } from "./otlp-elements";
import { isResource } from "./otlp-resource";
import { fieldNumber, payload, readField, readRepeated, varint, readVarint, wireType, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../wire/protobuf-wire";

const FIELD_NAME: u32 = 1;
const FIELD_UNIT: u32 = 3;
const FIELD_GAUGE: u32 = 5;
const FIELD_SUM: u32 = 7;
const FIELD_SUMMARY: u32 = 11;
const FIELD_TEMPORALITY: u32 = 2;
const FIELD_MONOTONIC: u32 = 3;
const CUMULATIVE: u32 = 2;
export const FIELD_POINT: u32 = 1;
/** Of a point, which is bytes. */
export const TAG_POINT: u32 = (FIELD_POINT << 3) | WIRE_BYTES;

/** Entry of the index: a metric of number points. Addresses are those of the body's bytes. */
export const METRIC_BYTES: usize = 40;
export const METRIC_RESOURCE: usize = 0; // u32
export const METRIC_RESOURCE_BYTES: usize = 4; // u32
export const METRIC_NAME: usize = 8; // u32
export const METRIC_NAME_BYTES: usize = 12; // u32
export const METRIC_POINTS: usize = 16; // u32, content of its Gauge or Sum
export const METRIC_END: usize = 20; // u32
export const METRIC_IS_COUNTER: usize = 24; // u32, 1 for a cumulative monotonic sum, 2 for one of deltas
export const METRIC_UNIT: usize = 28; // u32, 0 = none
export const METRIC_SCOPE: usize = 32; // u32, the name of its scope
export const METRIC_SCOPE_BYTES: usize = 36; // u32, 0 = it has none
const UNIT_BYTES_MAX: usize = 63; // its length is one byte
/** The last address that an entry may begin at. */
export const LAST_ENTRY: usize = SERIES_INDEX + SERIES_INDEX_BYTES - METRIC_BYTES;

/** The end of the entries in the index. */
export let metricsEnd: usize = SERIES_INDEX;

let points: u32 = 0;
let distributions: u32 = 0;
/** Something that this pass does not put together: a message given in several fields, a scope behind its metrics, or more metrics than there is room for. */
let odd: bool = false;

/** Takes over the index that another pass made. */
export function setIndexed(end: usize, distributionPoints: u32): void {
  metricsEnd = end;
  distributions = distributionPoints;
}

/** Points of histograms and summaries in the body that was checked last. */
export function otlpDistributions(): u32 {
  return distributions;
}

/** Checks the body and indexes its metrics: the number of number points, STATUS_BAD_PROTOBUF, or STATUS_ODD_BODY for one to be decoded whole elsewhere. */
export function indexMetrics(pointer: usize, bytes: u32): i32 {
  points = distributions = 0;
  odd = false;
  metricsEnd = SERIES_INDEX;
  beginElements();
  const end = pointer + bytes;
  for (let p = pointer; p < end; ) {
    p = readField(p, end);
    if (p == 0) return STATUS_BAD_PROTOBUF;
    if (!takeElement()) return STATUS_BAD_PROTOBUF;
    if (fieldNumber != 1) continue;
    if (wireType != WIRE_BYTES || !indexResource(payload, p)) return STATUS_BAD_PROTOBUF;
  }
  return odd ? STATUS_ODD_BODY : <i32>points;
}

let resource: usize = 0;
let resourceBytes: u32 = 0;

/** ResourceMetrics: the resource may stand behind the metrics that it says the source of. */
function indexResource(start: usize, end: usize): bool {
  let resources: u32 = 0;
  resource = start;
  resourceBytes = 0;
  for (let p = start; p < end; ) {
    p = readField(p, end);
    if (p == 0 || (fieldNumber <= 3 && wireType != WIRE_BYTES)) return false;
    if (!takeElement()) return false;
    if (fieldNumber != 1) continue;
    resources++;
    resource = payload;
    resourceBytes = <u32>(p - payload);
    const content = payload;
    if (!isResource(content, p)) return false;
  }
  if (resources > 1) odd = true;
  for (let p = start; p < end; ) {
    p = readField(p, end);
    if (fieldNumber != 2) continue;
    const content = payload;
    if (!indexScope(content, p)) return false;
  }
  return true;
}

let scope: usize = 0;
let scopeBytes: u32 = 0;

/** ScopeMetrics {1: Scope, 2: Metric}. */
function indexScope(p: usize, end: usize): bool {
  let isBegun = false;
  scope = p;
  scopeBytes = 0;
  while (p < end) {
    p = readField(p, end);
    if (p == 0 || (fieldNumber <= 3 && wireType != WIRE_BYTES)) return false;
    if (!takeElement()) return false;
    const content = payload;
    if (fieldNumber == 1) {
      if (isBegun) odd = true;
      isBegun = true;
      findScopeName(content, p);
    } else if (fieldNumber == 2) {
      isBegun = true;
      if (!indexMetric(content, p)) return false;
    }
  }
  return true;
}

/** Scope {1: name}; as far as it can be read. */
function findScopeName(p: usize, end: usize): void {
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return;
    if (fieldNumber != 1 || wireType != WIRE_BYTES) continue;
    scope = payload;
    scopeBytes = <u32>(p - payload);
  }
}

function indexMetric(p: usize, end: usize): bool {
  let name: usize = p, nameBytes: u32 = 0, names: u32 = 0, kinds: u32 = 0;
  let data: usize = 0, dataEnd: usize = 0, kind: u32 = 0, unit: usize = 0;
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber > FIELD_SUMMARY || fieldNumber == 4 || fieldNumber == 6 || fieldNumber == 8) continue;
    if (wireType != WIRE_BYTES) return false;
    if (fieldNumber == FIELD_NAME) {
      names++;
      name = payload;
      nameBytes = <u32>(p - payload);
    } else if (fieldNumber == FIELD_UNIT) {
      unit = p > payload && p - payload <= UNIT_BYTES_MAX ? payload : 0;
    } else if (fieldNumber >= FIELD_GAUGE) {
      kinds++;
      kind = fieldNumber;
      data = payload;
      dataEnd = p;
      if (!checkData(kind, data, dataEnd)) return false;
    }
  }
  if (names > 1 || kinds > 1) odd = true;
  if (kind != FIELD_GAUGE && kind != FIELD_SUM) return true;
  if (metricsEnd > LAST_ENTRY) {
    odd = true;
    return true;
  }
  store<u32>(metricsEnd, <u32>resource, METRIC_RESOURCE);
  store<u32>(metricsEnd, resourceBytes, METRIC_RESOURCE_BYTES);
  store<u32>(metricsEnd, <u32>name, METRIC_NAME);
  store<u32>(metricsEnd, nameBytes, METRIC_NAME_BYTES);
  store<u32>(metricsEnd, <u32>data, METRIC_POINTS);
  store<u32>(metricsEnd, <u32>dataEnd, METRIC_END);
  store<u32>(metricsEnd, kind != FIELD_SUM || !monotonic ? 0 : temporality == CUMULATIVE ? 1 : 2, METRIC_IS_COUNTER);
  store<u32>(metricsEnd, <u32>unit, METRIC_UNIT);
  store<u32>(metricsEnd, <u32>scope, METRIC_SCOPE);
  store<u32>(metricsEnd, scopeBytes, METRIC_SCOPE_BYTES);
  metricsEnd += METRIC_BYTES;
  return true;
}

// Of the Sum that was checked last.
let temporality: u32 = 0;
let monotonic: bool = false;

/** Checks the points of a metric, and counts them. */
function checkData(kind: u32, p: usize, end: usize): bool {
  const isNumber = kind == FIELD_GAUGE || kind == FIELD_SUM;
  const hasTemporality = kind != FIELD_GAUGE && kind != FIELD_SUMMARY;
  temporality = 0;
  monotonic = false;
  while (p < end) {
    p = readRepeated(p, end, TAG_POINT);
    if (p == 0) return false;
    if (fieldNumber == FIELD_POINT) {
      if (wireType != WIRE_BYTES || !takeElement()) return false;
      if (isNumber ? !isNumberPoint(payload, p) : !isReadable(payload, p)) return false;
      if (isNumber) points++;
      else distributions++;
    } else if ((fieldNumber == FIELD_TEMPORALITY && hasTemporality) || (fieldNumber == FIELD_MONOTONIC && kind == FIELD_SUM)) {
      if (wireType != WIRE_VARINT) return false;
      readVarint(payload);
      if (fieldNumber == FIELD_TEMPORALITY) temporality = <u32>varint;
      else monotonic = varint != 0;
    }
  }
  return true;
}

function isReadable(p: usize, end: usize): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
  }
  return true;
}

/** NumberDataPoint {2: start, 3: time, 4: double, 6: int64, all fixed; 5: exemplar, 7: attribute, 8: flags}. */
function isNumberPoint(p: usize, end: usize): bool {
  while (p < end) {
    const tag = <u32>load<u8>(p);
    if (tag == 0x3a && load<u8>(p, 1) < 128) {
      p += 2 + <usize>load<u8>(p, 1);
      continue;
    }
    if (tag == 0x11 || tag == 0x19 || tag == 0x21 || tag == 0x31) {
      p += 9;
      continue;
    }
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber > 8 || fieldNumber == 1) continue;
    if (fieldNumber == 5 || fieldNumber == 7 ? wireType != WIRE_BYTES : wireType != (fieldNumber == 8 ? WIRE_VARINT : WIRE_FIXED64)) return false;
  }
  return p == end;
}
