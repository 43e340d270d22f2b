// Whether an attribute (KeyValue {1: key, 2: AnyValue}) is one that every span may have: readable to its last level, spelled as senders spell it, and so short that no
// limit of domain/otlp/otlp-limits.ts can be hurt, whatever its bytes say as text. Others are for TypeScript to judge (domain/otlp/protobuf-attributes.ts).
// AnyValue {1: string, 2: bool, 3: int64, 4: double, 5: ArrayValue {1: AnyValue}, 6: KeyValueList {1: KeyValue}, 7: bytes}.
import { isNameText } from "../wire/name-text";
import { fieldNumber, payload, readField, wireType, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../wire/protobuf-wire";

/** A third of NAME_BYTES_MAX and VALUE_BYTES_MAX: a byte that is no UTF-8 becomes three. */
const KEY_BYTES_MAX: usize = 341;
const VALUE_BYTES_MAX: usize = 2730;
/** A list or a map counts whole, as JSON, where a byte becomes six at most. */
const LIST_BYTES_MAX: usize = 1365;
/** ANY_VALUE_DEPTH_MAX. */
const DEPTH_MAX: u32 = 8;

export function isUsualAttribute(p: usize, end: usize): bool {
  return isKeyValue(p, end, 0);
}

function isKeyValue(p: usize, end: usize, depth: u32): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber > 2) continue;
    if (wireType != WIRE_BYTES) return false;
    if (fieldNumber == 1) {
      if (p - payload > KEY_BYTES_MAX || (depth == 0 && !isNameText(payload, p - payload))) return false;
    } else if (!isAnyValue(payload, p, depth)) return false;
  }
  return true;
}

function isAnyValue(p: usize, end: usize, depth: u32): bool {
  if (depth >= DEPTH_MAX) return false;
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
    const field = fieldNumber;
    if (field > 7) continue;
    if (field == 2 || field == 3) {
      if (wireType != WIRE_VARINT) return false;
    } else if (field == 4) {
      if (wireType != WIRE_FIXED64) return false;
    } else if (wireType != WIRE_BYTES) return false;
    else if (field == 5 || field == 6) {
      if (p - payload > LIST_BYTES_MAX || !isList(payload, p, depth + 1, field == 6)) return false;
    } else if (p - payload > VALUE_BYTES_MAX) return false;
  }
  return true;
}

/** ArrayValue or KeyValueList. */
function isList(p: usize, end: usize, depth: u32, isKeyed: bool): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0) return false;
    if (fieldNumber != 1) continue;
    if (wireType != WIRE_BYTES) return false;
    if (!(isKeyed ? isKeyValue(payload, p, depth) : isAnyValue(payload, p, depth))) return false;
  }
  return true;
}
