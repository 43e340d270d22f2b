// What waits for one webhook: so many attempts in flight, and one where it has failed so often in a row. An event that waits for its time keeps no other from
// leaving; while one alone may leave, each keeps its attempts.
import { WEBHOOK_FAILURES_IN_A_ROW, WEBHOOK_FLIGHT_MAX } from "../../core/config/webhook-limits.ts";

export interface WaitingEvent {
  readonly key: string;
  readonly dueAtMs: number;
}

export class WebhookLane<T extends WaitingEvent> {
  readonly #waiting = new Map<string, T>();
  #inFlight = 0;
  #failures = 0;

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#inFlight === 0;
  }

  put(event: T): void {
    this.#waiting.set(event.key, event);
  }

  /** Events that leave now, in the order in which they came; `done` ends each. */
  take(nowMs: number): T[] {
    const taken: T[] = [];
    for (const event of this.#waiting.values()) {
      if (this.#inFlight >= this.#flightMax) break;
      if (event.dueAtMs > nowMs) continue;
      this.#waiting.delete(event.key);
      this.#inFlight++;
      taken.push(event);
    }
    return taken;
  }

  done(isSuccess: boolean): void {
    this.#inFlight--;
    this.#failures = isSuccess ? 0 : this.#failures + 1;
  }

  /** When `take` may give something; null where nothing waits for a time. */
  nextAtMs(): number | null {
    if (this.#inFlight >= this.#flightMax) return null;
    let nextMs: number | null = null;
    for (const { dueAtMs } of this.#waiting.values()) nextMs = Math.min(nextMs ?? dueAtMs, dueAtMs);
    return nextMs;
  }

  get #flightMax(): number {
    return this.#failures >= WEBHOOK_FAILURES_IN_A_ROW ? 1 : WEBHOOK_FLIGHT_MAX;
  }
}
