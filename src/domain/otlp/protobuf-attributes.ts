// Attributes in protobuf: KeyValue {1: key, 2: AnyValue}, AnyValue {1: string, 2: bool, 3: int64, 4: double, 5: ArrayValue {1: AnyValue},
// 6: KeyValueList {1: KeyValue}, 7: bytes}.
import { setMember } from "../../core/collections/own-member.ts";
import type { AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import { WIRE_BYTES, WireReader } from "../codec/wire-reader.ts";
import { NAMING_ATTRIBUTES } from "../series/stream-identity.ts";
import { ANY_VALUE_DEPTH_MAX } from "./otlp-limits.ts";

/** Attributes on their way to be `Attributes`. */
export type AttributeMap = { [name: string]: AttributeValue };

/** A double as an attribute's value: JSON has no other ones. */
export function doubleAttribute(value: number): AttributeValue {
  return Number.isFinite(value) ? value : String(value);
}

/** An int64 as an attribute's value: beyond 2^53 its digits. */
function integerAttribute(high: number, low: number): AttributeValue {
  const value = (high | 0) * 2 ** 32 + low;
  return Number.isSafeInteger(value) ? value : String((BigInt(high | 0) << 32n) + BigInt(low));
}

/** Reads the KeyValue that the reader stands at, and goes behind it. */
export function readAttribute(reader: WireReader, into: AttributeMap, depth = 0): void {
  const end = reader.to;
  if (!reader.enter()) return;
  let name = "";
  let value: AttributeValue = null;
  while (reader.next(end)) {
    if (reader.field === 1) name = reader.name();
    else if (reader.field === 2) value = readAnyValue(reader, depth, NAMING_ATTRIBUTES.has(name));
  }
  setMember(into, name, value);
}

/** Reads a KeyValue that stands alone; false for bytes that are none. */
export function readAttributeBytes(bytes: Uint8Array, into: AttributeMap): boolean {
  const reader = new WireReader(bytes);
  reader.wire = WIRE_BYTES;
  reader.to = bytes.length;
  readAttribute(reader, into);
  return !reader.failed;
}

/** Reads the AnyValue that the reader stands at; null for an empty one. A text that `isName` is read as one. */
export function readAnyValue(reader: WireReader, depth = 0, isName = false): AttributeValue {
  const end = reader.to;
  if (depth >= ANY_VALUE_DEPTH_MAX) reader.failed = true;
  if (!reader.enter()) return null;
  let value: AttributeValue = null;
  while (reader.next(end)) {
    switch (reader.field) {
      case 1:
        value = isName ? reader.name() : reader.text();
        break;
      case 2:
        value = reader.unsigned() !== 0;
        break;
      case 3:
        reader.signed();
        value = integerAttribute(reader.high, reader.low);
        break;
      case 4:
        value = doubleAttribute(reader.double());
        break;
      case 5:
        value = readArray(reader, depth + 1);
        break;
      case 6:
        value = readList(reader, depth + 1);
        break;
      case 7:
        value = reader.base64();
        break;
    }
  }
  return value;
}

function readArray(reader: WireReader, depth: number): AttributeValue {
  const end = reader.to;
  const values: AttributeValue[] = [];
  if (!reader.enter()) return values;
  while (reader.next(end)) if (reader.field === 1) values.push(readAnyValue(reader, depth));
  return values;
}

function readList(reader: WireReader, depth: number): AttributeValue {
  const end = reader.to;
  const list: AttributeMap = {};
  if (!reader.enter()) return list;
  while (reader.next(end)) if (reader.field === 1) readAttribute(reader, list, depth);
  return list;
}
