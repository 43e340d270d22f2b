// Walks an OTLP traces body that otlp-traces-check.ts accepted: each span -> a row of numbers (core/layout/span-row.ts), in the order of the body. Names and attributes become numbers
// of texts (span-texts.ts). A span that has anything out of the ordinary is odd: its row says where it lies, and TypeScript decodes and judges it, so what the walk reads
// itself is good. Sketch for a span of four known attributes: 150 ns.
import {
  RETAINED_PARSE, SPAN_ATTRIBUTES, SPAN_ATTRIBUTES_BYTES, SPAN_ROWS, SPAN_ROWS_MAX,
} from "../../../../core/layout/memory-map";
import {
  NO_SPAN_TEXT, SPAN_ROW_ATTRIBUTES, SPAN_ROW_ATTRIBUTES_FROM, SPAN_ROW_BYTES, SPAN_ROW_CHILD, SPAN_ROW_END_MICROSECONDS, SPAN_ROW_END_MS, SPAN_ROW_ERROR,
  SPAN_ROW_FLAGS, SPAN_ROW_HIGH, SPAN_ROW_IDS, SPAN_ROW_ITEM, SPAN_ROW_ITEM_END, SPAN_ROW_KIND_SHIFT, SPAN_ROW_LOW, SPAN_ROW_MICROSECONDS, SPAN_ROW_NAME, SPAN_ROW_NAME_AT,
  SPAN_ROW_NAME_BYTES, SPAN_ROW_ODD, SPAN_ROW_PARENT_HIGH, SPAN_ROW_PARENT_LOW, SPAN_ROW_REQUEST, SPAN_ROW_RESOURCE,
  SPAN_ROW_RESOURCE_BYTES, SPAN_ROW_TRACE_HASH,
} from "../../../../core/layout/span-row";
import { isUsualAttribute } from "./otlp-attribute";
import { checkTraces } from "./otlp-traces-check";
import { fieldNumber, payload, readField, readVarint, varint, wireType, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../wire/protobuf-wire";
import { isNameText } from "../wire/name-text";
import { hashSpanId, hashTrace, keyHigh, keyLow } from "./span-key";
import { enterSpanText, findSpanText, guessAddress, isGuess, renewSpanTexts, SPAN_TEXT_ATTRIBUTE, SPAN_TEXT_NAME } from "./span-texts";

const NANOSECONDS: u64 = 1_000_000; // in a millisecond
const TRACE_ID_BYTES: usize = 16;
const SPAN_ID_BYTES: usize = 8;
/** A third of NAME_BYTES_MAX: a byte that is no UTF-8 becomes three. */
const NAME_BYTES_MAX: usize = 341;
/** Attributes that there is room for; a span with more is TypeScript's. A repeated one counts once, which TypeScript sees to. */
const ATTRIBUTES_MAX: u32 = 64;
/** A sixth of RECORD_ATTRIBUTES_BYTES_MAX: a byte becomes six in JSON at most. */
const ATTRIBUTE_BYTES_MAX: usize = 21845;
/** Words of an attribute that has no number: NO_SPAN_TEXT, address, bytes. */
const ATTRIBUTE_WORDS_MAX: u32 = 3;
const SPAN_WORDS_MAX: u32 = ATTRIBUTES_MAX * ATTRIBUTE_WORDS_MAX;
const ATTRIBUTE_WORDS: u32 = SPAN_ATTRIBUTES_BYTES / 4;
/** Longest duration that is summed: MICROSECONDS_MAX of actors/engine/spans/span-intake.ts. */
const MICROSECONDS_MAX: f64 = 1099511627776;
const KIND_INTERNAL: u64 = 1;
const KIND_SERVER: u64 = 2;
const KIND_CONSUMER: u64 = 5;
const STATUS_ERROR: u64 = 2;

// The body, and where the walk stands in it.
let seed: u32 = 0;
let minMs: f64 = 0;
let maxMs: f64 = 0;
let bodyAt: usize = 0, bodyEnd: usize = 0;
let groupAt: usize = 0, groupEnd: usize = 0;
let scopeAt: usize = 0, scopeEnd: usize = 0;
let resource: usize = 0;
let resourceBytes: u32 = 0;

// The same, before the last step.
let beforeBodyAt: usize = 0;
let beforeGroupAt: usize = 0, beforeGroupEnd: usize = 0;
let beforeScopeAt: usize = 0, beforeScopeEnd: usize = 0;
let beforeResource: usize = 0;
let beforeResourceBytes: u32 = 0;

/** Words of attributes that the rows at hand take. */
let words: u32 = 0;

/**
 * Checks a decompressed body (BODY_PADDING_BYTES must follow it, and its bytes must not change until the walk is done) and sets the walk to its start: STATUS_OK,
 * STATUS_BAD_PROTOBUF or STATUS_ODD_BODY. `tenantSeed` is what serviceSeed() says of its tenant; spans end within `min` and `max` milliseconds.
 */
export function otlpTracesBegin(pointer: usize, bytes: u32, tenantSeed: u32, min: f64, max: f64): i32 {
  const status = checkTraces(pointer, bytes);
  seed = tenantSeed;
  minMs = min;
  maxMs = max;
  bodyAt = pointer;
  bodyEnd = status < 0 ? pointer : pointer + bytes;
  groupAt = groupEnd = scopeAt = scopeEnd = 0;
  return status;
}

/** Notes where the step before the one at hand ended, so that other bodies may be walked before that is done once more and the walk goes on. The body is the caller's to keep. */
export function otlpTracesSuspend(): void {
  const at = <usize>RETAINED_PARSE;
  store<f64>(at, minMs, 0);
  store<f64>(at, maxMs, 8);
  store<u32>(at, seed, 16);
  store<u32>(at, <u32>beforeBodyAt, 20);
  store<u32>(at, <u32>bodyEnd, 24);
  store<u32>(at, <u32>beforeGroupAt, 28);
  store<u32>(at, <u32>beforeGroupEnd, 32);
  store<u32>(at, <u32>beforeScopeAt, 36);
  store<u32>(at, <u32>beforeScopeEnd, 40);
  store<u32>(at, <u32>beforeResource, 44);
  store<u32>(at, beforeResourceBytes, 48);
}

/** Goes on from there: what was noted and kept lies where it lay, but for the body, which lies `moved` bytes further. The step is to be done again. */
export function otlpTracesGoOn(moved: isize): void {
  const at = <usize>RETAINED_PARSE;
  minMs = load<f64>(at, 0);
  maxMs = load<f64>(at, 8);
  seed = load<u32>(at, 16);
  bodyAt = <usize>load<u32>(at, 20) + moved;
  bodyEnd = <usize>load<u32>(at, 24) + moved;
  groupAt = <usize>load<u32>(at, 28) + moved;
  groupEnd = <usize>load<u32>(at, 32) + moved;
  scopeAt = <usize>load<u32>(at, 36) + moved;
  scopeEnd = <usize>load<u32>(at, 40) + moved;
  resource = <usize>load<u32>(at, 44) + moved;
  resourceBytes = load<u32>(at, 48);
}

/** Fills rows with the next spans, as many as there is room for, and answers how many: 0 at the end of the body. Rows and numbers of the step before are no longer valid. */
export function otlpTracesStep(): u32 {
  renewSpanTexts();
  words = 0;
  beforeBodyAt = bodyAt;
  beforeGroupAt = groupAt;
  beforeGroupEnd = groupEnd;
  beforeScopeAt = scopeAt;
  beforeScopeEnd = scopeEnd;
  beforeResource = resource;
  beforeResourceBytes = resourceBytes;
  let rows: u32 = 0;
  while (rows < <u32>SPAN_ROWS_MAX && words + SPAN_WORDS_MAX <= ATTRIBUTE_WORDS) {
    if (scopeAt >= scopeEnd) {
      if (!enterScope()) break;
      continue;
    }
    scopeAt = readField(scopeAt, scopeEnd);
    if (fieldNumber != 2) continue;
    const row = <usize>SPAN_ROWS + <usize>rows * SPAN_ROW_BYTES;
    const from = payload, before = words;
    store<u32>(row, <u32>resource, SPAN_ROW_RESOURCE);
    store<u32>(row, resourceBytes, SPAN_ROW_RESOURCE_BYTES);
    store<u32>(row, <u32>from, SPAN_ROW_ITEM);
    store<u32>(row, <u32>scopeAt, SPAN_ROW_ITEM_END);
    if (!readSpan(row, from, scopeAt)) {
      store<u32>(row, SPAN_ROW_ODD, SPAN_ROW_FLAGS);
      words = before;
    }
    rows++;
  }
  return rows;
}

/** Goes to the next ScopeSpans; false at the end of the body. */
function enterScope(): bool {
  while (true) {
    while (groupAt < groupEnd) {
      groupAt = readField(groupAt, groupEnd);
      if (fieldNumber != 2) continue;
      scopeAt = payload;
      scopeEnd = groupAt;
      return true;
    }
    if (bodyAt >= bodyEnd) return false;
    bodyAt = readField(bodyAt, bodyEnd);
    if (fieldNumber != 1) continue;
    groupAt = payload;
    groupEnd = bodyAt;
    findResource();
  }
}

/** The resource may stand behind the spans that it says the source of. */
function findResource(): void {
  resource = groupAt;
  resourceBytes = 0;
  for (let p = groupAt; p < groupEnd; ) {
    p = readField(p, groupEnd);
    if (fieldNumber != 1) continue;
    resource = payload;
    resourceBytes = <u32>(p - payload);
  }
}

/** Reads a span into its row; false for one that is odd. */
function readSpan(row: usize, p: usize, end: usize): bool {
  let traceId: usize = 0, spanId: usize = 0, parentId: usize = 0, name: usize = 0, nameBytes: usize = 0;
  let kind: u64 = 0, status: u64 = 0, startNs: u64 = 0, endNs: u64 = 0;
  let attributes: u32 = 0, nameText: u32 = NO_SPAN_TEXT, attributeBytes: usize = 0;
  store<u32>(row, words, SPAN_ROW_ATTRIBUTES_FROM);
  while (p < end) {
    const tag = <u32>load<u8>(p), length = <usize>load<u8>(p, 1);
    let field = tag >> 3, wire = tag & 7, at: usize;
    if (wire == WIRE_BYTES && tag < 128 && length < 128) {
      at = p + 2;
      p = at + length;
    } else if (wire == WIRE_FIXED64 && tag < 128) {
      at = p + 1;
      p += 9;
    } else {
      p = readField(p, end);
      field = fieldNumber;
      wire = wireType;
      at = payload;
    }
    const bytes = p - at;
    switch (field) {
      case 1:
        if (wire != WIRE_BYTES || bytes != TRACE_ID_BYTES) return false;
        traceId = at;
        break;
      case 2:
        if (wire != WIRE_BYTES || bytes != SPAN_ID_BYTES) return false;
        spanId = at;
        break;
      case 4:
        if (wire != WIRE_BYTES || (bytes != SPAN_ID_BYTES && bytes != 0)) return false;
        parentId = bytes == 0 || load<u64>(at) == 0 ? 0 : at;
        break;
      case 5:
        if (wire != WIRE_BYTES || bytes > NAME_BYTES_MAX || !takeName(at, <u32>bytes)) return false;
        name = at, nameBytes = bytes;
        nameText = takenName;
        break;
      case 6:
        if (wire != WIRE_VARINT) return false;
        readVarint(at);
        kind = varint;
        break;
      case 7:
        if (wire != WIRE_FIXED64) return false;
        startNs = load<u64>(at);
        break;
      case 8:
        if (wire != WIRE_FIXED64) return false;
        endNs = load<u64>(at);
        break;
      case 9:
        if (wire != WIRE_BYTES || attributes == ATTRIBUTES_MAX || (attributeBytes += bytes) > ATTRIBUTE_BYTES_MAX || !takeAttribute(at, <u32>bytes, guessAddress(nameText, attributes++))) return false;
        break;
      case 10: // dropped_attributes_count
        if (wire != WIRE_VARINT || load<u8>(at) != 0) return false;
        break;
      case 15:
        if (wire != WIRE_BYTES || !readStatus(at, p)) return false;
        status = code;
        break;
    }
  }
  if (nameBytes == 0 || kind > KIND_CONSUMER || status > STATUS_ERROR) return false;
  storeName(row, nameText, name, nameBytes);
  store<u32>(row, attributes, SPAN_ROW_ATTRIBUTES);
  store<u32>(row, flagsOf(kind, status, parentId != 0), SPAN_ROW_FLAGS);
  return storeTimes(row, startNs, endNs) && storeIds(row, traceId, spanId, parentId);
}

// @ts-ignore
@inline
function storeName(row: usize, text: u32, pointer: usize, bytes: usize): void {
  store<u32>(row, text, SPAN_ROW_NAME);
  store<u32>(row, <u32>pointer, SPAN_ROW_NAME_AT);
  store<u32>(row, <u32>bytes, SPAN_ROW_NAME_BYTES);
}

/** SPAN_ROW_FLAGS of a span. */
// @ts-ignore
@inline
function flagsOf(kind: u64, status: u64, isChild: bool): u32 {
  let flags: u32 = <u32>(kind | (status << 3)) << SPAN_ROW_KIND_SHIFT;
  if (isChild) flags |= SPAN_ROW_CHILD;
  if (status == STATUS_ERROR) flags |= SPAN_ROW_ERROR;
  if (kind == KIND_SERVER || kind == KIND_CONSUMER || (!isChild && kind <= KIND_INTERNAL)) flags |= SPAN_ROW_REQUEST;
  return flags;
}

/** Stores a span's ids and keys; false where one is missing or all 0. */
// @ts-ignore
@inline
function storeIds(row: usize, traceId: usize, spanId: usize, parentId: usize): bool {
  if (traceId == 0 || (load<u64>(traceId) | load<u64>(traceId, 8)) == 0) return false;
  if (spanId == 0 || load<u64>(spanId) == 0) return false;
  store<u32>(row, hashTrace(traceId, seed), SPAN_ROW_TRACE_HASH);
  if (parentId != 0) {
    hashSpanId(parentId);
    store<u32>(row, keyHigh, SPAN_ROW_PARENT_HIGH);
    store<u32>(row, keyLow, SPAN_ROW_PARENT_LOW);
  }
  hashSpanId(spanId);
  store<u32>(row, keyHigh, SPAN_ROW_HIGH);
  store<u32>(row, keyLow, SPAN_ROW_LOW);
  store<u64>(row, load<u64>(traceId), SPAN_ROW_IDS);
  store<u64>(row, load<u64>(traceId, 8), SPAN_ROW_IDS + 8);
  store<u64>(row, load<u64>(spanId), SPAN_ROW_IDS + 16);
  store<u64>(row, parentId == 0 ? 0 : load<u64>(parentId), SPAN_ROW_IDS + 24);
  return true;
}

let code: u64 = 0;

/** Status {2: message, 3: code}. */
function readStatus(p: usize, end: usize): bool {
  code = 0;
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber != 3) continue;
    if (wireType != WIRE_VARINT) return false;
    readVarint(payload);
    code = varint;
  }
  return true;
}

/** Adds the words of an attribute, which may be the one at `guess`; false for one that TypeScript has to judge. */
// @ts-ignore
@inline
function takeAttribute(pointer: usize, bytes: u32, guess: usize): bool {
  let text: u32 = guess == 0 ? NO_SPAN_TEXT : load<u32>(guess);
  if (guess == 0 || !isGuess(text, pointer, bytes)) {
    text = findSpanText(pointer, bytes, SPAN_TEXT_ATTRIBUTE);
    if (text == NO_SPAN_TEXT) {
      if (!isUsualAttribute(pointer, pointer + bytes)) return false;
      text = enterSpanText(pointer, bytes);
    }
    if (guess != 0) store<u32>(guess, text);
  }
  const to = <usize>SPAN_ATTRIBUTES + (<usize>words << 2);
  store<u32>(to, text);
  words++;
  if (text != NO_SPAN_TEXT) return true;
  store<u32>(to, <u32>pointer, 4);
  store<u32>(to, bytes, 8);
  words += 2;
  return true;
}

/** Number of the name that was taken last, NO_SPAN_TEXT where there is no room for it. */
let takenName: u32 = NO_SPAN_TEXT;

/** Takes a name among the texts; false for one that TypeScript has to judge. */
// @ts-ignore
@inline
function takeName(pointer: usize, bytes: u32): bool {
  takenName = findSpanText(pointer, bytes, SPAN_TEXT_NAME);
  if (takenName != NO_SPAN_TEXT) return true;
  if (!isNameText(pointer, bytes)) return false;
  takenName = enterSpanText(pointer, bytes);
  return true;
}

/** Stores end and duration as span-intake.ts rounds them; false for a span whose times are not usual ones. */
// @ts-ignore
@inline
function storeTimes(row: usize, startNs: u64, endNs: u64): bool {
  if (endNs == 0) return false;
  const end = milliseconds(endNs);
  const start = milliseconds(startNs);
  if (end < minMs || end > maxMs || end < start) return false;
  const duration = startNs > 0 ? Math.round((end - start) * 1000) : 0;
  store<f64>(row, end, SPAN_ROW_END_MS);
  store<f64>(row, Math.round(end * 1000), SPAN_ROW_END_MICROSECONDS);
  store<f64>(row, min<f64>(MICROSECONDS_MAX, duration), SPAN_ROW_MICROSECONDS);
  return true;
}

/** With their fraction, as near as a double is. */
// @ts-ignore
@inline
function milliseconds(ns: u64): f64 {
  const whole = ns / NANOSECONDS;
  return <f64>whole + <f64>(ns - whole * NANOSECONDS) / 1e6;
}
