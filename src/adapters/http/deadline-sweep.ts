/** One timer for all deadlines of a server. It counts ticks, so it needs no clock, and runs only while something waits. */

/** Something that can run out of time. */
export interface Expiring {
  /** Called once, after it was taken off the list. */
  expire(): void;
}

const TICKS_PER_TIMEOUT = 4;
const TICK_MS_MIN = 5;
const TICK_MS_MAX = 250;

/** Expires entries at their time limit, or up to one tick and a bit (a quarter of the shortest limit) later. */
export class DeadlineSweep {
  readonly #ticksLeft = new Map<Expiring, number>();
  readonly #tickMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(shortestTimeoutMs: number) {
    this.#tickMs = Math.min(TICK_MS_MAX, Math.max(TICK_MS_MIN, Math.floor(shortestTimeoutMs / TICKS_PER_TIMEOUT)));
  }

  /** Sets the time limit of an entry, replacing the one it had. */
  add(entry: Expiring, timeoutMs: number): void {
    this.#ticksLeft.set(entry, Math.ceil(timeoutMs / this.#tickMs) + 1);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#tick(), this.#tickMs);
    this.#timer.unref();
  }

  /** Takes an entry off the list; unknown entries do no harm. */
  remove(entry: Expiring): void {
    this.#ticksLeft.delete(entry);
  }

  #tick(): void {
    for (const [entry, left] of this.#ticksLeft) {
      if (left > 1) {
        this.#ticksLeft.set(entry, left - 1);
        continue;
      }
      this.#ticksLeft.delete(entry);
      entry.expire();
    }
    // Stopping here and not in `remove` keeps a busy server from starting and stopping the timer with every body.
    if (this.#ticksLeft.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
