// The common shape of Export*ServiceRequest in protobuf: {1: Resource* {1: Resource, 2: Scope* {1: scope, 2: item}}}, and a walk over its items.

import { WIRE_BYTES, WireReader } from "../codec/wire-reader.ts";
import type { OtlpSource } from "./otlp-items.ts";
import { sourceOf } from "./otlp-source.ts";
import { type AttributeMap, readAttribute } from "./protobuf-attributes.ts";

/** Whether the bytes are a request: its messages down to the items, and the fields of each item as far as `isItem` looks (the reader has entered it). */
export function isRequest(bytes: Buffer, isItem: (reader: WireReader) => boolean = isReadable): boolean {
  const reader = new WireReader(bytes);
  const isScope = () => holds(reader, (field) => field !== 2 || isItem(reader));
  const isSource = () => holds(reader, (field) => (field === 1 ? isResource(reader) : field !== 2 || isScope()));
  while (reader.next(bytes.length)) {
    if (reader.field !== 1) continue;
    const end = reader.to;
    if (!reader.enter() || !isSource()) return false;
    reader.at = end;
  }
  return !reader.failed;
}

/** The levels of resources and scopes: {1: their description, 2: what they hold, 3: a URL}. `isGood` has entered the field. */
function holds(reader: WireReader, isGood: (field: number) => boolean): boolean {
  const end = reader.to;
  while (reader.next(end)) {
    if (reader.field > 3) continue;
    const to = reader.to;
    if (!reader.enter() || !isGood(reader.field)) return false;
    reader.at = to;
  }
  return !reader.failed;
}

function isResource(reader: WireReader): boolean {
  const end = reader.to;
  while (reader.next(end)) if (reader.field === 1 && reader.wire !== WIRE_BYTES) return false;
  return !reader.failed;
}

/** Whether the message that was entered has whole fields. */
export function isReadable(reader: WireReader): boolean {
  const end = reader.to;
  while (reader.next(end));
  return !reader.failed;
}

/** An item in its bytes, with its source; undefined when the resource's attributes cannot be read. */
export interface PlacedItem {
  readonly source: OtlpSource | undefined;
  readonly from: number;
  readonly to: number;
}

/** Walks the items of bytes that isRequest() has found to be one. A resource may stand behind what it is the source of. */
export function* itemsOf(bytes: Buffer): Generator<PlacedItem> {
  const reader = new WireReader(bytes);
  for (const { from, to } of fieldsOf(reader, 0, bytes.length, 1)) {
    const source = readSource(bytes, from, to);
    for (const scope of fieldsOf(reader, from, to, 2)) {
      for (const item of fieldsOf(reader, scope.from, scope.to, 2)) yield { source, from: item.from, to: item.to };
    }
  }
}

/** The fields of one number in a message that lies between two places. The reader may be used elsewhere meanwhile. */
function* fieldsOf(reader: WireReader, from: number, to: number, field: number): Generator<{ readonly from: number; readonly to: number }> {
  reader.at = from;
  while (reader.next(to)) {
    if (reader.field !== field) continue;
    const behind = reader.at;
    yield { from: reader.from, to: reader.to };
    reader.at = behind;
  }
}

function readSource(bytes: Buffer, from: number, to: number): OtlpSource | undefined {
  const reader = new WireReader(bytes);
  const attributes: AttributeMap = {};
  reader.at = from;
  while (reader.next(to)) {
    if (reader.field !== 1) continue;
    const end = reader.to;
    readResource(reader, attributes);
    reader.at = end;
  }
  return reader.failed ? undefined : sourceOf(attributes);
}

/** Adds the attributes of the Resource that the reader stands at. */
function readResource(reader: WireReader, attributes: AttributeMap): void {
  const end = reader.to;
  reader.at = reader.from;
  while (reader.next(end)) if (reader.field === 1) readAttribute(reader, attributes);
}

/** The source that a Resource describes; undefined when its attributes cannot be read. */
export function sourceOfResource(resource: Buffer): OtlpSource | undefined {
  const reader = new WireReader(resource);
  const attributes: AttributeMap = {};
  while (reader.next(resource.length)) if (reader.field === 1) readAttribute(reader, attributes);
  return reader.failed ? undefined : sourceOf(attributes);
}

export const DAMAGED_RESOURCE = "the attributes of its resource are not valid protobuf";
