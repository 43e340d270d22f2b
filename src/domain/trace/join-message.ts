// An ingest's message on spans of some traces, for the shard that joins callers and callees. About 18 bytes a span without parent, 27 with one:
//
//   kind u8 = 4, first minute varint, then for each span
//   {service varint: 0 = a new one, whose tenant, environment and service follow as texts, else its number in this message from 1 on; flags u8; key, high u32,
//    low u32; zigzag of minute of its end - first minute varint; microseconds varint; without JOIN_CLIENT the hash of its operation u32; with JOIN_PEER
//    whom it calls by its attributes, a service as above; with JOIN_CHILD the parent's key, high u32, low u32}
//   kind 3, of logs that were written before: never with JOIN_PEER
//   kind 2, of older ones: without hash, and minute and microseconds only with JOIN_CHILD, behind the parent's key
import { NumberTable } from "../../core/collections/number-table.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import { unzigzag, writeVarint, zigzag } from "../codec/varint.ts";
import { readServiceName, type ServiceName, skipServiceName, writeServiceName } from "../window/window-message.ts";

export const MESSAGE_JOIN = 4;
/** As it was before spans named whom they call. */
export const MESSAGE_JOIN_UNNAMED = 3;
/** As it was before spans carried their operation. */
export const MESSAGE_JOIN_UNTIMED = 2;
/** Flags of a span: it has a parent; it failed; it is a call to another service, as its caller saw it; its attributes name whom it calls. */
export const JOIN_CHILD = 1;
export const JOIN_ERROR = 2;
export const JOIN_CLIENT = 8;
export const JOIN_PEER = 16;
/** Bytes of a span without its service, at most. */
const SPAN_BYTES_MAX = 40;
/** Twice the services that a message remembers; one beyond is named again. */
const SERVICE_PLACES = 256;
const DAMAGE = "a message on traces is damaged";

/** A message in the making. */
export class JoinMessageWriter {
  readonly #writer = new ByteWriter(512);
  readonly #services = new NumberTable(SERVICE_PLACES);
  #serviceCount = 0;
  #firstMinute = 0;

  get bytes(): number {
    return this.#writer.at;
  }

  begin(firstMinute: number): void {
    this.#writer.u8(MESSAGE_JOIN);
    this.#writer.varint(firstMinute);
    this.#firstMinute = firstMinute;
  }

  /**
   * Adds a span; `number` is always the same service, and `operation` the hash of its operation's name. With JOIN_PEER addPeer() must follow, with JOIN_CHILD
   * addParent().
   */
  add(
    service: ServiceName,
    number: number,
    flags: number,
    high: number,
    low: number,
    minute: number,
    microseconds: number,
    operation: number,
  ): void {
    const writer = this.#writer;
    this.#writeService(service, number);
    writer.reserve(SPAN_BYTES_MAX);
    const { at, view, bytes } = writer;
    bytes[at] = flags;
    view.setUint32(at + 1, high, true);
    view.setUint32(at + 5, low, true);
    writer.at = writeVarint(microseconds, bytes, writeVarint(zigzag(minute - this.#firstMinute), bytes, at + 9));
    if ((flags & JOIN_CLIENT) !== 0) return;
    view.setInt32(writer.at, operation, true);
    writer.at += 4;
  }

  #writeService(service: ServiceName, number: number): void {
    const known = this.#services.find(number);
    this.#writer.varint(known);
    if (known > 0) return;
    this.#services.enter(number, ++this.#serviceCount);
    writeServiceName(this.#writer, service);
  }

  /** Goes on with a span that was added with JOIN_PEER; numbers are those of services. */
  addPeer(peer: ServiceName, number: number): void {
    this.#writeService(peer, number);
  }

  /** Goes on with a span that was added with JOIN_CHILD. */
  addParent(high: number, low: number): void {
    const writer = this.#writer;
    writer.reserve(SPAN_BYTES_MAX);
    const { at, view } = writer;
    view.setUint32(at, high, true);
    view.setUint32(at + 4, low, true);
    writer.at = at + 8;
  }

  /** The message, valid until the next `begin`. */
  finish(): Uint8Array {
    const message = this.#writer.bytes.subarray(0, this.#writer.at);
    this.#writer.at = 0;
    this.#services.clear();
    this.#serviceCount = 0;
    return message;
  }
}

/** Reads a message span by span. Every method throws on bytes that no writer made. */
export class JoinMessageReader {
  readonly #reader: ByteReader;
  readonly #firstMinute: number;
  readonly #isTimed: boolean;
  #services = 0;
  /** Number of the service of the span at hand, and where its names stand when it is new in this message. */
  service = 0;
  isNewService = false;
  nameFrom = 0;
  nameTo = 0;
  /** The same of whom it calls; 0 where it names nobody. */
  peer = 0;
  isNewPeer = false;
  peerNameFrom = 0;
  peerNameTo = 0;
  flags = 0;
  high = 0;
  low = 0;
  parentHigh = 0;
  parentLow = 0;
  minute = 0;
  microseconds = 0;
  /** Hash of the operation, where `hasOperation`. */
  operation = 0;
  hasOperation = false;

  constructor(payload: Uint8Array) {
    const reader = new ByteReader(payload, DAMAGE);
    this.#reader = reader;
    const kind = reader.u8();
    if (kind !== MESSAGE_JOIN && kind !== MESSAGE_JOIN_UNNAMED && kind !== MESSAGE_JOIN_UNTIMED) reader.fail();
    this.#isTimed = kind !== MESSAGE_JOIN_UNTIMED;
    this.#firstMinute = reader.varint();
  }

  /** Goes to the next span; false at the end. */
  next(): boolean {
    const reader = this.#reader;
    if (reader.isAtEnd) return false;
    const service = reader.varint();
    this.isNewService = service === 0;
    if (service === 0) {
      this.nameFrom = reader.at;
      skipServiceName(reader);
      this.nameTo = reader.at;
    }
    this.service = service === 0 ? ++this.#services : service;
    if (service > this.#services) reader.fail();
    this.flags = reader.u8();
    this.high = reader.u32();
    this.low = reader.u32();
    if (this.#isTimed) this.#readTimes();
    this.#readPeer();
    if ((this.flags & JOIN_CHILD) !== 0) this.#readParent();
    return true;
  }

  #readTimes(): void {
    const reader = this.#reader;
    this.#readMinute();
    this.hasOperation = (this.flags & JOIN_CLIENT) === 0;
    if (this.hasOperation) this.operation = reader.u32() | 0;
  }

  #readPeer(): void {
    const reader = this.#reader;
    this.peer = 0;
    this.isNewPeer = false;
    if ((this.flags & JOIN_PEER) === 0) return;
    const peer = reader.varint();
    this.isNewPeer = peer === 0;
    if (peer === 0) {
      this.peerNameFrom = reader.at;
      skipServiceName(reader);
      this.peerNameTo = reader.at;
    }
    this.peer = peer === 0 ? ++this.#services : peer;
    if (peer > this.#services) reader.fail();
  }

  #readMinute(): void {
    const reader = this.#reader;
    this.minute = this.#firstMinute + unzigzag(reader.varint());
    this.microseconds = reader.varint();
    if (this.minute < 0) reader.fail();
  }

  /** View that places of names count in. */
  get dataView(): DataView {
    return this.#reader.dataView;
  }

  get newService(): ServiceName | undefined {
    return this.isNewService ? this.#nameAt(this.nameFrom) : undefined;
  }

  get newPeer(): ServiceName | undefined {
    return this.isNewPeer ? this.#nameAt(this.peerNameFrom) : undefined;
  }

  #nameAt(at: number): ServiceName {
    return readServiceName(new ByteReader(this.#reader.bytes, DAMAGE, at));
  }

  #readParent(): void {
    const reader = this.#reader;
    this.parentHigh = reader.u32();
    this.parentLow = reader.u32();
    if (!this.#isTimed) this.#readMinute();
  }
}
