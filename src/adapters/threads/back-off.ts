// Waits between the starts of an actor that keeps ending.

/** Restart policy of an actor that may be started again. */
export interface RestartPolicy {
  /** Wait before the first restart, which doubles from one to the next up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** A run of so long was sound: the next wait is the first again. */
  readonly soundMs: number;
}

/** Back-off: says how long the next start has to wait. */
export class BackOff {
  readonly #policy: RestartPolicy;
  #nextMs: number;

  constructor(policy: RestartPolicy) {
    this.#policy = policy;
    this.#nextMs = policy.firstMs;
  }

  /** After a run of so many milliseconds. */
  waitMs(ranMs: number): number {
    const { firstMs, mostMs, soundMs } = this.#policy;
    const waitMs = ranMs >= soundMs ? firstMs : this.#nextMs;
    this.#nextMs = Math.min(mostMs, 2 * waitMs);
    return waitMs;
  }
}
