// A token bucket that holds one second's worth: whoever was quiet may send a second's requests at once, and over any longer time not more than the rate.
// (Turner, "New directions in communications", 1986; the same as the generic cell rate algorithm of ITU-T I.371 with a tolerance of one second.)

/** Rounding of sums of refills: far below one token, far above what a second's additions lose. */
const ROUNDING = 1e-6;

/** Limits requests to a rate. Times are of a monotonic clock, in ms; one that goes back adds nothing. */
export class TokenBucket {
  #rate: number;
  #tokens: number;
  #refilledMs: number;

  /** Begins full. `rate` in requests a second, at least 1. */
  constructor(rate: number, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate;
    this.#refilledMs = nowMs;
  }

  get rate(): number {
    return this.#rate;
  }

  /** Takes one request's token; false when there is none. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1 - ROUNDING) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Gives back what `take` took: the request is refused for another reason. */
  giveBack(): void {
    this.#tokens = Math.min(this.#rate, this.#tokens + 1);
  }

  /** Changes the rate from now on; a bucket of a lower rate holds less at once. */
  setRate(rate: number, nowMs: number): void {
    this.#refill(nowMs);
    this.#rate = rate;
    this.#tokens = Math.min(rate, this.#tokens);
  }

  /** Whether nothing would be lost by forgetting it: a new one is as full. */
  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= this.#rate;
  }

  #refill(nowMs: number): void {
    const elapsedMs = nowMs - this.#refilledMs;
    if (elapsedMs <= 0) return;
    this.#tokens = Math.min(this.#rate, this.#tokens + (elapsedMs / 1000) * this.#rate);
    this.#refilledMs = nowMs;
  }
}
