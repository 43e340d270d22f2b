// Aggregates the spans of one service into windows: requests, errors and durations of the service and of each operation (decisions: 10 s by end time).
// Sketch: 60-100 ns a span while its window and operation are those in cache; 0.3-1 KiB for an operation in a window.
import { ByteMap } from "../../core/collections/byte-map.ts";
import type { WordPool } from "../../core/collections/word-pool.ts";
import type { OpenWindow } from "../window/open-windows.ts";
import { OpenWindows } from "../window/open-windows.ts";
import { DurationSketch } from "./duration-sketch.ts";

/** Flags of a span: it counts as a request of its service; it failed. */
export const SPAN_REQUEST = 1;
export const SPAN_ERROR = 2;
/** Operations of a service that have series of their own; the names beyond aggregate into OTHER. */
const OPERATIONS_MAX = 200;
/** An operation that was not seen for so many windows (a day) gives its place to another. */
const OPERATION_IDLE_WINDOWS = 8_640;
export const OTHER_OPERATION = "other";

/** An operation, or the service as a whole, and what its owner keeps with it. */
export interface AggregateSeries<S> {
  readonly name: string;
  readonly scope: "service" | "operation";
  lastWindow: number;
  streams: S | undefined;
  cell: AggregateCell<S> | undefined;
  cellWindow: object | undefined;
}

/** Counts for one of them in one window. */
export interface AggregateCell<S> {
  readonly series: AggregateSeries<S>;
  errors: number;
  durations: DurationSketch;
}

export type AggregateWindow<S> = OpenWindow<AggregateCell<S>[]>;

/** Outcome of a span. */
type AggregateOutcome = "counted" | "repeated" | "late" | "full";

function series<S>(name: string, scope: "service" | "operation"): AggregateSeries<S> {
  return { name, scope, lastWindow: 0, streams: undefined, cell: undefined, cellWindow: undefined };
}

/** One service. `S` is what the owner keeps with each series. */
export class ServiceAggregate<S> {
  readonly windows: OpenWindows<AggregateCell<S>[]>;
  /** Series times open windows; its owner takes those off that have been closed. */
  cells = 0;
  readonly #service: AggregateSeries<S> = series<S>("", "service");
  readonly #other: AggregateSeries<S> = series<S>(OTHER_OPERATION, "operation");
  readonly #operations = new Map<string, AggregateSeries<S>>();
  /** The same by the bytes of the name: two that are no UTF-8 may be one operation. */
  readonly #operationsByBytes = new ByteMap<AggregateSeries<S>>(2 * OPERATIONS_MAX);

  constructor(pool: WordPool) {
    this.windows = new OpenWindows<AggregateCell<S>[]>(pool, () => []);
  }

  /** The operation of that name, or OTHER where there are too many. */
  operation(name: string, window: number): AggregateSeries<S> {
    const known = this.#operations.get(name);
    if (known !== undefined) return known;
    if (name === OTHER_OPERATION) return this.#other;
    if (this.#operations.size >= OPERATIONS_MAX) this.#forgetIdle(window);
    if (this.#operations.size >= OPERATIONS_MAX) return this.#other;
    const operation = series<S>(name, "operation");
    operation.lastWindow = window;
    this.#operations.set(name, operation);
    return operation;
  }

  /** The operation whose name stands in bytes, as messages give them, where it was seen before. */
  operationOfBytes(view: DataView, at: number, bytes: number): AggregateSeries<S> | undefined {
    return this.#operationsByBytes.find(view, at, bytes);
  }

  /** Notes what `operation` said of the name in those bytes. OTHER is not noted: there may be room for the name later. */
  rememberBytes(view: DataView, at: number, bytes: number, operation: AggregateSeries<S>): void {
    if (operation !== this.#other) this.#operationsByBytes.add(view, at, bytes, operation);
  }

  get operations(): Iterable<AggregateSeries<S>> {
    return this.#operations.values();
  }

  /** Takes a span for a closing; `room` is how many more cells there may be, in all services. */
  take(
    operation: AggregateSeries<S>,
    flags: number,
    window: number,
    closing: number,
    bucket: number,
    high: number,
    low: number,
    remaining: number,
  ): AggregateOutcome {
    const open = this.windows.take(window, closing);
    if (open === undefined) return "late";
    if (remaining <= 0 && operation.cellWindow !== open) return "full";
    if (!open.ids.add(high, low)) return "repeated";
    const isError = (flags & SPAN_ERROR) !== 0;
    count(this.cell(open, operation), bucket, isError);
    if ((flags & SPAN_REQUEST) !== 0) count(this.cell(open, this.#service), bucket, isError);
    return "counted";
  }

  /** The cell of a series in a window. */
  cell(open: AggregateWindow<S>, of: AggregateSeries<S>): AggregateCell<S> {
    if (of.cellWindow === open && of.cell !== undefined) return of.cell;
    let cell = open.content.find((each) => each.series === of);
    if (cell === undefined) {
      cell = { series: of, errors: 0, durations: new DurationSketch() };
      open.content.push(cell);
      this.cells++;
      if (open.window > of.lastWindow) of.lastWindow = open.window;
    }
    of.cell = cell;
    of.cellWindow = open;
    return cell;
  }

  /** The series of a stored cell. */
  seriesOf(scope: "service" | "operation", name: string, window: number): AggregateSeries<S> {
    return scope === "service" ? this.#service : this.operation(name, window);
  }

  #forgetIdle(window: number): void {
    this.#operationsByBytes.clear();
    for (const [name, { lastWindow, cellWindow }] of this.#operations) {
      if (lastWindow < window - OPERATION_IDLE_WINDOWS && cellWindow === undefined) this.#operations.delete(name);
    }
  }
}

function count<S>(cell: AggregateCell<S>, bucket: number, isError: boolean): void {
  cell.durations.add(bucket);
  if (isError) cell.errors++;
}
