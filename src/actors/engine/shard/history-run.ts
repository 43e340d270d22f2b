// History of one stream that is older than its newest sample, as it comes row after row: stored as chunks of up to 255 values instead of one a value,
// and put into the ring where that reaches, or has room. A counter's chunk has what its first delta is measured from, so that it reads as it was sent. About 0.5 us a value.
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import { CHUNK_SAMPLES_MAX } from "../../../domain/codec/sample-chunk.ts";
import { CountedValues } from "../../../domain/history/counted-values.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { StreamChunks } from "./stream-chunks.ts";

const NO_SLOT = -1;
/** As the kernel's for the chunks of rings: so far may a sum be from what was sent. */
const SUM_TOLERANCE = 1e-12;

export interface HistoryRunDependencies {
  readonly kernel: ShardKernel;
  readonly counters: EngineCounters;
  readonly chunks: Pick<StreamChunks, "storeHistory" | "storeCounted" | "storeValue" | "keepCumulative">;
}

/** The run at hand. */
export class HistoryRun {
  readonly #dependencies: HistoryRunDependencies;
  readonly #times = new Float64Array(CHUNK_SAMPLES_MAX);
  readonly #values = new Float64Array(CHUNK_SAMPLES_MAX);
  #slot = NO_SLOT;
  #count = 0;
  #isCounter = false;
  /** Values from here on are live ones that are in no chunk yet. */
  #untilMs = 0;
  #lastMs = 0;
  readonly #counted = new CountedValues();
  /** Of a counter the value before, where the run has one, what a reader's sum is there, and whether no chunk has it yet. */
  #raw = Number.NaN;
  #rawMs = 0;
  #sum = Number.NaN;
  #isLoose = false;
  /** What the deltas at hand are measured from, NaN for nothing, and when that was. */
  #anchor = Number.NaN;
  #anchorMs = 0;
  /** When counting began as the marker ahead of a counter's value says, and of which value. */
  #start = { slot: NO_SLOT, timeMs: 0, startMs: 0 };

  constructor(dependencies: HistoryRunDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Takes a value; false when it belongs among live values of a gauge that are in no chunk yet, and the caller puts it there. Of a counter the first
   * value of a run is what the next is measured from, and is not stored unless counting has just begun: whoever sends a run in pieces begins each with the
   * last value before it.
   */
  add(slot: number, timeMs: number, value: number): boolean {
    if (slot !== this.#slot || timeMs <= this.#lastMs) this.#begin(slot);
    if (timeMs >= this.#untilMs) {
      this.#dependencies.chunks.keepCumulative(slot, timeMs, value);
      return this.#isCounter;
    }
    this.#lastMs = timeMs;
    if (this.#isCounter) this.#addCumulative(slot, timeMs, value);
    else this.#push(timeMs, value);
    return true;
  }

  #push(timeMs: number, value: number): void {
    this.#times[this.#count] = timeMs;
    this.#values[this.#count] = value;
    this.#count++;
    if (this.#count === CHUNK_SAMPLES_MAX) this.#put();
  }

  #addCumulative(slot: number, timeMs: number, value: number): void {
    const delta = this.#counted.add(timeMs, value, this.#startOf(slot, timeMs));
    const sum = (Number.isNaN(this.#sum) ? 0 : this.#sum) + (delta ?? 0);
    const addsUp = delta !== undefined && Math.abs(sum - value) <= (Number.isInteger(value) ? 0 : SUM_TOLERANCE * Math.abs(value));
    if (!addsUp) this.#beginAnew(timeMs, value, delta);
    else {
      if (this.#count === 0) [this.#anchor, this.#anchorMs] = [this.#raw, this.#rawMs];
      [this.#raw, this.#rawMs, this.#sum, this.#isLoose] = [value, timeMs, sum, false];
      this.#push(timeMs, delta);
    }
  }

  /** A value that the sum of what was counted does not come to: the next is measured from it. */
  #beginAnew(timeMs: number, value: number, delta: number | undefined): void {
    this.#put();
    this.#keepLoose();
    if (delta !== undefined) this.#putDelta(timeMs, delta);
    [this.#raw, this.#rawMs, this.#sum, this.#isLoose] = [value, timeMs, value, true];
  }

  #putDelta(timeMs: number, delta: number): void {
    const { chunks, kernel, counters } = this.#dependencies;
    chunks.storeValue(this.#slot, timeMs, delta);
    kernel.records.mergeHistory(this.#slot, Float64Array.of(timeMs), Float64Array.of(delta), 1);
    counters.add("samplesHistory", 1);
  }

  /** A value that nothing was measured from is kept by itself. */
  #keepLoose(): void {
    if (this.#isLoose) this.#dependencies.chunks.keepCumulative(this.#slot, this.#rawMs, this.#raw);
    this.#isLoose = false;
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
    this.#keepLoose();
    this.#slot = NO_SLOT;
    this.#lastMs = 0;
    [this.#raw, this.#sum] = [Number.NaN, Number.NaN];
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
    const { chunks, kernel, counters } = this.#dependencies;
    const from = { anchor: this.#anchor, gapMs: (this.#times[0] as number) - this.#anchorMs };
    if (this.#isCounter) chunks.storeCounted(this.#slot, from, this.#times, this.#values, this.#count);
    else chunks.storeHistory(this.#slot, this.#times, this.#values, this.#count);
    kernel.records.mergeHistory(this.#slot, this.#times, this.#values, this.#count);
    counters.add("samplesHistory", this.#count);
    this.#count = 0;
    this.#sum = this.#raw;
  }
}
