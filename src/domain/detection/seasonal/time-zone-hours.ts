// The clock on the wall for seasonal baselines: offsets of one time zone, looked up once a quarter of an hour, since no zone changes in between.
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { isTimeZone, offsetMs } from "../../calendar/time-zone.ts";

const QUARTER_MS = 900_000;
/** Quarters remembered: 10 days, as much as a late sender or an import comes to at a time. */
const QUARTERS_MAX = 1024;

/** Local time less UTC in ms at an instant. */
export type OffsetMs = (timeMs: number) => number;

/** Hours and weekdays are UTC. */
export const UTC_OFFSET: OffsetMs = () => 0;

/** Offsets of one zone. */
export class TimeZoneHours {
  readonly #timeZone: string;
  readonly #offsets = new BoundedMap<number, number>(QUARTERS_MAX);
  #quarter = Number.NaN;
  #offset = 0;

  /** Throws RangeError for a zone that is unknown. */
  constructor(timeZone: string) {
    if (!isTimeZone(timeZone)) {
      throw new RangeError(`time zone "${timeZone.slice(0, 80)}" is unknown; give an IANA name such as Europe/Berlin`);
    }
    this.#timeZone = timeZone;
  }

  /** See OffsetMs. */
  readonly offsetMs: OffsetMs = (timeMs) => {
    const quarter = Math.floor(timeMs / QUARTER_MS);
    if (quarter !== this.#quarter) {
      this.#offset = this.#offsets.obtain(quarter, () => offsetMs(this.#timeZone, quarter * QUARTER_MS));
      this.#quarter = quarter;
    }
    return this.#offset;
  };
}
