// The shard's side of spans, by service: windows that close into series. What is kept of a partition is written as pieces:
//
//   kind u8, tenant text, environment text, service text, then
//   SERVICE     newest closing varint, closed windows, {operation text, its last window varint} ...
//   CELLS       window varint, closing varint, {scope u8, operation text, errors varint, durations} ...
//   IDS         window varint, closing varint, {high u32, low u32} ...
import { FOLD_CELLS_MAX, FOLDED_SERVICES_MAX, HANDLER_PIECE_BYTES, NAME_BYTES_MAX, WINDOW_IDS_MAX } from "../../../core/config/limits.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import { FLAG_OPERATION } from "../../../core/layout/stream-record.ts";
import { ByteSink } from "../../../domain/codec/byte-sink.ts";
import { type ByteCursor, readText, readVarint } from "../../../domain/codec/varint.ts";
import { serviceText } from "../../../domain/trace/call-edges.ts";
import { DurationSketch, SKETCH_BYTES_MAX } from "../../../domain/trace/duration-sketch.ts";
import { FoldMessageReader, type ServiceName } from "../../../domain/trace/fold-message.ts";
import { type FoldCell, type FoldSeries, type FoldWindow, OTHER_OPERATION, ServiceFold } from "../../../domain/trace/service-fold.ts";
import { ClosedWindows } from "../../../domain/window/closed-windows.ts";
import { closingMs, closingOf, windowTimeMs } from "../../../domain/window/window-time.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { DerivedSeries, DerivedStream } from "../messages/derived-series.ts";

export const PIECE_SERVICE = 1;
export const PIECE_CELLS = 2;
export const PIECE_IDS = 3;
const ID_BYTES = 8;
/** A service without spans for so many closings, a day, is forgotten. */
const IDLE_CLOSINGS = 9_000;

/** What derived values are written with. */
export type SeriesWriter = Pick<DerivedSeries, "open" | "write" | "flush">;

export interface SpanFoldsDependencies {
  readonly series: SeriesWriter;
  readonly counters: Pick<EngineCounters, "add">;
}

type Streams = readonly DerivedStream[];

interface FoldedService {
  readonly name: ServiceName;
  readonly fold: ServiceFold<Streams>;
}

/** The measures of a cell, in the order of its streams. */
const MEASURES: ReadonlyArray<readonly [name: string, value: (cell: FoldCell<Streams>) => number]> = [
  ["requests", ({ durations }) => durations.count],
  ["errors", ({ errors }) => errors],
  ["duration_ms.p50", ({ durations }) => durations.quantileMs(0.5)],
  ["duration_ms.p95", ({ durations }) => durations.quantileMs(0.95)],
  ["duration_ms.p99", ({ durations }) => durations.quantileMs(0.99)],
];

/** Services of all partitions of one engine. */
export class SpanFolds {
  readonly #dependencies: SpanFoldsDependencies;
  readonly #partitions: Array<Map<string, FoldedService>> = Array.from({ length: PARTITIONS }, () => new Map());
  /** Those with open windows. */
  readonly #active = new Set<FoldedService>();
  #services = 0;
  #cells = 0;
  #ids = 0;
  /** The next closing that has something to close. */
  nextClosing = Number.POSITIVE_INFINITY;

  constructor(dependencies: SpanFoldsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes the spans of one message, which arrived at a wall time. */
  take(partition: number, payload: Uint8Array, arrivalWallMs: number): void {
    const { counters } = this.#dependencies;
    const reader = new FoldMessageReader(payload);
    const service = this.#service(partition, reader.service);
    const cells = service?.fold.cells ?? 0;
    const operations: FoldSeries<Streams>[] = [];
    const outcomes = { counted: 0, repeated: 0, late: 0, full: 0 };
    let others = 0;
    while (reader.next()) {
      if (service === undefined) {
        outcomes.full++;
        continue;
      }
      if (reader.newName !== undefined) operations.push(service.fold.operation(reader.newName, reader.window));
      const operation = operations[reader.operation - 1] as FoldSeries<Streams>;
      const closing = closingOf(reader.window, arrivalWallMs);
      const outcome = this.#takeOne(service, operation, reader, closing);
      outcomes[outcome]++;
      if (outcome === "counted" && operation.name === OTHER_OPERATION) others++;
    }
    if (service !== undefined) this.#account(service, service.fold.cells - cells, outcomes.counted);
    counters.add("spansCounted", outcomes.counted);
    counters.add("spansRepeated", outcomes.repeated);
    counters.add("spansLate", outcomes.late);
    counters.add("spansDropped", outcomes.full);
    counters.add("spansUnnamed", others);
  }

  #takeOne({ fold }: FoldedService, operation: FoldSeries<Streams>, reader: FoldMessageReader, closing: number) {
    const { flags, window, bucket, high, low } = reader;
    const room = this.#ids < WINDOW_IDS_MAX ? FOLD_CELLS_MAX - this.#cells : 0;
    return fold.take(operation, flags, window, closing, bucket, high, low, room);
  }

  #account({ fold }: FoldedService, cells: number, ids: number): void {
    this.#cells += cells;
    this.#ids += ids;
    this.nextClosing = Math.min(this.nextClosing, fold.windows.nextClosing);
  }

  #service(partition: number, name: ServiceName): FoldedService | undefined {
    const services = this.#partitions[partition] as Map<string, FoldedService>;
    const text = serviceText(name);
    let service = services.get(text);
    if (service === undefined) {
      if (this.#services >= FOLDED_SERVICES_MAX) return undefined;
      service = { name, fold: new ServiceFold<Streams>() };
      services.set(text, service);
      this.#services++;
    }
    this.#active.add(service);
    return service;
  }

  /** Closes what is due up to a closing; `arrivalOf` says which monotonic time a closing's values arrived at. */
  close(upTo: number, arrivalOf: (closingAtMs: number) => number): void {
    for (const service of this.#active) {
      for (const { open, isLate } of service.fold.windows.close(upTo)) this.#end(service, open, isLate, arrivalOf(closingMs(open.closing)));
      if (service.fold.windows.size === 0) this.#active.delete(service);
    }
    this.#dependencies.series.flush();
    this.nextClosing = Number.POSITIVE_INFINITY;
    for (const { fold } of this.#active) this.nextClosing = Math.min(this.nextClosing, fold.windows.nextClosing);
  }

  #end(service: FoldedService, open: FoldWindow<Streams>, isLate: boolean, arrivalMs: number): void {
    this.#account(service, -open.content.length, -open.ids.size);
    service.fold.cells -= open.content.length;
    if (isLate) this.#dependencies.counters.add("spansLate", open.ids.size);
    for (const cell of open.content) {
      if (!isLate) this.#write(service.name, cell, windowTimeMs(open.window), arrivalMs);
      if (cell.series.cellWindow === open) {
        cell.series.cell = undefined;
        cell.series.cellWindow = undefined;
      }
    }
  }

  #write(name: ServiceName, cell: FoldCell<Streams>, timeMs: number, arrivalMs: number): void {
    const { series } = this.#dependencies;
    cell.series.streams ??= this.#open(name, cell.series);
    cell.series.streams.forEach((stream, i) => {
      series.write(stream, timeMs, (MEASURES[i] as (typeof MEASURES)[number])[1](cell), arrivalMs);
    });
  }

  /** Only series of operations take the bar of rule 1.1.8. */
  #open(name: ServiceName, { scope, name: operation }: FoldSeries<Streams>): Streams {
    const [prefix, attributes, flags] = scope === "service" ? ["service", {}, 0] : (["span", { operation }, FLAG_OPERATION] as const);
    return MEASURES.map(([measure]) => this.#dependencies.series.open({ ...name, metricName: `${prefix}.${measure}`, attributes }, flags));
  }

  /** Pieces of a partition's services. */
  save(partition: number): Uint8Array[] {
    const services = this.#partitions[partition] as Map<string, FoldedService>;
    const pieces: Uint8Array[] = [];
    for (const [text, service] of services) {
      const { windows } = service.fold;
      if (windows.size === 0 && windows.closedUpTo < this.nextClosing - IDLE_CLOSINGS && Number.isFinite(this.nextClosing)) {
        services.delete(text);
        this.#services--;
      } else pieces.push(...servicePieces(service));
    }
    return pieces;
  }

  restore(partition: number, piece: Uint8Array): void {
    const cursor: ByteCursor = { bytes: piece, at: 1, end: piece.length };
    const name = { tenant: text(cursor), environment: text(cursor), serviceId: text(cursor) };
    const service = this.#service(partition, name);
    if (service === undefined) return;
    const { cells } = service.fold;
    if (piece[0] === PIECE_SERVICE) restoreService(cursor, service.fold);
    else {
      const open = service.fold.windows.take(number(cursor), number(cursor));
      const ids = open?.ids.size ?? 0;
      // What came late for a window that has been closed since is late still.
      if (open === undefined) return;
      if (piece[0] === PIECE_CELLS) restoreCells(cursor, service.fold, open);
      else if (piece[0] === PIECE_IDS) restoreIds(cursor, open);
      else damaged();
      this.#account(service, service.fold.cells - cells, open.ids.size - ids);
    }
  }
}

function head(kind: number, { tenant, environment, serviceId }: ServiceName): ByteSink {
  const sink = new ByteSink(1024);
  sink.u8(kind);
  sink.text(tenant);
  sink.text(environment);
  sink.text(serviceId);
  return sink;
}

/** Joins what `write` writes of each item to pieces that begin with a head. */
function* pieces<T>(items: Iterable<T>, begin: () => ByteSink, write: (sink: ByteSink, item: T) => void): Generator<Uint8Array> {
  let sink = begin();
  let count = 0;
  for (const item of items) {
    if (sink.at > HANDLER_PIECE_BYTES) {
      yield sink.bytes.slice(0, sink.at);
      sink = begin();
      count = 0;
    }
    write(sink, item);
    count++;
  }
  if (count > 0) yield sink.bytes.slice(0, sink.at);
}

function* servicePieces({ name, fold }: FoldedService): Generator<Uint8Array> {
  const { windows } = fold;
  const service = head(PIECE_SERVICE, name);
  service.varint(windows.closedUpTo);
  windows.closed.write(service);
  const again = () => {
    const sink = head(PIECE_SERVICE, name);
    sink.varint(windows.closedUpTo);
    sink.varint(0);
    return sink;
  };
  yield service.bytes.slice(0, service.at);
  yield* pieces(fold.operations, again, (sink, { name: operation, lastWindow }) => {
    sink.text(operation);
    sink.varint(lastWindow);
  });
  for (const open of windows.values()) {
    const begin = (kind: number) => () => {
      const sink = head(kind, name);
      sink.varint(open.window);
      sink.varint(open.closing);
      return sink;
    };
    yield* pieces(open.content, begin(PIECE_CELLS), writeCell);
    yield* pieces(idsOf(open), begin(PIECE_IDS), (sink, [high, low]) => {
      sink.u32(high);
      sink.u32(low);
    });
  }
}

function writeCell(sink: ByteSink, { series, errors, durations }: FoldCell<Streams>): void {
  sink.u8(series.scope === "service" ? 0 : 1);
  sink.text(series.name);
  sink.varint(errors);
  sink.reserve(SKETCH_BYTES_MAX);
  sink.at = durations.write(sink.bytes, sink.at);
}

function idsOf({ ids }: FoldWindow<Streams>): Array<readonly [number, number]> {
  const list: Array<readonly [number, number]> = [];
  ids.forEach((high, low) => list.push([high, low]));
  return list;
}

function restoreService(cursor: ByteCursor, fold: ServiceFold<Streams>): void {
  const { windows } = fold;
  windows.closedUpTo = number(cursor);
  const closed = ClosedWindows.read(cursor) ?? damaged();
  if (cursor.at === cursor.end) windows.closed = closed;
  while (cursor.at < cursor.end) fold.operation(text(cursor), number(cursor));
}

function restoreCells(cursor: ByteCursor, fold: ServiceFold<Streams>, open: FoldWindow<Streams>): void {
  while (cursor.at < cursor.end) {
    const scope = cursor.bytes[cursor.at++] === 0 ? "service" : "operation";
    const cell = fold.cell(open, fold.seriesOf(scope, text(cursor), open.window));
    cell.errors = number(cursor);
    cell.durations = DurationSketch.read(cursor) ?? damaged();
  }
}

function restoreIds(cursor: ByteCursor, { ids }: FoldWindow<Streams>): void {
  const view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.byteLength);
  for (; cursor.at + ID_BYTES <= cursor.end; cursor.at += ID_BYTES)
    ids.add(view.getUint32(cursor.at, true), view.getUint32(cursor.at + 4, true));
}

function number(cursor: ByteCursor): number {
  const value = readVarint(cursor);
  return value < 0 ? damaged() : value;
}

function text(cursor: ByteCursor): string {
  return readText(cursor, NAME_BYTES_MAX) ?? damaged();
}

function damaged(): never {
  throw new Error("a checkpoint holds windows of spans that this build cannot read");
}
