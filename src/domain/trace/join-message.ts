// A lane's message on spans of some traces, for the shard that joins callers and callees. About 16 bytes a span without parent, 28 with one:
//
//   kind u8 = 2, first minute varint, then for each span
//   {service varint: 0 = a new one, whose tenant, environment and service follow as texts, else its number in this message from 1 on; flags u8; key, high u32,
//    low u32; and with JOIN_CHILD the parent's key, high u32, low u32, zigzag of minute of its end - first minute varint, microseconds varint}
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { ByteSink } from "../codec/byte-sink.ts";
import { type ByteCursor, readText, readVarint, unzigzag, zigzag } from "../codec/varint.ts";
import type { ServiceName } from "../window/window-message.ts";

export const MESSAGE_JOIN = 2;
/** Of a span: it has a parent; it failed. */
export const JOIN_CHILD = 1;
export const JOIN_ERROR = 2;

/** A message in the making. */
export class JoinMessageWriter {
  readonly #sink = new ByteSink(512);
  readonly #services = new Map<ServiceName, number>();
  #firstMinute = 0;

  get bytes(): number {
    return this.#sink.at;
  }

  begin(firstMinute: number): void {
    this.#sink.u8(MESSAGE_JOIN);
    this.#sink.varint(firstMinute);
    this.#firstMinute = firstMinute;
  }

  /** Adds a span; `service` must be the same object for the same service. */
  add(service: ServiceName, flags: number, high: number, low: number): void {
    const sink = this.#sink;
    const known = this.#services.get(service);
    if (known !== undefined) sink.varint(known);
    else {
      this.#services.set(service, this.#services.size + 1);
      sink.varint(0);
      sink.text(service.tenant);
      sink.text(service.environment);
      sink.text(service.serviceId);
    }
    sink.u8(flags);
    sink.u32(high);
    sink.u32(low);
  }

  /** Goes on with a span that was added with JOIN_CHILD. */
  addParent(high: number, low: number, minute: number, microseconds: number): void {
    const sink = this.#sink;
    sink.u32(high);
    sink.u32(low);
    sink.varint(zigzag(minute - this.#firstMinute));
    sink.varint(microseconds);
  }

  /** The message, valid until the next `begin`. */
  finish(): Uint8Array {
    const message = this.#sink.bytes.subarray(0, this.#sink.at);
    this.#sink.at = 0;
    this.#services.clear();
    return message;
  }
}

/** Reads a message span by span. Every method throws on bytes that no writer made. */
export class JoinMessageReader {
  readonly #cursor: ByteCursor;
  readonly #view: DataView;
  readonly #firstMinute: number;
  #services = 0;
  /** Of the span at hand: its service's number, and its names where that is new in this message. */
  service = 0;
  newService: ServiceName | undefined;
  flags = 0;
  high = 0;
  low = 0;
  parentHigh = 0;
  parentLow = 0;
  minute = 0;
  microseconds = 0;

  constructor(payload: Uint8Array) {
    this.#cursor = { bytes: payload, at: 1, end: payload.length };
    this.#view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    if (payload[0] !== MESSAGE_JOIN) broken();
    this.#firstMinute = this.#number();
  }

  /** Goes to the next span; false at the end. */
  next(): boolean {
    const cursor = this.#cursor;
    if (cursor.at === cursor.end) return false;
    const service = this.#number();
    this.newService = service === 0 ? { tenant: this.#text(), environment: this.#text(), serviceId: this.#text() } : undefined;
    this.service = service === 0 ? ++this.#services : service;
    if (service > this.#services || cursor.at >= cursor.end) broken();
    this.flags = cursor.bytes[cursor.at++]!;
    this.high = this.#word();
    this.low = this.#word();
    if ((this.flags & JOIN_CHILD) !== 0) this.#readParent();
    return true;
  }

  #readParent(): void {
    this.parentHigh = this.#word();
    this.parentLow = this.#word();
    this.minute = this.#firstMinute + unzigzag(this.#number());
    this.microseconds = this.#number();
    if (this.minute < 0) broken();
  }

  #word(): number {
    const cursor = this.#cursor;
    if (cursor.at + 4 > cursor.end) broken();
    cursor.at += 4;
    return this.#view.getUint32(cursor.at - 4, true);
  }

  #number(): number {
    const number = readVarint(this.#cursor);
    return number < 0 ? broken() : number;
  }

  #text(): string {
    return readText(this.#cursor, NAME_BYTES_MAX) ?? broken();
  }
}

function broken(): never {
  throw new Error("a message on traces is damaged");
}
