// Events of the shard kernel as typed getters over its EVENTS area: index in, number out, no objects.
import {
  EVENT_ARRIVAL, EVENT_BYTES, EVENT_COUNT, EVENT_FLAG_HIGH, EVENT_FLAGS, EVENT_KIND, EVENT_MEAN, EVENT_PEAK, EVENT_RATIO, EVENT_RAW_SD, EVENT_SD,
  EVENT_SLOT, EVENT_START, EVENT_TIME, EVENT_VALUE,
} from "../../core/layout/kernel-event.ts";
import { EVENTS, EVENTS_BYTES } from "../../core/layout/memory-map.ts";

/** Valid until eventsReset(); event 0 is the oldest. */
export class ShardEvents {
  readonly #view: DataView;
  readonly #count: () => number;

  constructor(buffer: ArrayBufferLike, count: () => number) {
    this.#view = new DataView(buffer, EVENTS, EVENTS_BYTES);
    this.#count = count;
  }

  get length(): number {
    return this.#count();
  }

  /** EVENT_OPEN and the like. */
  kind(index: number): number {
    return this.#view.getUint32(index * EVENT_BYTES + EVENT_KIND, true);
  }

  slot(index: number): number {
    return this.#view.getUint32(index * EVENT_BYTES + EVENT_SLOT, true);
  }

  /** Time of the sample in ms. */
  timeMs(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_TIME, true);
  }

  /** As scored: counters as a delta, per usual interval where EVENT_FLAG_IRREGULAR is set. Cumulative in EVENT_RESET and EVENT_REPLACE. */
  value(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_VALUE, true);
  }

  mean(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_MEAN, true);
  }

  /** With its floors. */
  sd(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_SD, true);
  }

  /** Before the floors. */
  rawSd(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_RAW_SD, true);
  }

  /** (value - mean) / sd, signed; within +-10 and a z already where EVENT_FLAG_CONSTANT is set. */
  ratio(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_RATIO, true);
  }

  /** Values in the baseline. */
  count(index: number): number {
    return this.#view.getUint32(index * EVENT_BYTES + EVENT_COUNT, true);
  }

  /** EVENT_FLAG_*. */
  flags(index: number): number {
    return this.#view.getUint32(index * EVENT_BYTES + EVENT_FLAGS, true);
  }

  isHigh(index: number): boolean {
    return (this.flags(index) & EVENT_FLAG_HIGH) !== 0;
  }

  /** When the episode began, in ms; of events of no episode the sample's time. */
  startMs(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_START, true);
  }

  /** Largest |ratio| of the episode so far, in its direction; 0 for events of no episode. */
  peak(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_PEAK, true);
  }

  /** Monotonic ms at which the bytes had arrived. */
  arrivalMs(index: number): number {
    return this.#view.getFloat64(index * EVENT_BYTES + EVENT_ARRIVAL, true);
  }
}
