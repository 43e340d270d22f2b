// What the cumulative values of the past add, one to the next, by the rule of live counters (distribution/counting-start.ts): a start that moves behind the value before
// is a restart, and a fall that no start explains counts as far as an interval may bring it.
import { beginningOf, countedAfterFall, startAfter } from "../distribution/counting-start.ts";

/** A fall by less than this is rounding of the sender, as with live counters. */
const RELATIVE_NOISE = 1e-9;
/** Newest deltas that say what an interval brings, and how many settle it: as assembly/shard/shard-counter.ts has them. */
const DELTAS_MAX = 120;
const SETTLED_DELTAS_MIN = 12;

/** The values of one counter, in order of time. */
export class CountedValues {
  #lastMs = 0;
  #lastValue = 0;
  #startMs = 0;
  #usualMs = 0;
  readonly #deltas: number[] = [];
  #next = 0;
  /** Whether counting began anew in the interval of the value that was added last. */
  isRestart = false;

  /** Another counter begins, or another piece of one. */
  begin(): void {
    this.#lastMs = this.#startMs = this.#usualMs = this.#next = 0;
    this.#deltas.length = 0;
  }

  /** Increase by a value; undefined for one that is a baseline only. `startMs` is when its sender says that counting began, 0 for not known. */
  add(timeMs: number, value: number, startMs = 0): number | undefined {
    const point = { timeMs, startMs };
    const beginning = beginningOf({ startMs: this.#startMs, lastMs: this.#lastMs, usualMs: this.#usualMs }, point);
    const before = this.#lastValue;
    if (this.#lastMs > 0) this.#usualMs = timeMs - this.#lastMs;
    this.#lastMs = timeMs;
    this.#lastValue = value;
    this.#startMs = startAfter(this.#startMs, point);
    this.isRestart = beginning === "restarted" || (beginning === "continued" && falls(value, before));
    if (beginning === "baseline") return undefined;
    const delta = beginning === "continued" ? this.#since(before, value) : Math.max(0, value);
    this.#deltas[this.#next] = delta;
    this.#next = (this.#next + 1) % DELTAS_MAX;
    return delta;
  }

  #since(before: number, value: number): number {
    if (!falls(value, before)) return Math.max(0, value - before);
    return countedAfterFall(value, Math.max(0, ...this.#deltas), this.#deltas.length >= SETTLED_DELTAS_MIN);
  }
}

function falls(value: number, before: number): boolean {
  return value < before - RELATIVE_NOISE * Math.abs(before);
}
