// What those are told who are beyond one rate, and how much of it they hear at once.
import type { PreparedRefusal } from "../../../api/prepared-refusal.ts";
import { TokenBucket } from "../../../domain/access/token-bucket.ts";

/**
 * Requests beyond one rate. As many refusals a second as the rate allows requests are prompt, so that a refusal costs a tenant's neighbours no more than what
 * the tenant may send; the others are paced. And whoever sends more always hears of enough refusals to send again and use up what it is allowed.
 */
export class Excess {
  readonly refusal: PreparedRefusal;
  readonly #prompt: TokenBucket;

  /** `rate` in requests a second. */
  constructor(refusal: PreparedRefusal, rate: number, nowMs: number) {
    this.refusal = refusal;
    this.#prompt = new TokenBucket(rate, nowMs);
  }

  /** Whether one more request is refused without delay; counts it. */
  isPrompt(nowMs: number): boolean {
    return this.#prompt.take(nowMs);
  }
}
