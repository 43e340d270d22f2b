// An ingest's message on items of one service, spans or logs, for the shard that counts them in windows. About 14 bytes an item:
//
//   kind u8 = 1, tenant text, environment text, service text, first window varint, then for each item
//   {name varint: 0 = a new one, which follows as text, else its number in this message from 1 on; flags u8; zigzag of window - first window varint;
//    amount varint; its key, high u32, low u32}
import { NumberTable } from "../../core/collections/number-table.ts";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import { unzigzag, writeVarint, zigzag } from "../codec/varint.ts";

export const MESSAGE_WINDOW = 1;
/** Size of an item whose numbers take a byte each. */
export const ITEM_BYTES_MIN = 12;
/** Bytes of an item without its name, at most. */
const ITEM_BYTES_MAX = 32;
/** Twice the numbered names that a message remembers; one beyond is written again. */
const NUMBERED_PLACES = 256;

/** Numbers of windows are below this: any two of them have a difference that a varint holds. */
const WINDOWS_MAX = 2 ** 48;

const DAMAGE = "a message on windows is damaged";

/** Where the items of a message come from. */
export interface ServiceName {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  /** Result of `encodeServiceName`, for a name that is written again and again. */
  readonly encoded?: Uint8Array;
}

/** For the name at hand. */
const nameWriter = new ByteWriter(256);

/** {tenant text, environment text, service text} */
export function writeServiceName(writer: ByteWriter, { tenant, environment, serviceId, encoded }: ServiceName): void {
  if (encoded !== undefined) {
    writer.copy(encoded);
    return;
  }
  writer.text(tenant);
  writer.text(environment);
  writer.text(serviceId);
}

/** The bytes that `writeServiceName` writes. */
export function encodeServiceName(name: ServiceName): Uint8Array {
  nameWriter.at = 0;
  writeServiceName(nameWriter, name);
  return nameWriter.bytes.slice(0, nameWriter.at);
}

/** Reads what `writeServiceName` wrote. */
export function readServiceName(reader: ByteReader): ServiceName {
  return { tenant: reader.text(NAME_BYTES_MAX), environment: reader.text(NAME_BYTES_MAX), serviceId: reader.text(NAME_BYTES_MAX) };
}

/** Goes behind what `writeServiceName` wrote. */
export function skipServiceName(reader: ByteReader): void {
  reader.skipText(NAME_BYTES_MAX);
  reader.skipText(NAME_BYTES_MAX);
  reader.skipText(NAME_BYTES_MAX);
}

/** A message in the making; kept and used for the next. */
export class WindowMessageWriter {
  readonly #writer = new ByteWriter(1024);
  readonly #names = new Map<string, number>();
  readonly #numbered = new NumberTable(NUMBERED_PLACES);
  #nameCount = 0;
  #firstWindow = 0;

  /** Bytes so far; 0 before `begin`. */
  get bytes(): number {
    return this.#writer.at;
  }

  /** Bytes that it holds on to. */
  get capacity(): number {
    return this.#writer.bytes.length;
  }

  begin(service: ServiceName, firstWindow: number): void {
    const writer = this.#writer;
    writer.u8(MESSAGE_WINDOW);
    writeServiceName(writer, service);
    writer.varint(firstWindow);
    this.#firstWindow = firstWindow;
  }

  add(name: string, flags: number, window: number, amount: number, high: number, low: number): void {
    const known = this.#names.get(name) ?? 0;
    if (known === 0) this.#names.set(name, this.#nameCount + 1);
    this.#add(name, known, flags, window, amount, high, low);
  }

  /** The same for a name with a number, which is always the same name; it may be given as encodeText() gives it. */
  addNumbered(name: string | Uint8Array, number: number, flags: number, window: number, amount: number, high: number, low: number): void {
    const known = this.#numbered.find(number);
    if (known === 0) this.#numbered.enter(number, this.#nameCount + 1);
    this.#add(name, known, flags, window, amount, high, low);
  }

  #add(name: string | Uint8Array, known: number, flags: number, window: number, amount: number, high: number, low: number): void {
    const writer = this.#writer;
    writer.varint(known);
    if (known === 0) {
      this.#nameCount++;
      if (typeof name === "string") writer.text(name);
      else writer.copy(name);
    }
    writer.reserve(ITEM_BYTES_MAX);
    const { bytes, view } = writer;
    let { at } = writer;
    bytes[at++] = flags;
    at = writeVarint(zigzag(window - this.#firstWindow), bytes, at);
    at = writeVarint(amount, bytes, at);
    view.setUint32(at, high, true);
    view.setUint32(at + 4, low, true);
    writer.at = at + 8;
  }

  /** The message, valid until the next `begin`. */
  finish(): Uint8Array {
    const message = this.#writer.bytes.subarray(0, this.#writer.at);
    this.#writer.at = 0;
    this.#names.clear();
    this.#numbered.clear();
    this.#nameCount = 0;
    return message;
  }
}

/** Writers that are kept for the next messages, 3 KiB each as a rule, and the largest of them. */
const WRITERS_RETAINED_MAX = 512;
const WRITER_BYTES_MAX = 16 * 1024;

/** Writers of the messages that one ingest has begun: a service that is new costs none of its own. */
export class WindowMessageWriters {
  readonly #spare: WindowMessageWriter[] = [];

  take(): WindowMessageWriter {
    return this.#spare.pop() ?? new WindowMessageWriter();
  }

  /** Takes a writer back whose message has been finished. */
  give(writer: WindowMessageWriter): void {
    if (this.#spare.length < WRITERS_RETAINED_MAX && writer.capacity <= WRITER_BYTES_MAX) this.#spare.push(writer);
  }
}

/** Reads a message item by item. Every method throws on bytes that no writer made. */
export class WindowMessageReader {
  readonly service: ServiceName;
  readonly #reader: ByteReader;
  readonly #firstWindow: number;
  #names = 0;
  /** Number of the name of the item at hand, and where the name itself, {bytes varint, UTF-8}, stands when it is new in this message. */
  name = 0;
  isNewName = false;
  nameFrom = 0;
  nameTo = 0;
  flags = 0;
  window = 0;
  amount = 0;
  high = 0;
  low = 0;

  constructor(payload: Uint8Array) {
    const reader = new ByteReader(payload, DAMAGE);
    this.#reader = reader;
    if (reader.u8() !== MESSAGE_WINDOW) reader.fail();
    this.service = readServiceName(reader);
    this.#firstWindow = reader.varint();
  }

  /** View that places of names count in. */
  get dataView(): DataView {
    return this.#reader.dataView;
  }

  /** The name of the item at hand where that is new in this message. */
  get newName(): string | undefined {
    if (!this.isNewName) return undefined;
    return new ByteReader(this.#reader.bytes, DAMAGE, this.nameFrom).text(NAME_BYTES_MAX);
  }

  /** Goes to the next item; false at the end. */
  next(): boolean {
    const reader = this.#reader;
    if (reader.isAtEnd) return false;
    const name = reader.varint();
    this.isNewName = name === 0;
    if (name === 0) {
      this.nameFrom = reader.at;
      reader.skipText(NAME_BYTES_MAX);
      this.nameTo = reader.at;
    }
    this.name = name === 0 ? ++this.#names : name;
    if (name > this.#names) reader.fail();
    this.flags = reader.u8();
    this.window = this.#firstWindow + unzigzag(reader.varint());
    this.amount = reader.varint();
    if (this.window < 0 || this.window >= WINDOWS_MAX) reader.fail();
    this.high = reader.u32();
    this.low = reader.u32();
    return true;
  }
}
