// A lane's message on spans of one service, for the shard that folds them into windows. About 14 bytes a span:
//
//   kind u8 = 1, tenant text, environment text, service text, first window varint, then for each span
//   {operation varint: 0 = a new one, whose name follows as text, else its number in this message from 1 on; flags u8; zigzag of window - first window varint;
//    bucket of its duration varint (duration-sketch.ts); its key, high u32, low u32 (span-key.ts)}
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { ByteSink } from "../codec/byte-sink.ts";
import { type ByteCursor, readText, readVarint, unzigzag, zigzag } from "../codec/varint.ts";
import { BUCKET_LAST } from "./duration-sketch.ts";

export const MESSAGE_FOLD = 1;
/** Of a span: it counts as a request of its service; it failed. */
export const SPAN_REQUEST = 1;
export const SPAN_ERROR = 2;

/** Where the spans of a message come from. */
export interface ServiceName {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
}

/** A message in the making; kept and used for the next. */
export class FoldMessageWriter {
  readonly #sink = new ByteSink(1024);
  readonly #operations = new Map<string, number>();
  #firstWindow = 0;

  /** Bytes so far; 0 before `begin`. */
  get bytes(): number {
    return this.#sink.at;
  }

  begin({ tenant, environment, serviceId }: ServiceName, firstWindow: number): void {
    const sink = this.#sink;
    sink.u8(MESSAGE_FOLD);
    sink.text(tenant);
    sink.text(environment);
    sink.text(serviceId);
    sink.varint(firstWindow);
    this.#firstWindow = firstWindow;
  }

  add(operation: string, flags: number, window: number, bucket: number, high: number, low: number): void {
    const sink = this.#sink;
    const known = this.#operations.get(operation);
    if (known !== undefined) sink.varint(known);
    else {
      this.#operations.set(operation, this.#operations.size + 1);
      sink.varint(0);
      sink.text(operation);
    }
    sink.u8(flags);
    sink.varint(zigzag(window - this.#firstWindow));
    sink.varint(bucket);
    sink.u32(high);
    sink.u32(low);
  }

  /** The message, valid until the next `begin`. */
  finish(): Uint8Array {
    const message = this.#sink.bytes.subarray(0, this.#sink.at);
    this.#sink.at = 0;
    this.#operations.clear();
    return message;
  }
}

/** Reads a message span by span. Every method throws on bytes that no writer made. */
export class FoldMessageReader {
  readonly service: ServiceName;
  readonly #cursor: ByteCursor;
  readonly #view: DataView;
  readonly #firstWindow: number;
  #operations = 0;
  /** Of the span at hand: its operation's number, and its name where that is new in this message. */
  operation = 0;
  newName: string | undefined;
  flags = 0;
  window = 0;
  bucket = 0;
  high = 0;
  low = 0;

  constructor(payload: Uint8Array) {
    this.#cursor = { bytes: payload, at: 1, end: payload.length };
    this.#view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    if (payload[0] !== MESSAGE_FOLD) broken();
    this.service = { tenant: this.#text(), environment: this.#text(), serviceId: this.#text() };
    this.#firstWindow = this.#number();
  }

  /** Goes to the next span; false at the end. */
  next(): boolean {
    const cursor = this.#cursor;
    if (cursor.at === cursor.end) return false;
    const operation = this.#number();
    this.newName = operation === 0 ? this.#text() : undefined;
    this.operation = operation === 0 ? ++this.#operations : operation;
    if (operation > this.#operations || cursor.at >= cursor.end) broken();
    this.flags = cursor.bytes[cursor.at++]!;
    this.window = this.#firstWindow + unzigzag(this.#number());
    this.bucket = this.#number();
    if (this.bucket > BUCKET_LAST || this.window < 0 || cursor.at + 8 > cursor.end) broken();
    this.high = this.#view.getUint32(cursor.at, true);
    this.low = this.#view.getUint32(cursor.at + 4, true);
    cursor.at += 8;
    return true;
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
  throw new Error("a message on spans is damaged");
}
