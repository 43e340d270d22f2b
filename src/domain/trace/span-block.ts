// Spans of one service that ended in one second, as they are kept as records:
//
//   version u8 = 1, three zero bytes, spans u32, second since 1970 u32, {milliseconds of their arrival f64, serial u32, salt u32} = its id, service text, tenant text, environment text,
//   resource attributes as JSON text, then for each span {trace id 16 bytes, span id 8, parent's id 8 (zeros: none), flags u8: kind, status above it; name varint:
//   0 = a new one, which follows as text, else its number from 1 on; microseconds of its end behind the second varint; of its duration varint; attributes JSON text}
//
// Sketch: 60 bytes and the attributes, about 0.4 us and what JSON.stringify takes for them.
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteSink } from "../codec/byte-sink.ts";
import type { ServiceName } from "../window/window-message.ts";

const VERSION = 1;
const SPANS_AT = 4;
const SECOND_AT = 8;
const RECEIVED_AT = 12;
const SERIAL_AT = 20;
const SALT_AT = 24;
const HEADER_BYTES = 28;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const IDS_BYTES = TRACE_ID_BYTES + 2 * SPAN_ID_BYTES;
const STATUS_SHIFT = 3;
const KIND_MASK = 7;
const MICROSECONDS = 1_000_000;
const DAMAGE = "a block of spans is damaged";
/** Longest text of attributes that is read back. */
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

/** A block in the making. */
export class SpanBlockWriter {
  readonly #sink = new ByteSink(2048);
  readonly #names = new Map<string, number>();
  readonly #second: number;
  #spans = 0;

  constructor({ tenant, environment, serviceId }: ServiceName, { second, receivedMs, serial, salt, resource }: SpanBlockOptions) {
    const sink = this.#sink;
    this.#second = second;
    sink.at = HEADER_BYTES;
    sink.bytes[0] = VERSION;
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

  add(span: BlockSpan): void {
    const sink = this.#sink;
    this.#spans++;
    sink.reserve(IDS_BYTES + 1);
    this.#id(span.traceId, TRACE_ID_BYTES);
    this.#id(span.spanId, SPAN_ID_BYTES);
    this.#id(span.parentSpanId, SPAN_ID_BYTES);
    sink.u8((span.kind & KIND_MASK) | (span.statusCode << STATUS_SHIFT));
    const known = this.#names.get(span.name) ?? 0;
    sink.varint(known);
    if (known === 0) {
      this.#names.set(span.name, this.#names.size + 1);
      sink.text(span.name);
    }
    sink.varint(span.endMicroseconds - this.#second * MICROSECONDS);
    sink.varint(span.microseconds);
    sink.text(span.attributes);
  }

  /** Hex digits as bytes; "" as zeros. */
  #id(hex: string, bytes: number): void {
    const sink = this.#sink;
    sink.hex(hex === "" ? "0".repeat(2 * bytes) : hex);
  }

  /** The block, a copy. */
  finish(): Uint8Array {
    this.#sink.view.setUint32(SPANS_AT, this.#spans, true);
    return this.#sink.bytes.slice(0, this.#sink.at);
  }
}

/** The 16 bytes that no other block has. */
export function spanBlockId(block: Uint8Array): Uint8Array {
  return block.subarray(RECEIVED_AT, HEADER_BYTES);
}

/** What a block says of all its spans. */
export interface SpanBlockHead extends ServiceName {
  readonly spans: number;
  readonly second: number;
  readonly receivedMs: number;
  readonly resource: string;
  /** Where its spans begin. */
  readonly at: number;
}

/** Reads what a block begins with. Throws on another version and on bytes that are no block. */
export function readSpanBlockHead(block: Uint8Array): SpanBlockHead {
  if (block[0] !== VERSION) throw new Error(`spans are stored as version ${block[0]}, this program reads ${VERSION}`);
  const reader = new ByteReader(block, DAMAGE, SPANS_AT);
  const [spans, second, receivedMs] = [reader.u32(), reader.u32(), reader.double()];
  reader.at = HEADER_BYTES;
  const [serviceId, tenant, environment] = [reader.text(NAME_BYTES_MAX), reader.text(NAME_BYTES_MAX), reader.text(NAME_BYTES_MAX)];
  const resource = reader.text(ATTRIBUTES_TEXT_BYTES_MAX);
  return { spans, second, receivedMs, serviceId, tenant, environment, resource, at: reader.at };
}

/** Reads the spans of a block. Throws on bytes that are none. */
export function* spansOfBlock(block: Uint8Array, head: SpanBlockHead): Generator<BlockSpan> {
  const reader = new ByteReader(block, DAMAGE, head.at);
  const names: string[] = [];
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
      attributes: reader.text(ATTRIBUTES_TEXT_BYTES_MAX),
    };
  }
}
