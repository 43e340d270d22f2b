// History of one stream that is older than its newest sample, as it comes row after row: stored as chunks of up to 255 values instead of one a value,
// and put into the ring where that reaches, or has room. About 0.5 us a value.
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import { CHUNK_SAMPLES_MAX } from "../../../domain/codec/sample-chunk.ts";
import { CountedValues } from "../../../domain/history/counted-values.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../report/engine-counters.ts";

const NO_SLOT = -1;

export interface HistoryRunDependencies {
  readonly kernel: ShardKernel;
  readonly counters: EngineCounters;
}

/** The run at hand. */
export class HistoryRun {
  readonly #dependencies: HistoryRunDependencies;
  readonly #store: (slot: number, times: Float64Array, values: Float64Array, count: number) => void;
  readonly #times = new Float64Array(CHUNK_SAMPLES_MAX);
  readonly #values = new Float64Array(CHUNK_SAMPLES_MAX);
  #slot = NO_SLOT;
  #count = 0;
  #isCounter = false;
  /** Values from here on are live ones that are in no chunk yet. */
  #untilMs = 0;
  #lastMs = 0;
  readonly #counted = new CountedValues();
  /** When counting began as the marker ahead of a counter's value says, and of which value. */
  #start = { slot: NO_SLOT, timeMs: 0, startMs: 0 };

  constructor(
    dependencies: HistoryRunDependencies,
    store: (slot: number, times: Float64Array, values: Float64Array, count: number) => void,
  ) {
    this.#dependencies = dependencies;
    this.#store = store;
  }

  /**
   * Takes a value; false when it belongs among live values of a gauge that are in no chunk yet, and the caller puts it there. Of a counter the first
   * value of a run is what the next is measured from, and is not stored unless counting has just begun: whoever sends a run in pieces begins each with the
   * last value before it.
   */
  add(slot: number, timeMs: number, value: number): boolean {
    if (slot !== this.#slot || timeMs <= this.#lastMs) this.#begin(slot);
    if (timeMs >= this.#untilMs) return this.#isCounter;
    const stored = this.#isCounter ? this.#counted.add(timeMs, value, this.#startOf(slot, timeMs)) : value;
    this.#lastMs = timeMs;
    if (stored === undefined) return true;
    this.#times[this.#count] = timeMs;
    this.#values[this.#count] = stored;
    this.#count++;
    if (this.#count === CHUNK_SAMPLES_MAX) this.#put();
    return true;
  }

  /** Takes when counting began, of the counter's value that comes next. */
  takeStart(slot: number, timeMs: number, startMs: number): void {
    this.#start = { slot, timeMs, startMs };
  }

  #startOf(slot: number, timeMs: number): number {
    return this.#start.slot === slot && this.#start.timeMs === timeMs ? this.#start.startMs : 0;
  }

  /** Ends the run: the rows that follow have nothing to do with it. */
  flush(): void {
    this.#put();
    this.#slot = NO_SLOT;
    this.#lastMs = 0;
  }

  #begin(slot: number): void {
    const { records } = this.#dependencies.kernel;
    this.flush();
    this.#slot = slot;
    this.#counted.begin();
    this.#isCounter = (records.flags(slot) & FLAG_COUNTER) !== 0;
    this.#untilMs = records.unchunkedFromMs(slot);
  }

  #put(): void {
    if (this.#count === 0) return;
    this.#store(this.#slot, this.#times, this.#values, this.#count);
    this.#dependencies.kernel.records.mergeHistory(this.#slot, this.#times, this.#values, this.#count);
    this.#dependencies.counters.add("samplesHistory", this.#count);
    this.#count = 0;
  }
}
