// The shard's side of spans, by service: windows that close into series of the service and of its operations.
import type { WordPool } from "../../../core/collections/word-pool.ts";
import { NAME_BYTES_MAX } from "../../../core/config/limits.ts";
import { FLAG_OPERATION } from "../../../core/layout/stream-record.ts";
import type { ByteReader } from "../../../domain/codec/byte-reader.ts";
import type { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import { MESSAGE_BYTES_MAX } from "../../../domain/codec/shard-message.ts";
import { BUCKET_LAST, DurationSketch, SKETCH_BYTES_MAX } from "../../../domain/trace/duration-sketch.ts";
import {
  type AggregateCell,
  type AggregateSeries,
  type AggregateWindow,
  OTHER_OPERATION,
  ServiceAggregate,
} from "../../../domain/trace/service-aggregate.ts";
import type { WindowOutcome } from "../../../domain/window/open-windows.ts";
import { ITEM_BYTES_MIN, type ServiceName, WindowMessageReader } from "../../../domain/window/window-message.ts";
import { closingOf, windowTimeMs } from "../../../domain/window/window-time.ts";
import { type AggregateKind, WindowedServices, type WindowShares } from "../../../domain/window/windowed-services.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { DerivedStream } from "../shard/derived-series.ts";
import type { LimitedSeries } from "../shard/limited-series.ts";

export interface SpanAggregatesDependencies {
  readonly series: Pick<LimitedSeries, "write" | "flush">;
  readonly counters: Pick<EngineCounters, "add">;
  readonly shares: WindowShares;
}

/** A span of a message as words: the place of its operation, then these. */
const FLAGS = 1;
const WINDOW = 2;
const BUCKET = 3;
const HIGH = 4;
const LOW = 5;
const SPAN_LENGTH = 6;

/** By measure; those that there was no room for are undefined. */
type Streams = Array<DerivedStream | undefined>;
type SpanAggregate = ServiceAggregate<Streams>;
type Cell = AggregateCell<Streams>;
type Operation = AggregateSeries<Streams>;

/** The measures of a cell, in the order of its streams. */
const MEASURES: ReadonlyArray<readonly [name: string, value: (cell: Cell) => number]> = [
  ["requests", ({ durations }) => durations.count],
  ["errors", ({ errors }) => errors],
  ["duration_ms.p50", ({ durations }) => durations.quantileMs(0.5)],
  ["duration_ms.p95", ({ durations }) => durations.quantileMs(0.95)],
  ["duration_ms.p99", ({ durations }) => durations.quantileMs(0.99)],
];

/** Services of all partitions of one engine. */
export class SpanAggregates {
  readonly #dependencies: SpanAggregatesDependencies;
  readonly services: WindowedServices<SpanAggregate, Cell, Operation>;
  /** The spans of the message at hand. */
  readonly #slots = new Int32Array(SPAN_LENGTH * Math.ceil(MESSAGE_BYTES_MAX / ITEM_BYTES_MIN));
  /** Sum of no meaning: keeps loads from being left out. */
  touched = 0;

  constructor(dependencies: SpanAggregatesDependencies) {
    this.#dependencies = dependencies;
    this.services = new WindowedServices(new SpanKind(dependencies), dependencies.shares);
  }

  /** Takes the spans of one message, which arrived at a wall time. */
  take(partition: number, payload: Uint8Array, arrivalWallMs: number): void {
    const { counters } = this.#dependencies;
    const reader = new WindowMessageReader(payload);
    const service = this.services.service(partition, reader.service);
    const cells = service?.aggregate.cells ?? 0;
    const most = service === undefined ? 0 : cells + this.services.available(service.name.tenant);
    const operations: Operation[] = [];
    const outcomes = { counted: 0, repeated: 0, late: 0, full: 0 };
    let others = 0;
    const spans = this.#read(reader, service?.aggregate, operations);
    for (let at = 0; at < spans; at += SPAN_LENGTH) {
      const operation = operations[this.#slots[at]!] as Operation;
      const outcome = service === undefined ? "full" : this.#takeOne(service.aggregate, operation, at, arrivalWallMs, most);
      outcomes[outcome]++;
      if (outcome === "counted" && operation.name === OTHER_OPERATION) others++;
    }
    if (service !== undefined) this.services.account(service, service.aggregate.cells - cells, outcomes.counted);
    if (service !== undefined && outcomes.full > 0) this.services.refuse(service.name.tenant, outcomes.full);
    counters.add("spansCounted", outcomes.counted);
    counters.add("spansRepeated", outcomes.repeated);
    counters.add("spansLate", outcomes.late);
    counters.add("spansDropped", outcomes.full);
    counters.add("spansUnnamed", others);
  }

  /** Reads a message into `#words`, adds its operations, and loads what its spans will be looked for in; answers how many words its spans take. */
  #read(reader: WindowMessageReader, aggregate: SpanAggregate | undefined, operations: Operation[]): number {
    const slots = this.#slots;
    let at = 0;
    for (; reader.next(); at += SPAN_LENGTH) {
      const { name, flags, window, amount: bucket, high, low } = reader;
      if (bucket > BUCKET_LAST) throw new Error(`a span has a duration of bucket ${bucket}`);
      if (reader.isNewName && aggregate !== undefined) operations.push(operationOf(aggregate, reader));
      slots[at] = name - 1;
      slots[at + FLAGS] = flags;
      slots[at + WINDOW] = window;
      slots[at + BUCKET] = bucket;
      slots[at + HIGH] = high;
      slots[at + LOW] = low;
    }
    this.touched = aggregate?.windows.lastIds?.touchAll(slots, LOW, at, SPAN_LENGTH) ?? 0;
    return at;
  }

  /** `most` cells of the service there may be. */
  #takeOne(aggregate: SpanAggregate, operation: Operation, at: number, arrivalWallMs: number, most: number) {
    const slots = this.#slots;
    const window = slots[at + WINDOW]!;
    const remaining = most - aggregate.cells;
    const closing = closingOf(window, arrivalWallMs);
    return aggregate.take(
      operation,
      slots[at + FLAGS]!,
      window,
      closing,
      slots[at + BUCKET]!,
      slots[at + HIGH]!,
      slots[at + LOW]!,
      remaining,
    );
  }
}

/** The operation of the item at hand, whose name is new in its message. */
function operationOf(aggregate: SpanAggregate, reader: WindowMessageReader): Operation {
  const { nameFrom } = reader;
  const known = aggregate.operationOfBytes(reader.dataView, nameFrom, reader.nameTo - nameFrom);
  if (known !== undefined) return known;
  const operation = aggregate.operation(reader.newName as string, reader.window);
  aggregate.rememberBytes(reader.dataView, nameFrom, reader.nameTo - nameFrom, operation);
  return operation;
}

/** Contents and results of the windows of spans. */
class SpanKind implements AggregateKind<SpanAggregate, Cell, Operation> {
  readonly #dependencies: SpanAggregatesDependencies;

  constructor(dependencies: SpanAggregatesDependencies) {
    this.#dependencies = dependencies;
  }

  make(pool: WordPool): SpanAggregate {
    return new ServiceAggregate<Streams>(pool);
  }

  end(name: ServiceName, _: SpanAggregate, open: AggregateWindow<Streams>, outcome: WindowOutcome, arrivalMs: number): void {
    if (outcome === "late") this.#dependencies.counters.add("spansLate", open.ids.size);
    if (outcome === "cut") this.#dependencies.counters.add("windowsCut", 1);
    for (const cell of open.content) {
      if (outcome === "whole") this.#write(name, cell, windowTimeMs(open.window), arrivalMs);
      if (cell.series.cellWindow !== open) continue;
      cell.series.cell = undefined;
      cell.series.cellWindow = undefined;
    }
  }

  /** Only series of operations take the bar of rule 1.1.8. */
  #write(name: ServiceName, cell: Cell, timeMs: number, arrivalMs: number): void {
    const { scope, name: operation } = cell.series;
    const [prefix, attributes, flags] = scope === "service" ? ["service", {}, 0] : (["span", { operation }, FLAG_OPERATION] as const);
    cell.series.streams ??= [];
    for (const [i, [measure, value]] of MEASURES.entries()) {
      const named = () => ({ ...name, metricName: `${prefix}.${measure}`, attributes });
      cell.series.streams[i] = this.#dependencies.series.write(cell.series.streams[i], named, flags, timeMs, value(cell), arrivalMs);
    }
  }

  flush(): void {
    this.#dependencies.series.flush();
  }

  entries({ operations }: SpanAggregate): Iterable<Operation> {
    return operations;
  }

  writeEntry(writer: ByteWriter, { name, lastWindow }: Operation): void {
    writer.text(name);
    writer.varint(lastWindow);
  }

  readEntry(reader: ByteReader, aggregate: SpanAggregate): void {
    aggregate.operation(reader.text(NAME_BYTES_MAX), reader.varint());
  }

  /** {scope u8, operation text, errors varint, durations} */
  writeCell(writer: ByteWriter, { series, errors, durations }: Cell): void {
    writer.u8(series.scope === "service" ? 0 : 1);
    writer.text(series.name);
    writer.varint(errors);
    writer.reserve(SKETCH_BYTES_MAX);
    writer.at = durations.write(writer.bytes, writer.at);
  }

  readCell(reader: ByteReader, aggregate: SpanAggregate, open: AggregateWindow<Streams>): void {
    const scope = reader.u8() === 0 ? "service" : "operation";
    const cell = aggregate.cell(open, aggregate.seriesOf(scope, reader.text(NAME_BYTES_MAX), open.window));
    cell.errors = reader.varint();
    const durations = DurationSketch.read(reader);
    if (durations === undefined) throw new Error("a checkpoint holds durations that this build cannot read");
    cell.durations = durations;
  }
}
