// Counts of the last twenty minutes, by minute: 40 bytes.

import { MINUTES_RETAINED } from "../window/window-time.ts";

const COUNT_MAX = 0xffff;

/** Minutes of an incident since 1970: what is before it begins with `from`, at least `least` of them. */
export interface EvidenceMinutes {
  readonly from: number;
  readonly onset: number;
  readonly until: number;
  readonly least: number;
}

export class MinuteCounts {
  readonly #counts = new Uint16Array(MINUTES_RETAINED);
  /** The newest minute that was counted; since 1970. */
  #newest = 0;

  /** Adds to a minute; one that is too old is passed over. */
  add(minute: number, count: number): void {
    if (minute <= this.#newest - MINUTES_RETAINED) return;
    this.#moveTo(minute);
    const at = minute % MINUTES_RETAINED;
    this.#counts[at] = Math.min(COUNT_MAX, this.#counts[at]! + count);
  }

  /** Whether anything was counted from a minute on. */
  hasSince(minute: number): boolean {
    return this.#newest >= minute;
  }

  /** Count of a minute. */
  of(minute: number): number {
    return minute > this.#newest || minute <= this.#newest - MINUTES_RETAINED ? 0 : this.#counts[minute % MINUTES_RETAINED]!;
  }

  #moveTo(minute: number): void {
    if (minute <= this.#newest) return;
    const stale = Math.min(MINUTES_RETAINED, minute - this.#newest);
    for (let i = 0; i < stale; i++) this.#counts[(minute - i) % MINUTES_RETAINED] = 0;
    this.#newest = minute;
  }
}
