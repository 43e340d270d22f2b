// First pass over a decompressed OTLP body of traces or logs (ExportTraceServiceRequest, ExportLogsServiceRequest, which has the same form): checks its structure down to the fields of each span, so that an undecodable body
// stores nothing and the walk behind it may trust tags and lengths. What it accepts is what isRequest() of test/support/otlp-request-check.ts accepts.
// Request {1: ResourceSpans {1: Resource, 2: ScopeSpans {2: Span}}}.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
// Sketch: 2 ns a field of a span.
import { STATUS_BAD_PROTOBUF, STATUS_ODD_BODY, STATUS_OK } from "../../../../core/layout/kernel-status";
import { beginElements, takeElement } from "../otlp/otlp-elements";
import { isResource } from "../otlp/otlp-resource";
import { fieldNumber, payload, readField, wireType, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../wire/protobuf-wire";

/** A message given in several fields, which the walk does not put together. */
let odd: bool = false;

/** STATUS_OK, STATUS_BAD_PROTOBUF, or STATUS_ODD_BODY for one to be decoded whole elsewhere. */
export function checkTraces(pointer: usize, bytes: u32): i32 {
  odd = false;
  beginElements();
  const end = pointer + bytes;
  for (let p = pointer; p < end; ) {
    p = readField(p, end);
    if (p == 0 || !takeElement()) return STATUS_BAD_PROTOBUF;
    if (fieldNumber != 1) continue;
    if (wireType != WIRE_BYTES || !isGroup(payload, p)) return STATUS_BAD_PROTOBUF;
  }
  return odd ? STATUS_ODD_BODY : STATUS_OK;
}

/** ResourceSpans. */
function isGroup(p: usize, end: usize): bool {
  let resources: u32 = 0;
  while (p < end) {
    p = readField(p, end);
    if (p == 0 || !takeElement()) return false;
    if (fieldNumber > 3) continue;
    if (wireType != WIRE_BYTES) return false;
    if (fieldNumber == 2) {
      if (!isScope(payload, p)) return false;
    } else if (fieldNumber == 1) {
      resources++;
      if (!isResource(payload, p)) return false;
    }
  }
  if (resources > 1) odd = true;
  return true;
}

/** ScopeSpans. */
function isScope(p: usize, end: usize): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0 || !takeElement()) return false;
    if (fieldNumber > 3) continue;
    if (wireType != WIRE_BYTES) return false;
    if (fieldNumber == 2 && !isSpan(payload, p)) return false;
  }
  return true;
}

/** Whole fields; short ones are passed over by their tags. */
function isSpan(p: usize, end: usize): bool {
  while (p < end) {
    const tag = <u32>load<u8>(p);
    if (tag > 7 && tag < 128) {
      const length = <usize>load<u8>(p, 1), wire = tag & 7;
      if (wire == WIRE_FIXED64) {
        p += 9;
        continue;
      }
      if (length < 128 && (wire == WIRE_BYTES || wire == WIRE_VARINT)) {
        p += wire == WIRE_BYTES ? 2 + length : 2;
        continue;
      }
    }
    p = readField(p, end);
    if (p == 0) return false;
  }
  return p == end;
}
