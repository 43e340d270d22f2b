// The common shape of Export*ServiceRequest in protobuf: {1: Resource* {1: Resource, 2: Scope* {1: scope, 2: item}}}, and a walk over its items.
import { JSON_ELEMENT_BYTES_MAX } from "../../core/config/body-limits.ts";
import { WIRE_BYTES, WireReader } from "../codec/wire-reader.ts";
import type { OtlpSource } from "./otlp-items.ts";
import { sourceOf } from "./otlp-source.ts";
import { type AttributeMap, readAttribute } from "./protobuf-attributes.ts";

/** An item in its bytes, with its source; undefined when the resource's attributes cannot be read. */
export interface PlacedItem {
  readonly source: OtlpSource | undefined;
  /** Where its scope and what stands in that lie. */
  readonly scope: { readonly from: number; readonly to: number };
  readonly from: number;
  readonly to: number;
}

/** Fields that a walk passes without finding an item before it lets its caller look up: 0.1 ms. */
const SILENT_FIELDS_MAX = 4_096;
/** A longer resource, and a longer item, is not read: as long as the limits of JSON items (core/config/body-limits.ts). */
const MESSAGE_BYTES_MAX = JSON_ELEMENT_BYTES_MAX;

/** Whether a message is longer than anybody reads. */
function isTooLongToRead(from: number, to: number): boolean {
  return to - from > MESSAGE_BYTES_MAX;
}

/**
 * Walks the items of bytes that the kernel has found to be a request. A resource may stand behind what it is the source of. Undefined in between says that many
 * fields were passed, of which none is an item.
 */
export function* itemsOf(bytes: Buffer, prefixes: boolean): Generator<PlacedItem | undefined> {
  const reader = new WireReader(bytes);
  const silence = new Silence();
  for (const resource of fieldsOf(reader, 0, bytes.length, 1, silence)) {
    if (resource === undefined) {
      yield undefined;
      continue;
    }
    const { from, to } = resource;
    const source = yield* readSource(bytes, from, to, silence, prefixes);
    for (const scope of fieldsOf(reader, from, to, 2, silence)) {
      if (scope === undefined) yield undefined;
      else for (const item of fieldsOf(reader, scope.from, scope.to, 2, silence)) yield item && { source, scope, ...item };
    }
  }
}

/** Name of the Scope {1: name} of ScopeMetrics {1: Scope} between two places; "" where it has none, and as far as it can be read. */
export function scopeNameOf(bytes: Buffer, { from, to }: PlacedItem["scope"]): string {
  const reader = new WireReader(bytes);
  let name = "";
  reader.at = from;
  while (reader.next(to)) {
    const behind = reader.at;
    if (reader.field === 1 && reader.wire === WIRE_BYTES) name = nameOfScope(bytes, reader.from, reader.to) ?? name;
    reader.at = behind;
  }
  return name;
}

function nameOfScope(bytes: Buffer, from: number, to: number): string | undefined {
  const reader = new WireReader(bytes);
  let name: string | undefined;
  reader.at = from;
  while (reader.next(to)) if (reader.field === 1 && reader.wire === WIRE_BYTES) name = reader.text();
  return name;
}

/** Counts the fields that a walk passes. */
class Silence {
  #fields = 0;

  /** Whether it is time to look up. */
  get isLong(): boolean {
    this.#fields = (this.#fields + 1) % SILENT_FIELDS_MAX;
    return this.#fields === 0;
  }
}

/** The fields of one number in a message that lies between two places. The reader may be used elsewhere meanwhile. */
function* fieldsOf(
  reader: WireReader,
  from: number,
  to: number,
  field: number,
  silence: Silence,
): Generator<{ readonly from: number; readonly to: number } | undefined> {
  reader.at = from;
  while (reader.next(to)) {
    const behind = reader.at;
    const { from: first, to: last } = reader;
    const isWanted = reader.field === field;
    if (silence.isLong) yield undefined;
    if (isWanted) yield { from: first, to: last };
    reader.at = behind;
  }
}

function* readSource(
  bytes: Buffer,
  from: number,
  to: number,
  silence: Silence,
  prefixes: boolean,
): Generator<undefined, OtlpSource | undefined> {
  const reader = new WireReader(bytes);
  const attributes: AttributeMap = {};
  let dropped = 0;
  reader.at = from;
  while (reader.next(to)) {
    if (silence.isLong) yield undefined;
    if (reader.field !== 1) continue;
    if (isTooLongToRead(reader.from, reader.to)) return undefined;
    const end = reader.to;
    dropped += readResource(reader, attributes);
    reader.at = end;
  }
  return reader.failed ? undefined : sourceOf(attributes, dropped, prefixes);
}

/** Adds the attributes of the Resource that the reader stands at; answers how many more its sender has dropped. */
function readResource(reader: WireReader, attributes: AttributeMap): number {
  const end = reader.to;
  reader.at = reader.from;
  return readResourceFields(reader, end, attributes);
}

function readResourceFields(reader: WireReader, end: number, attributes: AttributeMap): number {
  let dropped = 0;
  while (reader.next(end)) {
    if (reader.field === 1) readAttribute(reader, attributes);
    else if (reader.field === 2) dropped = reader.unsigned();
  }
  return dropped;
}

/** The source that a Resource describes; undefined when its attributes cannot be read. */
export function sourceOfResource(resource: Buffer, prefixes: boolean): OtlpSource | undefined {
  if (isTooLongToRead(0, resource.length)) return undefined;
  const reader = new WireReader(resource);
  const attributes: AttributeMap = {};
  const dropped = readResourceFields(reader, resource.length, attributes);
  return reader.failed ? undefined : sourceOf(attributes, dropped, prefixes);
}

export const DAMAGED_RESOURCE = `the attributes of its resource are not valid protobuf, or have more than ${MESSAGE_BYTES_MAX} bytes`;

/** One item, which lies between two places of the reader's bytes: what `read` makes of it, or why it cannot be read. `source` is undefined where its resource cannot be read. */
export function readPlaced<T extends object>(
  reader: WireReader,
  { source, from, to }: { readonly source: OtlpSource | undefined; readonly from: number; readonly to: number },
  what: string,
  read: (reader: WireReader, to: number, source: OtlpSource) => T,
): T | string {
  if (source === undefined) return DAMAGED_RESOURCE;
  reader.at = from;
  reader.failed = false;
  const item = isTooLongToRead(from, to) ? undefined : read(reader, to, source);
  return item === undefined || reader.failed ? `${what} is not valid protobuf, or has more than ${MESSAGE_BYTES_MAX} bytes` : item;
}
