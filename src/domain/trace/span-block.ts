// Spans of one service that ended in one second, as they are kept as records:
//
//   version u8 = 2, three zero bytes, spans u32, second since 1970 u32, {milliseconds of their arrival f64, serial u32, salt u32} = its id, service text, tenant text, environment text,
//   resource attributes as JSON text, then for each span {trace id 16 bytes, span id 8, parent's id 8 (zeros: none), flags u8: kind, status above it; name varint:
//   0 = a new one, which follows as text, else its number from 1 on; microseconds of its end behind the second varint; of its duration varint; attributes varint:
//   0 = they follow as JSON text, else one more than how many there are, each {varint: 0 = a new one, whose bytes varint and KeyValue message in protobuf
//   follow, else its number among the block's from 1 on}}
//
// Version 1 is the same with attributes as JSON text and nothing before it.
// Sketch: 45 bytes a span whose attributes others of the block have too, 0.15 us; with attributes as JSON 60 bytes and them, 0.4 us and what JSON.stringify takes.
import { NumberTable } from "../../core/base/number-table.ts";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { NO_SPAN_TEXT } from "../../core/layout/span-row.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteSink } from "../codec/byte-sink.ts";
import { type AttributeMap, readAttributeBytes } from "../otlp/protobuf-attributes.ts";
import type { ServiceName } from "../window/window-message.ts";

const VERSION = 2;
/** Attributes as JSON alone. */
const VERSION_JSON = 1;
const SPANS_AT = 4;
const SECOND_AT = 8;
const RECEIVED_AT = 12;
const SERIAL_AT = 20;
const SALT_AT = 24;
const HEADER_BYTES = 28;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** Without name and attributes: ids, flags and four varints. */
const SPAN_BYTES_MAX = 72;
const IDS_BYTES = TRACE_ID_BYTES + 2 * SPAN_ID_BYTES;
const STATUS_SHIFT = 3;
const KIND_MASK = 7;
const MICROSECONDS = 1_000_000;
const DAMAGE = "a block of spans is damaged";
/** Longest text of attributes, or attribute, that is read back. */
const ATTRIBUTES_TEXT_BYTES_MAX = 2 ** 24;

/** A span as it goes into a block. */
export interface BlockSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** "" for none. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly statusCode: number;
  /** Since 1970, and of its duration. */
  readonly endMicroseconds: number;
  readonly microseconds: number;
  /** JSON. */
  readonly attributes: string;
}

/** What a block begins with. Arrival, serial and salt (anything) together are its alone. */
export interface SpanBlockOptions {
  readonly second: number;
  readonly receivedMs: number;
  readonly serial: number;
  readonly salt: number;
  /** JSON. */
  readonly resource: string;
}

/** Attributes of spans as words: the number of a text, or `none` with address and bytes behind it. The same number is always the same text, also the name's. */
export interface AttributeWords {
  readonly words: Uint32Array;
  readonly none: number;
  /** What addresses count in. */
  readonly memory: Uint8Array;
  textAddress(number: number): number;
  textBytes(number: number): number;
}

/** Twice the texts that a block remembers; those beyond are written each time. A full block of attributes that differ has some 600. */
const KNOWN_PLACES = 1024;

/** Longer ones are copied by the system. */
const COPIED_BYTES_MAX = 64;

/** A block in the making; used again for the next. */
export class SpanBlockWriter {
  readonly #sink = new ByteSink(2048);
  readonly #names = new Map<string, number>();
  /** Numbers in this block by that of the text: of attributes by twice that, of names by one more. */
  readonly #known = new NumberTable(KNOWN_PLACES);
  #nameCount = 0;
  #attributeCount = 0;
  #second = 0;
  #spans = 0;

  constructor(service: ServiceName, options: SpanBlockOptions) {
    this.begin(service, options);
  }

  begin({ tenant, environment, serviceId }: ServiceName, { second, receivedMs, serial, salt, resource }: SpanBlockOptions): void {
    const sink = this.#sink;
    this.#second = second;
    this.#spans = 0;
    this.#nameCount = 0;
    this.#attributeCount = 0;
    this.#names.clear();
    this.#known.clear();
    sink.at = HEADER_BYTES;
    sink.view.setUint32(0, VERSION, true);
    sink.view.setUint32(SECOND_AT, second, true);
    sink.view.setFloat64(RECEIVED_AT, receivedMs, true);
    sink.view.setUint32(SERIAL_AT, serial, true);
    sink.view.setUint32(SALT_AT, salt, true);
    sink.text(serviceId);
    sink.text(tenant);
    sink.text(environment);
    sink.text(resource);
  }

  get bytes(): number {
    return this.#sink.at;
  }

  /** Bytes that the writer holds, used or not. */
  get capacity(): number {
    return this.#sink.bytes.length;
  }

  add(span: BlockSpan): void {
    const sink = this.#sink;
    sink.reserve(IDS_BYTES);
    this.#id(span.traceId, TRACE_ID_BYTES);
    this.#id(span.spanId, SPAN_ID_BYTES);
    this.#id(span.parentSpanId, SPAN_ID_BYTES);
    const kindAndStatus = (span.kind & KIND_MASK) | (span.statusCode << STATUS_SHIFT);
    this.#addFields(kindAndStatus, span.name, NO_SPAN_TEXT, span.endMicroseconds, span.microseconds);
    sink.varint(0);
    sink.text(span.attributes);
  }

  /** Adds a span of `kindAndStatus` (kind + 8 * status), whose ids are the eight words from `at` on; addAttributes() must follow. `nameText` is its name's number, or `none`. */
  addNumbers(
    words: Uint32Array,
    at: number,
    kindAndStatus: number,
    name: string,
    nameText: number,
    endMicroseconds: number,
    microseconds: number,
  ): void {
    const sink = this.#sink;
    sink.reserve(SPAN_BYTES_MAX);
    const { view } = sink;
    for (let i = 0; i < IDS_BYTES / 4; i++) view.setUint32(sink.at + 4 * i, words[at + i]!, true);
    sink.at += IDS_BYTES;
    this.#addFields(kindAndStatus, name, nameText, endMicroseconds, microseconds);
  }

  /** The attributes of the span that was added last: `count` of them, whose words begin at `from`. */
  addAttributes(attributes: AttributeWords, from: number, count: number): void {
    const sink = this.#sink;
    const { words, none } = attributes;
    sink.varint(count + 1);
    let at = from;
    for (let i = 0; i < count; i++) {
      const number = words[at++]!;
      if (number === none) {
        this.#newAttribute(attributes.memory, words[at]!, words[at + 1]!);
        at += 2;
        continue;
      }
      const known = this.#known.find(2 * number);
      if (known > 0) sink.varint(known);
      else {
        this.#known.enter(2 * number, this.#attributeCount + 1);
        this.#newAttribute(attributes.memory, attributes.textAddress(number), attributes.textBytes(number));
      }
    }
  }

  #newAttribute(memory: Uint8Array, address: number, bytes: number): void {
    const sink = this.#sink;
    this.#attributeCount++;
    sink.varint(0);
    sink.varint(bytes);
    sink.reserve(bytes);
    if (bytes > COPIED_BYTES_MAX) sink.bytes.set(memory.subarray(address, address + bytes), sink.at);
    else for (let i = 0; i < bytes; i++) sink.bytes[sink.at + i] = memory[address + i]!;
    sink.at += bytes;
  }

  #addFields(kindAndStatus: number, name: string, nameText: number, endMicroseconds: number, microseconds: number): void {
    const sink = this.#sink;
    this.#spans++;
    sink.u8(kindAndStatus);
    const known = nameText === NO_SPAN_TEXT ? (this.#names.get(name) ?? 0) : this.#known.find(2 * nameText + 1);
    sink.varint(known);
    if (known === 0) {
      this.#nameCount++;
      if (nameText === NO_SPAN_TEXT) this.#names.set(name, this.#nameCount);
      else this.#known.enter(2 * nameText + 1, this.#nameCount);
      sink.text(name);
    }
    sink.varint(endMicroseconds - this.#second * MICROSECONDS);
    sink.varint(microseconds);
  }

  /** Hex digits as bytes; "" as zeros. */
  #id(hex: string, bytes: number): void {
    const sink = this.#sink;
    for (let i = 0; i < bytes; i++) sink.bytes[sink.at++] = hex === "" ? 0 : (digit(hex, 2 * i) << 4) | digit(hex, 2 * i + 1);
  }

  /** The block, a copy. */
  finish(): Uint8Array {
    this.#sink.view.setUint32(SPANS_AT, this.#spans, true);
    return this.#sink.bytes.slice(0, this.#sink.at);
  }
}

/** Value of a character that is known to be a hex digit. */
function digit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : (code & 0x5f) - 0x37;
}

/** The 16 bytes that no other block has. */
export function spanBlockId(block: Uint8Array): Uint8Array {
  return block.subarray(RECEIVED_AT, HEADER_BYTES);
}

/** A span as it is read from a block. */
export interface StoredSpan extends Omit<BlockSpan, "attributes"> {
  /** Decodes its attributes. Throws on bytes that are none. */
  readonly attributes: () => Attributes;
}

/** What a block says of all its spans. */
export interface SpanBlockHead extends ServiceName {
  readonly version: number;
  readonly spans: number;
  readonly second: number;
  readonly receivedMs: number;
  readonly resource: string;
  /** Where its spans begin. */
  readonly at: number;
}

/** Reads what a block begins with. Throws on another version and on bytes that are no block. */
export function readSpanBlockHead(block: Uint8Array): SpanBlockHead {
  const version = block[0] as number;
  if (version !== VERSION && version !== VERSION_JSON)
    throw new Error(`spans are stored as version ${version}, this program reads ${VERSION_JSON} and ${VERSION}`);
  const reader = new ByteReader(block, DAMAGE, SPANS_AT);
  const [spans, second, receivedMs] = [reader.u32(), reader.u32(), reader.double()];
  reader.at = HEADER_BYTES;
  const [serviceId, tenant, environment] = [reader.text(NAME_BYTES_MAX), reader.text(NAME_BYTES_MAX), reader.text(NAME_BYTES_MAX)];
  const resource = reader.text(ATTRIBUTES_TEXT_BYTES_MAX);
  return { version, spans, second, receivedMs, serviceId, tenant, environment, resource, at: reader.at };
}

/** Reads the spans of a block. Throws on bytes that are none. */
export function* spansOfBlock(block: Uint8Array, head: SpanBlockHead): Generator<StoredSpan> {
  const reader = new ByteReader(block, DAMAGE, head.at);
  const names: string[] = [];
  const attributes = new BlockAttributes(reader, head.version);
  for (let i = 0; i < head.spans; i++) {
    const traceId = reader.hex(TRACE_ID_BYTES);
    const spanId = reader.hex(SPAN_ID_BYTES);
    const parent = reader.hex(SPAN_ID_BYTES);
    const flags = reader.u8();
    const known = reader.varint();
    if (known === 0) names.push(reader.text(NAME_BYTES_MAX));
    yield {
      traceId,
      spanId,
      parentSpanId: /^0+$/.test(parent) ? "" : parent,
      kind: flags & KIND_MASK,
      statusCode: flags >> STATUS_SHIFT,
      name: (known === 0 ? names.at(-1) : names[known - 1]) ?? reader.fail(),
      endMicroseconds: head.second * MICROSECONDS + reader.varint(),
      microseconds: reader.varint(),
      attributes: attributes.read(),
    };
  }
}

/** The attributes of a block's spans, decoded when they are asked for. */
class BlockAttributes {
  readonly #reader: ByteReader;
  readonly #version: number;
  readonly #messages: Uint8Array[] = [];

  constructor(reader: ByteReader, version: number) {
    this.#reader = reader;
    this.#version = version;
  }

  /** Reads those of the next span. */
  read(): () => Attributes {
    const reader = this.#reader;
    const count = this.#version === VERSION_JSON ? 0 : reader.varint();
    if (count === 0) {
      const text = reader.text(ATTRIBUTES_TEXT_BYTES_MAX);
      return () => JSON.parse(text) as Attributes;
    }
    if (count > reader.end) reader.fail();
    const messages: Uint8Array[] = [];
    for (let i = 1; i < count; i++) messages.push(this.#message());
    return () => decoded(messages);
  }

  #message(): Uint8Array {
    const reader = this.#reader;
    const known = reader.varint();
    if (known > 0) return this.#messages[known - 1] ?? reader.fail();
    const message = reader.view(ATTRIBUTES_TEXT_BYTES_MAX);
    this.#messages.push(message);
    return message;
  }
}

function decoded(messages: readonly Uint8Array[]): Attributes {
  const attributes: AttributeMap = {};
  for (const message of messages) if (!readAttributeBytes(message, attributes)) throw new Error(DAMAGE);
  return attributes;
}
