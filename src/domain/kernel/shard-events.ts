// Events of the shard kernel, read from its EVENTS area.
import {
  EVENT_ARRIVAL,
  EVENT_BYTES,
  EVENT_COUNT,
  EVENT_FLAGS,
  EVENT_KIND,
  EVENT_MEAN,
  EVENT_PEAK,
  EVENT_RATIO,
  EVENT_RAW_SD,
  EVENT_SD,
  EVENT_SLOT,
  EVENT_START,
  EVENT_TIME,
  EVENT_VALUE,
} from "../../core/layout/kernel-event.ts";
import { EVENTS, EVENTS_BYTES } from "../../core/layout/memory-map.ts";

/** One event as an object of its own. */
export interface ShardEvent {
  /** EVENT_OPEN and the like. */
  readonly kind: number;
  readonly slot: number;
  /** Time of the sample. */
  readonly timeMs: number;
  /** As scored: counters as a delta, per usual interval where EVENT_FLAG_IRREGULAR is set. Cumulative in EVENT_RESET and EVENT_REPLACE. */
  readonly value: number;
  readonly mean: number;
  /** With its floors. */
  readonly sd: number;
  readonly rawSd: number;
  /** (value - mean) / sd, signed; within +-10 and a z already where EVENT_FLAG_CONSTANT is set. */
  readonly ratio: number;
  /** Values in the baseline. */
  readonly count: number;
  /** EVENT_FLAG_*. */
  readonly flags: number;
  /** When the episode began; of events of no episode the sample's time. */
  readonly startMs: number;
  /** Largest |ratio| of the episode so far, in its direction; 0 for events of no episode. */
  readonly peak: number;
  /** Monotonic ms at which the bytes had arrived. */
  readonly arrivalMs: number;
}

/** The events since the last eventsReset(), oldest first. */
export class ShardEvents {
  readonly #view: DataView;

  constructor(buffer: ArrayBufferLike) {
    this.#view = new DataView(buffer, EVENTS, EVENTS_BYTES);
  }

  /** EVENT_* of an event, without making an object. */
  kind(index: number): number {
    return this.#view.getUint32(index * EVENT_BYTES + EVENT_KIND, true);
  }

  /** Slot of an event, without making an object. */
  slot(index: number): number {
    return this.#view.getUint32(index * EVENT_BYTES + EVENT_SLOT, true);
  }

  /** Time of an event's sample, without making an object. */
  timeMs(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_TIME, true);
  }

  /** Writes the value of an event to the start of `into`, by its bits. */
  readValue(index: number, into: Float64Array): void {
    const { buffer, byteOffset } = this.#view;
    new Uint8Array(into.buffer, into.byteOffset, 8).set(new Uint8Array(buffer, byteOffset + index * EVENT_BYTES + EVENT_VALUE, 8));
  }

  at(index: number): ShardEvent {
    const view = this.#view;
    const e = index * EVENT_BYTES;
    return {
      kind: view.getUint32(e + EVENT_KIND, true),
      slot: view.getUint32(e + EVENT_SLOT, true),
      timeMs: view.getFloat64(e + EVENT_TIME, true),
      value: view.getFloat64(e + EVENT_VALUE, true),
      mean: view.getFloat64(e + EVENT_MEAN, true),
      sd: view.getFloat64(e + EVENT_SD, true),
      rawSd: view.getFloat64(e + EVENT_RAW_SD, true),
      ratio: view.getFloat64(e + EVENT_RATIO, true),
      count: view.getUint32(e + EVENT_COUNT, true),
      flags: view.getUint32(e + EVENT_FLAGS, true),
      startMs: view.getFloat64(e + EVENT_START, true),
      peak: view.getFloat64(e + EVENT_PEAK, true),
      arrivalMs: view.getFloat64(e + EVENT_ARRIVAL, true),
    };
  }
}
