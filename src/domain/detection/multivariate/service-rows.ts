// A service's history as vectors: what the Watchdog would have seen had it looked once an interval, by the same rules.

import type { TimedRows } from "./service-model.ts";
import { Aggregate, isVectorFull, valueAgeMsMax } from "./service-vector.ts";

/** Samples of one stream, ascending by time. */
export interface StreamSamples {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** The streams behind a service's metrics. */
export interface ServiceHistory {
  readonly streams: readonly StreamSamples[];
  /** Index of the first stream of each metric; one more for the end of the last. */
  readonly starts: Uint16Array;
  readonly aggregations: Uint8Array;
}

/** Which vectors are wanted. */
export interface RowRequest {
  /** Time of the newest one. */
  readonly toMs: number;
  readonly intervalMs: number;
  readonly rowsMax: number;
}

/**
 * The newest vectors up to `toMs`, oldest first, an interval or a multiple of it apart: a time at which nothing was new, or fewer than half of the metrics had
 * a value, has none. A metric without a value stands at the mean of its others, 0 where it has none.
 */
export function rowsOfHistory(history: ServiceHistory, request: RowRequest): TimedRows {
  const { toMs, intervalMs, rowsMax } = request;
  const firstMs = history.streams.reduce((least, { times }) => Math.min(least, times[0] ?? toMs), toMs);
  const attempts = Math.min(ATTEMPTS_PER_ROW * rowsMax, Math.floor((toMs - firstMs) / intervalMs) + 1);
  const width = history.aggregations.length;
  const times = new Float64Array(attempts);
  const values = new Float64Array(attempts * width);
  const cursor = new HistoryCursor(history, intervalMs);
  let rows = 0;
  for (let attempt = attempts - 1; attempt >= 0; attempt--) {
    const timeMs = toMs - attempt * intervalMs;
    if (cursor.read(timeMs, values.subarray(rows * width, (rows + 1) * width))) times[rows++] = timeMs;
  }
  const from = Math.max(0, rows - rowsMax);
  const retained = values.slice(from * width, rows * width);
  fillGaps(retained, width);
  return { times: times.slice(from, rows), values: retained, width };
}

/** Vectors are at most so many intervals apart on the whole: samples of a quarter of an hour and a cycle of a minute. */
const ATTEMPTS_PER_ROW = 15;

/** Reads vectors of ascending times. */
export class HistoryCursor {
  readonly #history: ServiceHistory;
  readonly #ageMsMax: number;
  /** Number of samples of each stream that are not after the time at hand. */
  readonly #consumed: Uint32Array;
  readonly #aggregate = new Aggregate();
  #newestMs = Number.NEGATIVE_INFINITY;

  constructor(history: ServiceHistory, intervalMs: number) {
    this.#history = history;
    this.#ageMsMax = valueAgeMsMax(intervalMs);
    this.#consumed = new Uint32Array(history.streams.length);
  }

  /** Time of the newest value of the vector read last. */
  get newestMs(): number {
    return this.#newestMs;
  }

  /** False where there is no vector at that time; metrics without a value are NaN. */
  read(timeMs: number, into: Float64Array): boolean {
    const { starts, aggregations } = this.#history;
    let present = 0;
    let newestMs = Number.NEGATIVE_INFINITY;
    for (let column = 0; column < into.length; column++) {
      this.#aggregate.reset();
      for (let stream = starts[column] as number; stream < (starts[column + 1] as number); stream++) {
        newestMs = Math.max(newestMs, this.#take(stream, timeMs));
      }
      const value = this.#aggregate.value(aggregations[column] as number);
      into[column] = value;
      if (!Number.isNaN(value)) present++;
    }
    if (newestMs <= this.#newestMs || !isVectorFull(present, into.length)) return false;
    this.#newestMs = newestMs;
    return true;
  }

  /** Adds a stream's newest value; its time. */
  #take(stream: number, timeMs: number): number {
    const { times, values } = this.#history.streams[stream] as StreamSamples;
    let consumed = this.#consumed[stream] as number;
    while (consumed < times.length && (times[consumed] as number) <= timeMs) consumed++;
    this.#consumed[stream] = consumed;
    if (consumed === 0) return Number.NEGATIVE_INFINITY;
    const atMs = times[consumed - 1] as number;
    if (timeMs - atMs <= this.#ageMsMax) this.#aggregate.add(values[consumed - 1] as number);
    return atMs;
  }
}

function fillGaps(values: Float64Array, width: number): void {
  for (let column = 0; column < width; column++) {
    let [sum, count] = [0, 0];
    for (let at = column; at < values.length; at += width) {
      if (Number.isNaN(values[at])) continue;
      sum += values[at] as number;
      count++;
    }
    const mean = count === 0 ? 0 : sum / count;
    for (let at = column; at < values.length; at += width) if (Number.isNaN(values[at])) values[at] = mean;
  }
}
