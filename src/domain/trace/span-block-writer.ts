// Writes blocks of spans; their form is in span-block.ts.
import { NumberTable } from "../../core/collections/number-table.ts";
import { NO_SPAN_TEXT } from "../../core/layout/span-row.ts";
import { ByteWriter, COPIED_BYTES_MAX } from "../codec/byte-writer.ts";
import { writeVarint } from "../codec/varint.ts";
import type { ServiceName } from "../window/window-message.ts";
import {
  type BlockSpan,
  HEADER_BYTES,
  KIND_MASK,
  MICROSECONDS,
  RECEIVED_AT,
  SALT_AT,
  SECOND_AT,
  SERIAL_AT,
  SPAN_BLOCK_VERSION,
  SPAN_ID_BYTES,
  SPANS_AT,
  STATUS_SHIFT,
  TRACE_ID_BYTES,
} from "./span-block.ts";

const IDS_BYTES = TRACE_ID_BYTES + 2 * SPAN_ID_BYTES;
/** Without name and attributes: ids, flags and four varints. */
const SPAN_BYTES_MAX = 72;
/** Two varints. */
const TIMES_BYTES_MAX = 16;

/** Header fields of a block. Arrival, serial and salt (anything) together are its alone. */
export interface SpanBlockOptions {
  readonly second: number;
  readonly receivedMs: number;
  readonly serial: number;
  readonly salt: number;
  /** JSON. */
  readonly resource: string;
}

/** Attributes of spans as words: the number of a text, or `none` with address and bytes behind it. The same number is always the same text, also the name's. */
export interface AttributeSlots {
  readonly uint32s: Uint32Array;
  readonly none: number;
  /** Memory that addresses count in. */
  readonly memory: Uint8Array;
  textAddress(number: number): number;
  textBytes(number: number): number;
}

/** Twice the texts that a block remembers; those beyond are written each time. A full block of attributes that differ has some 600. */
const KNOWN_PLACES = 1024;

/** A block in the making; used again for the next. */
export class SpanBlockWriter {
  readonly #writer = new ByteWriter(2048);
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
    const writer = this.#writer;
    this.#second = second;
    this.#spans = 0;
    this.#nameCount = 0;
    this.#attributeCount = 0;
    this.#names.clear();
    this.#known.clear();
    writer.at = HEADER_BYTES;
    writer.view.setUint32(0, SPAN_BLOCK_VERSION, true);
    writer.view.setUint32(SECOND_AT, second, true);
    writer.view.setFloat64(RECEIVED_AT, receivedMs, true);
    writer.view.setUint32(SERIAL_AT, serial, true);
    writer.view.setUint32(SALT_AT, salt, true);
    writer.text(serviceId);
    writer.text(tenant);
    writer.text(environment);
    writer.text(resource);
  }

  get bytes(): number {
    return this.#writer.at;
  }

  /** Bytes that the writer holds, used or not. */
  get capacity(): number {
    return this.#writer.bytes.length;
  }

  add(span: BlockSpan): void {
    const writer = this.#writer;
    writer.reserve(IDS_BYTES);
    this.#id(span.traceId, TRACE_ID_BYTES);
    this.#id(span.spanId, SPAN_ID_BYTES);
    this.#id(span.parentSpanId, SPAN_ID_BYTES);
    const kindAndStatus = (span.kind & KIND_MASK) | (span.statusCode << STATUS_SHIFT);
    this.#addFields(kindAndStatus, span.name, NO_SPAN_TEXT, span.endMicroseconds, span.microseconds);
    writer.varint(0);
    writer.text(span.attributes);
  }

  /** Adds a span of `kindAndStatus` (kind + 8 * status), whose ids are the eight words from `at` on; addAttributes() must follow. `nameText` is its name's number, or `none`;
   * the name may be given as encodeText() gives it. */
  addNumbers(
    slots: Uint32Array,
    at: number,
    kindAndStatus: number,
    name: string | Uint8Array,
    nameText: number,
    endMicroseconds: number,
    microseconds: number,
  ): void {
    const writer = this.#writer;
    writer.reserve(SPAN_BYTES_MAX);
    const { view } = writer;
    for (let i = 0; i < IDS_BYTES / 4; i++) view.setUint32(writer.at + 4 * i, slots[at + i]!, true);
    writer.at += IDS_BYTES;
    this.#addFields(kindAndStatus, name, nameText, endMicroseconds, microseconds);
  }

  /** The attributes of the span that was added last: `count` of them, whose words begin at `from`. */
  addAttributes(attributes: AttributeSlots, from: number, count: number): void {
    const writer = this.#writer;
    const { uint32s: slots, none } = attributes;
    writer.varint(count + 1);
    let at = from;
    for (let i = 0; i < count; i++) {
      const number = slots[at++]!;
      if (number === none) {
        this.#newAttribute(attributes.memory, slots[at]!, slots[at + 1]!);
        at += 2;
        continue;
      }
      const known = this.#known.find(2 * number);
      if (known > 0) writer.varint(known);
      else {
        this.#known.enter(2 * number, this.#attributeCount + 1);
        this.#newAttribute(attributes.memory, attributes.textAddress(number), attributes.textBytes(number));
      }
    }
  }

  #newAttribute(memory: Uint8Array, address: number, bytes: number): void {
    const writer = this.#writer;
    this.#attributeCount++;
    writer.varint(0);
    writer.varint(bytes);
    writer.reserve(bytes);
    if (bytes > COPIED_BYTES_MAX) writer.bytes.set(memory.subarray(address, address + bytes), writer.at);
    else for (let i = 0; i < bytes; i++) writer.bytes[writer.at + i] = memory[address + i]!;
    writer.at += bytes;
  }

  #addFields(kindAndStatus: number, name: string | Uint8Array, nameText: number, endMicroseconds: number, microseconds: number): void {
    const writer = this.#writer;
    this.#spans++;
    writer.u8(kindAndStatus);
    const known = typeof name === "string" && nameText === NO_SPAN_TEXT ? (this.#names.get(name) ?? 0) : this.#known.find(2 * nameText + 1);
    writer.varint(known);
    if (known === 0) {
      this.#nameCount++;
      if (nameText !== NO_SPAN_TEXT) this.#known.enter(2 * nameText + 1, this.#nameCount);
      else if (typeof name === "string") this.#names.set(name, this.#nameCount);
      if (typeof name === "string") writer.text(name);
      else writer.copy(name);
    }
    writer.reserve(TIMES_BYTES_MAX);
    const { bytes } = writer;
    writer.at = writeVarint(microseconds, bytes, writeVarint(endMicroseconds - this.#second * MICROSECONDS, bytes, writer.at));
  }

  /** Hex digits as bytes; "" as zeros. */
  #id(hex: string, bytes: number): void {
    const writer = this.#writer;
    for (let i = 0; i < bytes; i++) writer.bytes[writer.at++] = hex === "" ? 0 : (digit(hex, 2 * i) << 4) | digit(hex, 2 * i + 1);
  }

  /** The block, valid until the writer is used again. */
  finish(): Uint8Array {
    this.#writer.view.setUint32(SPANS_AT, this.#spans, true);
    return this.#writer.bytes.subarray(0, this.#writer.at);
  }
}

/** Value of a character that is known to be a hex digit. */
function digit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : (code & 0x5f) - 0x37;
}
