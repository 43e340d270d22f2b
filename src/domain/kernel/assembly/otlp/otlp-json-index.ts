// First pass over an OTLP metrics body in JSON: checks its grammar and the form of everything around the points, and notes each metric of number points as
// otlp-metrics-index.ts does for protobuf; here METRIC_POINTS and METRIC_END are the array's first byte behind its bracket and its closing bracket.
// Whatever is written in a way that this pass does not read (escapes in a name that it compares or keeps, a member twice, null for an object) makes the body
// odd: TypeScript then decodes all of it. What stands in the points is the walk's to read.
// Sketch: 150 ns a point of 430 bytes.
import { SERIES_INDEX } from "../../../../core/layout/memory-map";
import { STATUS_ODD_BODY } from "../../../../core/layout/kernel-status";
import {
  afterSpace, ARRAY_CLOSE, ARRAY_OPEN, closingQuote, COLON, COMMA, escapedStrings, isDigit, OBJECT_CLOSE, OBJECT_OPEN, QUOTE, setTextLimit,
  valueEnd,
} from "../json/json-text";
import { beginElements, takeElement } from "./otlp-elements";
import {
  LAST_ENTRY, METRIC_BYTES, METRIC_END, METRIC_IS_COUNTER, METRIC_NAME, METRIC_NAME_BYTES, METRIC_POINTS, METRIC_RESOURCE, METRIC_RESOURCE_BYTES,
  METRIC_SCOPE, METRIC_SCOPE_BYTES, METRIC_UNIT, setIndexed,
} from "./otlp-metrics-index";

/** Brackets that a value here may open: less than JSON_DEPTH_MAX of core/config/limits.ts, so that deeper bodies are judged elsewhere. */
const DEPTH: i32 = 40;
const CUMULATIVE: u32 = 2;

let entryAt: usize = SERIES_INDEX;
let points: u32 = 0;
let distributions: u32 = 0;
let resource: usize = 0;
let resourceBytes: u32 = 0;
let scope: usize = 0;
let scopeBytes: u32 = 0;

/** Checks the body and indexes its metrics: the number of number points, or STATUS_ODD_BODY. */
export function indexJsonMetrics(pointer: usize, bytes: u32): i32 {
  entryAt = SERIES_INDEX;
  points = distributions = 0;
  setTextLimit(usize.MAX_VALUE);
  beginElements();
  const start = afterSpace(pointer);
  const end = <u32>load<u8>(start) == OBJECT_OPEN ? requestEnd(start) : 0;
  const isGood = end != 0 && afterSpace(end) == pointer + bytes;
  setIndexed(isGood ? entryAt : SERIES_INDEX, distributions);
  return isGood ? <i32>points : STATUS_ODD_BODY;
}

// The member that was read last: the content of its name, and where its value begins.
let name: usize = 0;
let nameBytes: u32 = 0;

/** Reads the name of the member at p and answers where its value begins; 0 when there is none, or one with an escape. */
// @ts-ignore
@inline
function memberAt(p: usize): usize {
  if (<u32>load<u8>(p) != QUOTE) return 0;
  const escaped = escapedStrings;
  const quote = closingQuote(p + 1);
  if (quote == 0 || escapedStrings != escaped) return 0;
  name = p + 1;
  nameBytes = <u32>(quote - name);
  p = afterSpace(quote + 1);
  return <u32>load<u8>(p) == COLON ? afterSpace(p + 1) : 0;
}

/** Behind the comma at or behind p, or at the closing bracket; 0 when neither is there. */
// @ts-ignore
@inline
function nextAt(p: usize, close: u32): usize {
  p = afterSpace(p);
  const byte: u32 = load<u8>(p);
  if (byte == close) return p;
  if (byte != COMMA) return 0;
  p = afterSpace(p + 1);
  return <u32>load<u8>(p) == close ? 0 : p;
}

/** {"resourceMetrics": [...]} */
function requestEnd(p: usize): usize {
  let seen = false;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != OBJECT_CLOSE) {
    p = memberAt(p);
    if (p == 0) return 0;
    if (nameBytes == 15 && load<u64>(name) == 0x656372756f736572 && load<u64>(name, 7) == 0x7363697274654d65) { // resourceMetrics
      if (seen) return 0;
      seen = true;
      p = sourcesEnd(p);
    } else {
      p = valueEnd(p, DEPTH);
    }
    if (p != 0) p = nextAt(p, OBJECT_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

function sourcesEnd(p: usize): usize {
  if (<u32>load<u8>(p) != ARRAY_OPEN) return 0;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != ARRAY_CLOSE) {
    p = <u32>load<u8>(p) == OBJECT_OPEN && takeElement() ? sourceEnd(p) : 0;
    if (p != 0) p = nextAt(p, ARRAY_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

/** {"resource": {...}, "scopeMetrics": [...]}; the resource may come second. */
function sourceEnd(p: usize): usize {
  let scopes: usize = 0, isKnown = false;
  resource = p;
  resourceBytes = 0;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != OBJECT_CLOSE) {
    p = memberAt(p);
    if (p == 0) return 0;
    const value = p;
    const isResource = nameBytes == 8 && load<u64>(name) == 0x656372756f736572; // resource
    const isScopes = nameBytes == 12 && load<u64>(name) == 0x74654d65706f6373 && load<u32>(name, 8) == 0x73636972; // scopeMetrics
    p = isScopes && isKnown ? scopesEnd(p) : valueEnd(p, DEPTH);
    if (p == 0) return 0;
    if (isResource) {
      if (isKnown || <u32>load<u8>(value) != OBJECT_OPEN) return 0;
      isKnown = true;
      resource = value;
      resourceBytes = <u32>(p - value);
    } else if (isScopes) {
      if (scopes != 0) return 0;
      scopes = value;
      if (!isKnown) return 0;
    }
    p = nextAt(p, OBJECT_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

function scopesEnd(p: usize): usize {
  if (<u32>load<u8>(p) != ARRAY_OPEN) return 0;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != ARRAY_CLOSE) {
    p = <u32>load<u8>(p) == OBJECT_OPEN && takeElement() ? scopeEnd(p) : 0;
    if (p != 0) p = nextAt(p, ARRAY_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

/** {"scope": {...}, "metrics": [...]}, in this order. */
function scopeEnd(p: usize): usize {
  let seen = false, isNamed = false;
  scope = p;
  scopeBytes = 0;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != OBJECT_CLOSE) {
    p = memberAt(p);
    if (p == 0) return 0;
    if (nameBytes == 7 && (load<u64>(name) & 0xffffffffffffff) == 0x7363697274656d) { // metrics
      if (seen) return 0;
      seen = true;
      p = metricsEndOf(p);
    } else if (nameBytes == 5 && (load<u64>(name) & 0xffffffffff) == 0x65706f6373) { // scope
      if (seen || isNamed) return 0;
      isNamed = true;
      p = <u32>load<u8>(p) == OBJECT_OPEN ? scopeNameEnd(p) : valueEnd(p, DEPTH);
    } else {
      p = valueEnd(p, DEPTH);
    }
    if (p != 0) p = nextAt(p, OBJECT_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

/** {"name": "..."}: behind the scope. */
function scopeNameEnd(p: usize): usize {
  let isNamed = false;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != OBJECT_CLOSE) {
    p = memberAt(p);
    if (p == 0) return 0;
    if (nameBytes == 4 && load<u32>(name) == 0x656d616e) { // name
      if (isNamed) return 0;
      isNamed = true;
      const escaped = escapedStrings, text = p;
      p = valueEnd(p, DEPTH);
      if (escapedStrings != escaped) return 0;
      if (p != 0 && <u32>load<u8>(text) == QUOTE) {
        scope = text + 1;
        scopeBytes = <u32>(p - text) - 2;
      }
    } else {
      p = valueEnd(p, DEPTH);
    }
    if (p != 0) p = nextAt(p, OBJECT_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

function metricsEndOf(p: usize): usize {
  if (<u32>load<u8>(p) != ARRAY_OPEN) return 0;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != ARRAY_CLOSE) {
    p = <u32>load<u8>(p) == OBJECT_OPEN && takeElement() ? metricEnd(p) : 0;
    if (p != 0) p = nextAt(p, ARRAY_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

const KIND_NONE: u32 = 0;
const KIND_GAUGE: u32 = 1;
const KIND_SUM: u32 = 2;
const KIND_DISTRIBUTION: u32 = 3;

/** Which data the member that was read last is. */
function kindOfMember(): u32 {
  const head = load<u64>(name);
  if (nameBytes == 5 && (head & 0xffffffffff) == 0x6567756167) return KIND_GAUGE;
  if (nameBytes == 3 && (head & 0xffffff) == 0x6d7573) return KIND_SUM;
  if (nameBytes == 9 && head == 0x6172676f74736968 && load<u8>(name, 8) == 0x6d) return KIND_DISTRIBUTION; // histogram
  if (nameBytes == 20 && head == 0x746e656e6f707865 && load<u64>(name, 8) == 0x6f747369486c6169 && load<u64>(name, 12) == 0x6d6172676f747369) {
    return KIND_DISTRIBUTION; // exponentialHistogram
  }
  return nameBytes == 7 && (head & 0xffffffffffffff) == 0x7972616d6d7573 ? KIND_DISTRIBUTION : KIND_NONE; // summary
}

/** {"name": "...", "gauge": {...}} */
function metricEnd(p: usize): usize {
  let metric: usize = p, metricBytes: u32 = 0, isNamed = false, kind = KIND_NONE, unit: usize = 0;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != OBJECT_CLOSE) {
    p = memberAt(p);
    if (p == 0) return 0;
    const byte: u32 = load<u8>(p);
    if (nameBytes == 4 && load<u32>(name) == 0x656d616e) { // name
      if (isNamed || byte != QUOTE) return 0;
      isNamed = true;
      const escaped = escapedStrings;
      const quote = closingQuote(p + 1);
      if (quote == 0 || escapedStrings != escaped) return 0;
      metric = p + 1;
      metricBytes = <u32>(quote - metric);
      p = quote + 1;
    } else if (nameBytes == 4 && load<u32>(name) == 0x74696e75 && byte == QUOTE) { // unit
      const escaped = escapedStrings;
      unit = p + 1;
      const quote = closingQuote(unit);
      if (quote == 0) return 0;
      if (escapedStrings != escaped) unit = 0;
      p = quote + 1;
    } else {
      const found = kindOfMember();
      if (found == KIND_NONE) {
        p = valueEnd(p, DEPTH);
      } else {
        if (kind != KIND_NONE || byte != OBJECT_OPEN) return 0;
        kind = found;
        p = dataEnd(p, kind);
      }
    }
    if (p != 0) p = nextAt(p, OBJECT_CLOSE);
  }
  if (p == 0) return 0;
  if (kind == KIND_GAUGE || kind == KIND_SUM) {
    if (entryAt > LAST_ENTRY) return 0;
    store<u32>(entryAt, <u32>resource, METRIC_RESOURCE);
    store<u32>(entryAt, resourceBytes, METRIC_RESOURCE_BYTES);
    store<u32>(entryAt, <u32>metric, METRIC_NAME);
    store<u32>(entryAt, metricBytes, METRIC_NAME_BYTES);
    store<u32>(entryAt, <u32>pointsAt, METRIC_POINTS);
    store<u32>(entryAt, <u32>pointsEnd, METRIC_END);
    store<u32>(entryAt, kind != KIND_SUM || !isMonotonic ? 0 : temporality == CUMULATIVE ? 1 : 2, METRIC_IS_COUNTER);
    store<u32>(entryAt, <u32>unit, METRIC_UNIT);
    store<u32>(entryAt, <u32>scope, METRIC_SCOPE);
    store<u32>(entryAt, scopeBytes, METRIC_SCOPE_BYTES);
    entryAt += METRIC_BYTES;
  }
  return p + 1;
}

// Of the data that was read last.
let pointsAt: usize = 0;
let pointsEnd: usize = 0;
let temporality: u32 = 0;
let isMonotonic: bool = false;

/** {"dataPoints": [...], "aggregationTemporality": 2, "isMonotonic": true} */
function dataEnd(p: usize, kind: u32): usize {
  let seenPoints = false, seenTemporality = false, seenMonotonic = false;
  pointsAt = pointsEnd = p;
  temporality = 0;
  isMonotonic = false;
  p = afterSpace(p + 1);
  while (p != 0 && <u32>load<u8>(p) != OBJECT_CLOSE) {
    p = memberAt(p);
    if (p == 0) return 0;
    if (nameBytes == 10 && load<u64>(name) == 0x6e696f5061746164 && load<u16>(name, 8) == 0x7374) { // dataPoints
      if (seenPoints) return 0;
      seenPoints = true;
      p = pointListEnd(p, kind);
    } else if (isTemporality()) {
      const digit: u32 = load<u8>(p);
      if (seenTemporality || !isDigit(digit) || isDigit(load<u8>(p, 1))) return 0;
      seenTemporality = true;
      temporality = digit - 0x30;
      p++;
    } else if (nameBytes == 11 && load<u64>(name) == 0x6f746f6e6f4d7369 && load<u64>(name, 3) == 0x63696e6f746f6e6f) { // isMonotonic
      if (seenMonotonic) return 0;
      seenMonotonic = true;
      isMonotonic = load<u32>(p) == 0x65757274; // true
      p = valueEnd(p, 0);
    } else {
      p = valueEnd(p, DEPTH);
    }
    if (p != 0) p = nextAt(p, OBJECT_CLOSE);
  }
  return p == 0 ? 0 : p + 1;
}

/** Whether the name that was read last is aggregationTemporality. */
// @ts-ignore
@inline
function isTemporality(): bool {
  if (nameBytes != 22 || load<u64>(name) != 0x7461676572676761) return false;
  return load<u64>(name, 8) == 0x6f706d65546e6f69 && load<u64>(name, 14) == 0x7974696c61726f70;
}

function pointListEnd(p: usize, kind: u32): usize {
  if (<u32>load<u8>(p) != ARRAY_OPEN) return 0;
  p = afterSpace(p + 1);
  pointsAt = p;
  while (p != 0 && <u32>load<u8>(p) != ARRAY_CLOSE) {
    p = takeElement() ? valueEnd(p, DEPTH) : 0;
    if (kind == KIND_DISTRIBUTION) distributions++;
    else points++;
    if (p != 0) p = nextAt(p, ARRAY_CLOSE);
  }
  pointsEnd = p;
  return p == 0 ? 0 : p + 1;
}
