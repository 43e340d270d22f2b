// Services whose items a shard counts in windows: which are open, when the next closes, how much they hold, and the pieces that checkpoints keep of them.
// What is due is closed in slices between which bodies and questions have their turn, and tenants take turns in them: 20,000 services of one with ten series
// each held an engine for 1.7 s. A service whose windows have not been closed yet goes on taking what arrived in time for them.
//
//
//   kind u8, tenant text, environment text, service text, then
//   SERVICE     newest closing varint, closed windows, the aggregate's own entries
//   CELLS       window varint, closing varint, cells ...
//   IDS         window varint, closing varint, {high u32, low u32} ...
//   WAITING     as CELLS, of a closed window that waits for its successor

import type { IdSet } from "../../core/collections/id-set.ts";
import { WordPool } from "../../core/collections/word-pool.ts";
import { HANDLER_PIECE_BYTES, WINDOW_IDS_RETAINED_BYTES_MAX } from "../../core/config/limits.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import { ClosedWindows } from "./closed-windows.ts";
import type { OpenWindow, OpenWindows, WindowOutcome } from "./open-windows.ts";
import { readServiceName, type ServiceName, writeServiceName } from "./window-message.ts";
import { closingMs, closingsUpTo } from "./window-time.ts";

const PIECE_SERVICE = 1;
const PIECE_CELLS = 2;
const PIECE_IDS = 3;
const PIECE_WAITING = 5;
const ID_BYTES = 8;
/** Blocks of several engines are replayed in the order of their last bodies: a message may be so much older than the one before. */
const REPLAY_SLACK_MS = 2_000;
/** A closing so long ago was missed because the server was down: it says nothing of the latency. */
const MISSED_MS = 60_000;
/** Cells, or services without one, that a slice closes: with the streams of new ones some 20 to 50 us each. */
const CLOSED_PER_SLICE = 16;
/** A service without items for so many closings, a day, is forgotten. */
const IDLE_CLOSINGS = 9_000;

/** Counts of one service. */
export interface Aggregate<C> {
  readonly windows: OpenWindows<C[]>;
  /** Cells of open windows. */
  cells: number;
}

/** Operations of one kind of items on its aggregates: `C` is a cell, `E` an entry that an aggregate keeps besides its windows. */
export interface AggregateKind<F extends Aggregate<C>, C, E> {
  /** `pool` is where the ids of its windows lie. */
  make(pool: WordPool): F;
  end(name: ServiceName, aggregate: F, open: OpenWindow<C[]>, outcome: WindowOutcome, arrivalMs: number): void;
  /** Some windows have ended, and something else comes now. */
  flush(): void;
  entries(aggregate: F): Iterable<E>;
  writeEntry(writer: ByteWriter, entry: E): void;
  readEntry(reader: ByteReader, aggregate: F): void;
  writeCell(writer: ByteWriter, cell: C): void;
  readCell(reader: ByteReader, aggregate: F, open: OpenWindow<C[]>): void;
}

export interface WindowedService<F> {
  readonly name: ServiceName;
  readonly aggregate: F;
}

/** Shares of tenants in an engine's room for one kind of items. */
export interface WindowShares {
  readonly services: ShareLedger;
  /** Cells of open windows. */
  readonly cells: ShareLedger;
  /** Ids that open windows remember. */
  readonly ids: ShareLedger;
}

/** Services that wait for their windows to be closed. */
interface Closing<F> {
  readonly upTo: number;
  /** By tenant; the one whose turn is next comes first. */
  readonly rest: Map<string, Iterator<WindowedService<F>>>;
}

/** The services of one engine and one kind of items. */
export class WindowedServices<F extends Aggregate<C>, C, E> {
  readonly #kind: AggregateKind<F, C, E>;
  readonly #shares: WindowShares;
  readonly #pool = new WordPool(WINDOW_IDS_RETAINED_BYTES_MAX);
  readonly #partitions: Array<Map<string, WindowedService<F>>> = Array.from({ length: PARTITIONS }, () => new Map());
  /** Those with open windows, by tenant. */
  readonly #active = new Map<string, Set<WindowedService<F>>>();
  #nextClosing = Number.POSITIVE_INFINITY;
  /** The closing under way, and the next closing of what it has gone over and of what came meanwhile. */
  #closing: Closing<F> | undefined;
  #nextBehind = Number.POSITIVE_INFINITY;
  /** The newest closing that has been done. */
  #newest = 0;

  constructor(kind: AggregateKind<F, C, E>, shares: WindowShares) {
    this.#kind = kind;
    this.#shares = shares;
  }

  *[Symbol.iterator](): Generator<WindowedService<F>> {
    for (const services of this.#partitions) yield* services.values();
  }

  /** Wall time at which the next window closes; Infinity for none. */
  get dueMs(): number {
    return closingMs(this.#nextClosing);
  }

  /** Number of further cells that a tenant may have. */
  available(tenant: string): number {
    return this.#shares.ids.available(tenant) > 0 ? this.#shares.cells.available(tenant) : 0;
  }

  /** Counts items for which there was no room. */
  refuse(tenant: string, count: number): void {
    const { ids, cells } = this.#shares;
    (ids.available(tenant) > 0 ? cells : ids).refuse(tenant, count);
  }

  /** The service of that name, where there is one. */
  find(partition: number, name: ServiceName): WindowedService<F> | undefined {
    return this.#partitions[partition]?.get(keyOf(name));
  }

  /** The service of that name, made at first; undefined when its tenant has too many. */
  service(partition: number, name: ServiceName): WindowedService<F> | undefined {
    const key = keyOf(name);
    const known = (this.#partitions[partition] as Map<string, WindowedService<F>>).get(key);
    if (known === undefined && !this.#shares.services.take(name.tenant)) return undefined;
    const service = known ?? this.#add(partition, key, name);
    this.#activate(service);
    return service;
  }

  #activate(service: WindowedService<F>): void {
    const { tenant } = service.name;
    const active = this.#active.get(tenant);
    if (active === undefined) this.#active.set(tenant, new Set([service]));
    else active.add(service);
  }

  #add(partition: number, key: string, name: ServiceName): WindowedService<F> {
    const service = { name, aggregate: this.#kind.make(this.#pool) };
    (this.#partitions[partition] as Map<string, WindowedService<F>>).set(key, service);
    return service;
  }

  /** Notes what a service has taken. */
  account({ name, aggregate }: WindowedService<F>, cells: number, ids: number): void {
    this.#shares.cells.add(name.tenant, cells);
    this.#shares.ids.add(name.tenant, ids);
    const next = aggregate.windows.nextClosing;
    this.#nextClosing = Math.min(this.#nextClosing, next);
    this.#nextBehind = Math.min(this.#nextBehind, next);
  }

  /** Ends a slice of what is due by the wall clock, which is at `monotonicMs` on the other; true at the end of all of it. Else `dueMs` stays in the past. */
  closeDue(wallMs: number, monotonicMs: number): boolean {
    return this.#close(closingsUpTo(wallMs), (atMs) => (wallMs - atMs < MISSED_MS ? monotonicMs - (wallMs - atMs) : 0), CLOSED_PER_SLICE);
  }

  /** Ends what was due before a message that a replay brings: nobody looks at the clock meanwhile. */
  closeReplayed(arrivalWallMs: number): void {
    if (this.dueMs <= arrivalWallMs - REPLAY_SLACK_MS)
      this.#close(closingsUpTo(arrivalWallMs - REPLAY_SLACK_MS), () => 0, Number.POSITIVE_INFINITY);
  }

  /** Ends `most` of what is due up to a closing, or goes on with the one under way; `arrivalOf` says at which monotonic time a closing's values arrived. */
  #close(upTo: number, arrivalOf: (closingAtMs: number) => number, most: number): boolean {
    const closing = this.#closing ?? this.#beginClosing(upTo);
    for (let left = most; left > 0 && closing.rest.size > 0; ) left -= this.#closeNext(closing, arrivalOf);
    this.#kind.flush();
    if (closing.rest.size > 0) return false;
    this.#closing = undefined;
    this.#nextClosing = this.#nextBehind;
    this.#newest = Math.max(this.#newest, closing.upTo);
    return true;
  }

  #beginClosing(upTo: number): Closing<F> {
    this.#nextBehind = Number.POSITIVE_INFINITY;
    this.#closing = { upTo, rest: new Map(Array.from(this.#active, ([tenant, services]) => [tenant, services.values()])) };
    return this.#closing;
  }

  /** Ends the windows of the next service of the tenant whose turn it is, which is the last then; what that counts for. */
  #closeNext({ upTo, rest }: Closing<F>, arrivalOf: (closingAtMs: number) => number): number {
    const [tenant, services] = rest.entries().next().value as [string, Iterator<WindowedService<F>>];
    rest.delete(tenant);
    const next = services.next();
    if (next.done === true) return 0;
    rest.set(tenant, services);
    return 1 + this.#closeOne(next.value, upTo, arrivalOf);
  }

  /** Cells of the windows that it ended. */
  #closeOne(service: WindowedService<F>, upTo: number, arrivalOf: (closingAtMs: number) => number): number {
    const { name, aggregate } = service;
    let cells = 0;
    for (const { open, outcome, closing } of aggregate.windows.close(upTo)) {
      this.#shares.cells.give(name.tenant, open.content.length);
      this.#shares.ids.give(name.tenant, open.ids.size);
      aggregate.cells -= open.content.length;
      cells += open.content.length;
      this.#kind.end(name, aggregate, open, outcome, arrivalOf(closingMs(closing)));
      open.ids.release();
    }
    if (aggregate.windows.size === 0) this.#deactivate(service);
    else this.#nextBehind = Math.min(this.#nextBehind, aggregate.windows.nextClosing);
    return cells;
  }

  #deactivate(service: WindowedService<F>): void {
    const { tenant } = service.name;
    const active = this.#active.get(tenant) as Set<WindowedService<F>>;
    active.delete(service);
    if (active.size === 0) this.#active.delete(tenant);
  }

  /** Pieces of a partition's services; those that are idle are forgotten. */
  save(partition: number): Uint8Array[] {
    const services = this.#partitions[partition] as Map<string, WindowedService<F>>;
    const pieces: Uint8Array[] = [];
    for (const [key, service] of services) {
      const { windows } = service.aggregate;
      if (windows.size === 0 && windows.closedUpTo < this.#newest - IDLE_CLOSINGS) {
        services.delete(key);
        this.#shares.services.give(service.name.tenant);
      } else pieces.push(...this.#pieces(service));
    }
    return pieces;
  }

  *#pieces({ name, aggregate }: WindowedService<F>): Generator<Uint8Array> {
    const { windows } = aggregate;
    let closed = windows.closed;
    const beginService = () => {
      const writer = head(PIECE_SERVICE, name);
      writer.varint(windows.closedUpTo);
      closed.write(writer);
      closed = new ClosedWindows();
      return writer;
    };
    yield* pieces(this.#kind.entries(aggregate), beginService, (writer, entry) => this.#kind.writeEntry(writer, entry));
    for (const open of windows.values()) {
      yield* this.#cells(name, PIECE_CELLS, open);
      yield* idPieces(open.ids, () => windowHead(PIECE_IDS, name, open));
    }
    for (const open of windows.waiting) yield* this.#cells(name, PIECE_WAITING, open);
  }

  #cells(name: ServiceName, kind: number, open: OpenWindow<C[]>): Generator<Uint8Array> {
    return pieces(
      open.content,
      () => windowHead(kind, name, open),
      (writer, cell) => this.#kind.writeCell(writer, cell),
    );
  }

  /** Takes a piece back. Throws on bytes that `save` did not write. */
  restore(partition: number, piece: Uint8Array): void {
    const reader = new ByteReader(piece, "a checkpoint holds windows that this build cannot read");
    const kind = reader.u8();
    const service = this.#restored(partition, readServiceName(reader));
    if (kind === PIECE_SERVICE) this.#restoreService(reader, service.aggregate);
    else if (kind === PIECE_CELLS || kind === PIECE_IDS || kind === PIECE_WAITING) this.#restoreWindow(reader, service, kind);
    else reader.fail();
  }

  /** Service of a restored piece; it was held before: it stays, whoever else is here. */
  #restored(partition: number, name: ServiceName): WindowedService<F> {
    const key = keyOf(name);
    let service = (this.#partitions[partition] as Map<string, WindowedService<F>>).get(key);
    if (service === undefined) {
      this.#shares.services.add(name.tenant);
      service = this.#add(partition, key, name);
    }
    this.#activate(service);
    return service;
  }

  #restoreService(reader: ByteReader, aggregate: F): void {
    aggregate.windows.closedUpTo = reader.varint();
    const closed = ClosedWindows.read(reader) ?? reader.fail();
    if (!closed.isEmpty) aggregate.windows.closed = closed;
    while (!reader.isAtEnd) this.#kind.readEntry(reader, aggregate);
  }

  #restoreWindow(reader: ByteReader, service: WindowedService<F>, kind: number): void {
    const { aggregate } = service;
    const [window, closing] = [reader.varint(), reader.varint()];
    const open = kind === PIECE_WAITING ? aggregate.windows.wait(window, closing) : aggregate.windows.take(window, closing);
    // What came late for a window that has been closed since is late still.
    if (open === undefined) return;
    const [cells, ids] = [aggregate.cells, open.ids.size];
    if (kind === PIECE_IDS) while (!reader.isAtEnd) open.ids.add(reader.u32(), reader.u32());
    else while (!reader.isAtEnd) this.#kind.readCell(reader, aggregate, open);
    this.account(service, aggregate.cells - cells, open.ids.size - ids);
  }
}

function keyOf({ tenant, environment, serviceId }: ServiceName): string {
  return JSON.stringify([tenant, environment, serviceId]);
}

/** The piece at hand: it is copied before the next begins. A new buffer for each costs more than all that stands in a service of one window. */
const pieceWriter = new ByteWriter(HANDLER_PIECE_BYTES);

function head(kind: number, name: ServiceName): ByteWriter {
  const writer = pieceWriter;
  writer.at = 0;
  writer.u8(kind);
  writeServiceName(writer, name);
  return writer;
}

function windowHead(kind: number, name: ServiceName, { window, closing }: OpenWindow<unknown>): ByteWriter {
  const writer = head(kind, name);
  writer.varint(window);
  writer.varint(closing);
  return writer;
}

/** Joins what `write` writes of each item to pieces that begin with a head; one piece at least. */
function* pieces<T>(items: Iterable<T>, begin: () => ByteWriter, write: (writer: ByteWriter, item: T) => void): Generator<Uint8Array> {
  let writer = begin();
  for (const item of items) {
    if (writer.at > HANDLER_PIECE_BYTES) {
      yield writer.bytes.slice(0, writer.at);
      writer = begin();
    }
    write(writer, item);
  }
  yield writer.bytes.slice(0, writer.at);
}

/** Ids two words each, in pieces that begin with a head; one piece at least. */
function* idPieces(ids: IdSet, begin: () => ByteWriter): Generator<Uint8Array> {
  const slots = ids.list();
  let at = 0;
  do {
    const writer = begin();
    writer.reserve(Math.min(HANDLER_PIECE_BYTES + ID_BYTES, 4 * (slots.length - at)));
    for (; at < slots.length && writer.at <= HANDLER_PIECE_BYTES; at += 2) {
      writer.view.setUint32(writer.at, slots[at]!, true);
      writer.view.setUint32(writer.at + 4, slots[at + 1]!, true);
      writer.at += ID_BYTES;
    }
    yield writer.bytes.slice(0, writer.at);
  } while (at < slots.length);
}
