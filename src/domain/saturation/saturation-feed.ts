// Values of streams' rings on their way into the history of a series: those of one stream as they are, those of several as means of each minute.
import { FLAG_ENDED, FLAG_HISTORY, WINDOW_MAX } from "../../core/layout/stream-record.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { SILENT_STREAM_MS } from "../detection/service/silent-streams.ts";
import type { ShardKernel } from "../kernel/shard-kernel.ts";
import type { SaturationSeries } from "./saturation-series.ts";

/** A stream that is silent for longer has ended for its roll-up. */
const SILENCE_MS_MAX = 15 * MINUTE_MS;

/** Reads rings. */
export class SaturationFeed {
  readonly #kernel: ShardKernel;
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);

  constructor(kernel: ShardKernel) {
    this.#kernel = kernel;
  }

  /** Time of the oldest value of any of the slots, in their rings or before; Infinity where there is none. */
  firstMs(slots: readonly number[]): number {
    const { records } = this.#kernel;
    return slots.reduce((first, slot) => Math.min(first, records.firstTimeMs(slot) || Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
  }

  /** Whether all values that the slots ever had are in their rings. */
  containAll(slots: readonly number[]): boolean {
    return slots.every((slot) => {
      const count = this.#kernel.records.readRing(slot, this.#times, this.#values);
      return count === 0 || (this.#times[0] as number) <= this.#kernel.records.firstTimeMs(slot);
    });
  }

  /** From when on the rings have every value of the slots that still send: before, the store has it. */
  bufferedFromMs(slots: readonly number[], nowMs: number): number {
    const { records } = this.#kernel;
    const live = slots.filter((slot) => nowMs - records.lastTimeMs(slot) <= SILENCE_MS_MAX);
    return Math.min(nowMs, ...live.map((slot) => records.unchunkedFromMs(slot)));
  }

  /** Whether all slots were ended by their senders, all are silent for a day, and all end with history. */
  stateOf(
    slots: readonly number[],
    nowMs: number,
  ): { readonly hasEnded: boolean; readonly isSilent: boolean; readonly endsWithHistory: boolean } {
    const { records } = this.#kernel;
    return {
      hasEnded: slots.every((slot) => (records.flags(slot) & FLAG_ENDED) !== 0),
      isSilent: slots.every((slot) => records.lastTimeMs(slot) < nowMs - SILENT_STREAM_MS),
      endsWithHistory: slots.every((slot) => (records.flags(slot) & FLAG_HISTORY) !== 0),
    };
  }

  /** Gives a series the values that are newer than `sinceMs`; returns the time of the newest, `sinceMs` where there is none. */
  feed(series: SaturationSeries, slots: readonly number[], sinceMs: number): number {
    return slots.length === 1 ? this.#feedOne(series, slots[0] as number, sinceMs) : this.#feedMeans(series, slots, sinceMs);
  }

  /** Values of the slot's ring that are newer. */
  #newer(slot: number, sinceMs: number): number {
    return this.#kernel.records.readSince(slot, sinceMs, Number.POSITIVE_INFINITY, this.#times, this.#values);
  }

  #feedOne(series: SaturationSeries, slot: number, sinceMs: number): number {
    const count = this.#newer(slot, sinceMs);
    for (let i = 0; i < count; i++) series.observe(this.#times[i] as number, this.#values[i] as number);
    return count === 0 ? sinceMs : (this.#times[count - 1] as number);
  }

  #feedMeans(series: SaturationSeries, slots: readonly number[], sinceMs: number): number {
    const minutes = new Map<number, { sum: number; count: number }>();
    let newestMs = sinceMs;
    for (const slot of slots) {
      const count = this.#newer(slot, sinceMs);
      for (let i = 0; i < count; i++) {
        const time = this.#times[i] as number;
        const value = this.#values[i] as number;
        if (!Number.isFinite(value)) continue;
        const minute = Math.floor(time / MINUTE_MS);
        const mean = minutes.get(minute) ?? { sum: 0, count: 0 };
        mean.sum += value;
        mean.count++;
        minutes.set(minute, mean);
        newestMs = Math.max(newestMs, time);
      }
    }
    for (const minute of [...minutes.keys()].sort((a, b) => a - b)) {
      const { sum, count } = minutes.get(minute) as { sum: number; count: number };
      series.observe(minute * MINUTE_MS, sum / count);
    }
    return newestMs;
  }
}
