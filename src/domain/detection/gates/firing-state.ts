// From evidence to alerts that are few: one alert per incident, an end only when it is over, and a bar that rises for a stream that pages often.

import { HOUR_MS } from "../../../core/time/durations.ts";

/** Numbers of state. */
export const FIRING_LENGTH = 7;
const IS_OPEN = 0;
const QUIET_ROWS = 1;
const LAST_OVER = 2;
const DAMPING = 3;
const LAST_TIME = 4;
const OPENED = 5;
const HAS_BEEN_OVER = 6;

/** Quiet observations in a row that end an alert. */
const QUIET_ROWS_TO_END = 3;
/** An excursion within so many usual intervals of the one before belongs to the same incident and opens nothing ... */
const REST_INTERVALS = 60;
/** ... but no longer than this. */
const REST_MS_MAX = 5 * HOUR_MS;
/** Each alert raises the bar of those to come by a factor of 2^this ... */
const DAMPING_STEP = 0.5;
/** ... which goes back by this time constant. */
const DAMPING_MS = 48 * HOUR_MS;

/** What an observation does to the alert. */
export interface FiringStep {
  readonly isFiring: boolean;
  /** An alert began with this observation. */
  readonly opened: boolean;
  /** Why evidence over 1 opened nothing; null where it did, or where there was none. */
  readonly suppressedBy: "flapping" | "same_incident" | "learning" | null;
}

const QUIET: FiringStep = { isFiring: false, opened: false, suppressedBy: null };
const FIRING: FiringStep = { isFiring: true, opened: false, suppressedBy: null };
const OPENED_NOW: FiringStep = { isFiring: true, opened: true, suppressedBy: null };
const FLAPPING: FiringStep = { isFiring: false, opened: false, suppressedBy: "flapping" };
const SAME_INCIDENT: FiringStep = { isFiring: false, opened: false, suppressedBy: "same_incident" };
const LEARNING: FiringStep = { isFiring: false, opened: false, suppressedBy: "learning" };

/** The alert stage of one pair or service over caller-owned state of FIRING_LENGTH numbers, all 0 at the start. */
export class FiringState {
  readonly #floats: Float64Array;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  get isFiring(): boolean {
    return this.#floats[IS_OPEN] === 1;
  }

  /** When the alert that is firing, or was last, began; ms. */
  get openedMs(): number {
    return this.#floats[OPENED] as number;
  }

  /** Evidence that must be reached to open an alert now: 1, more for a stream that has paged lately. */
  get bar(): number {
    return 2 ** (this.#floats[DAMPING] as number);
  }

  /**
   * One observation. `evidence` is in units of the bar: 1 and more is an excursion. `intervalMs` is the usual interval of the stream;
   * `isLearning` keeps alerts from opening.
   */
  step(timeMs: number, evidence: number, intervalMs: number, isLearning: boolean): FiringStep {
    this.#decay(timeMs);
    const { bar } = this;
    const over = evidence >= bar;
    const answer = this.isFiring ? this.#goOn(evidence) : evidence >= 1 ? this.#begin(timeMs, over, intervalMs, isLearning) : QUIET;
    if (over) {
      this.#floats[LAST_OVER] = timeMs;
      this.#floats[HAS_BEEN_OVER] = 1;
    }
    return answer;
  }

  /** Ends an alert that nothing more will be observed of. */
  end(): void {
    this.#floats[IS_OPEN] = 0;
  }

  #decay(timeMs: number): void {
    const elapsed = Math.max(0, timeMs - (this.#floats[LAST_TIME] as number));
    this.#floats[DAMPING] = (this.#floats[DAMPING] as number) * Math.exp(-elapsed / DAMPING_MS);
    this.#floats[LAST_TIME] = timeMs;
  }

  #goOn(evidence: number): FiringStep {
    const quiet = evidence < 1 ? (this.#floats[QUIET_ROWS] as number) + 1 : 0;
    this.#floats[QUIET_ROWS] = quiet;
    if (quiet < QUIET_ROWS_TO_END) return FIRING;
    this.#floats[IS_OPEN] = 0;
    return QUIET;
  }

  #begin(timeMs: number, over: boolean, intervalMs: number, isLearning: boolean): FiringStep {
    if (isLearning) return LEARNING;
    if (!over) return FLAPPING;
    const rest = Math.min(REST_INTERVALS * intervalMs, REST_MS_MAX);
    if (this.#floats[HAS_BEEN_OVER] === 1 && timeMs - (this.#floats[LAST_OVER] as number) <= rest) return SAME_INCIDENT;
    this.#floats[IS_OPEN] = 1;
    this.#floats[QUIET_ROWS] = 0;
    this.#floats[OPENED] = timeMs;
    this.#floats[DAMPING] = (this.#floats[DAMPING] as number) + DAMPING_STEP;
    return OPENED_NOW;
  }
}
