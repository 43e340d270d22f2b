// Spans of one service that ended in one second, as they are kept as records:
//
//   version u8 = 2, three zero bytes, spans u32, second since 1970 u32, {milliseconds of their arrival f64, serial u32, salt u32} = its id, service text, tenant text, environment text,
//   resource attributes as JSON text, then for each span {trace id 16 bytes, span id 8, parent's id 8 (zeros: none), flags u8: kind, status above it; name varint:
//   0 = a new one, which follows as text, else its number from 1 on; microseconds of its end behind the second varint; of its duration varint; attributes varint:
//   0 = they follow as JSON text, else one more than how many there are, each {varint: 0 = a new one, whose bytes varint and KeyValue message in protobuf
//   follow, else its number among the block's from 1 on}}
//
// Written by span-block-writer.ts. Sketch: 45 bytes a span whose attributes others of the block have too, 0.15 us; with attributes as JSON 60 bytes and them, 0.4 us and what JSON.stringify takes.
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { type AttributeMap, readAttributeBytes } from "../otlp/protobuf-attributes.ts";
import type { ServiceName } from "../window/window-message.ts";

export const SPAN_BLOCK_VERSION = 2;
export const SPANS_AT = 4;
export const SECOND_AT = 8;
export const RECEIVED_AT = 12;
export const SERIAL_AT = 20;
export const SALT_AT = 24;
export const HEADER_BYTES = 28;
export const TRACE_ID_BYTES = 16;
export const SPAN_ID_BYTES = 8;
export const STATUS_SHIFT = 3;
export const KIND_MASK = 7;
export const MICROSECONDS = 1_000_000;
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

/** The 16 bytes that no other block has. */
export function spanBlockId(block: Uint8Array): Uint8Array {
  return block.subarray(RECEIVED_AT, HEADER_BYTES);
}

/** A span as it is read from a block. */
export interface StoredSpan extends Omit<BlockSpan, "attributes"> {
  /** Decodes its attributes. Throws on bytes that are none. */
  readonly attributes: () => Attributes;
}

/** Header of a block, for all its spans. */
export interface SpanBlockHead extends ServiceName {
  readonly spans: number;
  readonly second: number;
  readonly receivedMs: number;
  readonly resource: string;
  /** Where its spans begin. */
  readonly at: number;
}

/** Throws on a block of another version. */
export function checkSpanBlockVersion([version]: Uint8Array): void {
  if (version !== SPAN_BLOCK_VERSION) throw new Error(`spans are stored as version ${version}, this program reads ${SPAN_BLOCK_VERSION}`);
}

/** Reads what a block begins with. Throws on another version and on bytes that are no block. */
export function readSpanBlockHead(block: Uint8Array): SpanBlockHead {
  checkSpanBlockVersion(block);
  const reader = new ByteReader(block, DAMAGE, SPANS_AT);
  const [spans, second, receivedMs] = [reader.u32(), reader.u32(), reader.double()];
  reader.at = HEADER_BYTES;
  const [serviceId, tenant, environment] = [reader.text(NAME_BYTES_MAX), reader.text(NAME_BYTES_MAX), reader.text(NAME_BYTES_MAX)];
  const resource = reader.text(ATTRIBUTES_TEXT_BYTES_MAX);
  return { spans, second, receivedMs, serviceId, tenant, environment, resource, at: reader.at };
}

/** Reads the spans of a block. Throws on bytes that are none. */
export function* spansOfBlock(block: Uint8Array, head: SpanBlockHead): Generator<StoredSpan> {
  const reader = new ByteReader(block, DAMAGE, head.at);
  const names: string[] = [];
  const attributes = new BlockAttributes(reader);
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
  readonly #messages: Uint8Array[] = [];

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  /** Reads those of the next span. */
  read(): () => Attributes {
    const reader = this.#reader;
    const count = reader.varint();
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
