/** One timer for all deadlines of a server. It counts ticks, so it needs no clock, and stops once nothing has waited for a while. */

import { every, run, task } from "../../core/faults/guard.ts";

/** Something that can run out of time. The sweep keeps its notes on it: every body comes and goes, which a map takes a tenth of a microsecond for, and shrinks. */
export interface Expiring {
  /** Place in the list, -1 while it is not there. */
  sweepIndex: number;
  sweepsLeft: number;
  /** Called once, after it was taken off the list. */
  expire(): void;
}

const SWEEPS_PER_TIMEOUT = 4;
const SWEEP_MS_MIN = 5;
const SWEEP_MS_MAX = 250;
/** Ticks without a new entry, after which the timer stops: starting it with each of 25 bodies a second took a twentieth of the thread's work. */
const IDLE_SWEEPS_MAX = 40;
const SWEEP = task("the deadlines of HTTP");

/** Expires entries at their time limit, or up to one tick and a bit (a quarter of the shortest limit) later. */
export class DeadlineSweep {
  readonly #waiting: Expiring[] = [];
  readonly #sweepMs: number;
  #timer: NodeJS.Timeout | undefined;
  #idleSweeps = 0;

  constructor(shortestTimeoutMs: number) {
    this.#sweepMs = Math.min(SWEEP_MS_MAX, Math.max(SWEEP_MS_MIN, Math.floor(shortestTimeoutMs / SWEEPS_PER_TIMEOUT)));
  }

  /** Sets the time limit of an entry, replacing the one it had. */
  add(entry: Expiring, timeoutMs: number): void {
    entry.sweepsLeft = Math.ceil(timeoutMs / this.#sweepMs) + 1;
    if (entry.sweepIndex < 0) entry.sweepIndex = this.#waiting.push(entry) - 1;
    this.#idleSweeps = 0;
    if (this.#timer !== undefined) return;
    this.#timer = every(this.#sweepMs, SWEEP, () => this.#sweep());
    this.#timer.unref();
  }

  /** Takes an entry off the list; unknown entries do no harm. */
  remove(entry: Expiring): void {
    const index = entry.sweepIndex;
    if (index < 0) return;
    entry.sweepIndex = -1;
    const last = this.#waiting.pop() as Expiring;
    if (last === entry) return;
    this.#waiting[index] = last;
    last.sweepIndex = index;
  }

  #sweep(): void {
    const due: Expiring[] = [];
    for (const entry of this.#waiting) if (--entry.sweepsLeft <= 0) due.push(entry);
    // One that expires may take others off the list.
    for (const entry of due) {
      if (entry.sweepIndex < 0) continue;
      this.remove(entry);
      run(SWEEP, () => entry.expire());
    }
    if (this.#waiting.length > 0 || ++this.#idleSweeps < IDLE_SWEEPS_MAX) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
