// What waits for one receiver: a rate with a burst, so many attempts in flight (one where it has failed often in a row), what fires before what has ended, tenants in
// turns, the others in the order in which they came. What waits for its time keeps no other from leaving. Queues share nothing, so one dead receiver delays no other.
import { DESTINATION_BURST } from "../../core/config/notification-limits.ts";
import { WEBHOOK_FAILURES_IN_A_ROW } from "../../core/config/webhook-limits.ts";

/** One delivery that waits; the same key is never in a queue twice. */
export interface WaitingDelivery {
  readonly key: string;
  readonly tenant: string;
  /** The same of all parts of a mail. */
  readonly dueAtMs: number;
  /** The lower ones leave first. */
  readonly rank: number;
  /** Text in common of what it may be joined with; null where it leaves alone. */
  readonly joins: string | null;
  /** Name of the mail that it is a part of already, whose other parts are here too; null for none. */
  readonly joined: string | null;
}

export interface DestinationLimits {
  /** Null: no rate. */
  readonly perSecond: number | null;
  /** Attempts in flight. */
  readonly flightMax: number;
  /** Deliveries of one tenant that may leave as one. */
  readonly joinedMax: number;
}

export class DestinationQueue<T extends WaitingDelivery> {
  readonly #limits: DestinationLimits;
  readonly #waiting = new Map<string, T[]>();
  #tokens = DESTINATION_BURST;
  #filledAtMs: number | null = null;
  #inFlight = 0;
  #failures = 0;

  constructor(limits: DestinationLimits) {
    this.#limits = limits;
  }

  /** Whether nothing is left to remember of it: nothing waits, none is under way, and its burst is whole again. */
  isIdle(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#waiting.size === 0 && this.#inFlight === 0 && this.#tokens >= DESTINATION_BURST;
  }

  /** Puts a delivery behind those of its tenant, or in the place of the one with its key. */
  put(delivery: T): void {
    const deliveries = this.#waiting.get(delivery.tenant);
    if (deliveries === undefined) {
      this.#waiting.set(delivery.tenant, [delivery]);
      return;
    }
    const at = deliveries.findIndex(({ key }) => key === delivery.key);
    if (at < 0) deliveries.push(delivery);
    else deliveries[at] = delivery;
  }

  /** Takes a delivery back; undefined where it has left, or never was here. */
  remove(tenant: string, key: string): T | undefined {
    const deliveries = this.#waiting.get(tenant);
    const at = deliveries?.findIndex((delivery) => delivery.key === key) ?? -1;
    if (deliveries === undefined || at < 0) return undefined;
    const [removed] = deliveries.splice(at, 1);
    if (deliveries.length === 0) this.#waiting.delete(tenant);
    return removed;
  }

  /** What leaves now in one attempt, of one tenant; empty while as many are under way as may be, none is due or the rate holds. `done` ends what this began. */
  take(nowMs: number): T[] {
    if (this.#isFull) return [];
    this.#refill(nowMs);
    if (this.#tokens < 1) return [];
    const first = this.#first(nowMs);
    if (first === undefined) return [];
    const taken = this.#with(first, nowMs);
    this.#tokens -= 1;
    this.#inFlight += 1;
    const rest = (this.#waiting.get(first.tenant) ?? []).filter((delivery) => !taken.includes(delivery));
    this.#waiting.delete(first.tenant);
    if (rest.length > 0) this.#waiting.set(first.tenant, rest); // behind the other tenants
    return taken;
  }

  /** An attempt has ended. */
  done(isFailure = false): void {
    this.#inFlight -= 1;
    this.#failures = isFailure ? this.#failures + 1 : 0;
  }

  /** When `take` may give something again; null where nothing waits or as many are under way as may be. */
  nextAtMs(nowMs: number): number | null {
    if (this.#isFull) return null;
    let dueAtMs = Number.POSITIVE_INFINITY;
    for (const deliveries of this.#waiting.values()) for (const delivery of deliveries) dueAtMs = Math.min(dueAtMs, delivery.dueAtMs);
    if (dueAtMs === Number.POSITIVE_INFINITY) return null;
    this.#refill(nowMs);
    const { perSecond } = this.#limits;
    const isThrottled = perSecond !== null && this.#tokens < 1;
    return isThrottled ? Math.max(dueAtMs, nowMs + Math.ceil(((1 - this.#tokens) / perSecond) * 1_000)) : dueAtMs;
  }

  get #isFull(): boolean {
    return this.#inFlight >= (this.#failures >= WEBHOOK_FAILURES_IN_A_ROW ? 1 : this.#limits.flightMax);
  }

  /** The first of those that are due and leave first, of the tenant whose turn it is. */
  #first(nowMs: number): T | undefined {
    let first: T | undefined;
    for (const deliveries of this.#waiting.values()) {
      for (const delivery of deliveries) {
        if (delivery.dueAtMs <= nowMs && (first === undefined || delivery.rank < first.rank)) first = delivery;
      }
    }
    return first;
  }

  /** What leaves with it. */
  #with(first: T, nowMs: number): T[] {
    const { joined, joins } = first;
    const { joinedMax } = this.#limits;
    const own = this.#waiting.get(first.tenant) ?? [];
    if (joined !== null) return own.filter((delivery) => delivery.joined === joined);
    if (joinedMax <= 1 || joins === null) return [first];
    const due = own.filter((delivery) => delivery.joins === joins && delivery.joined === null && delivery.dueAtMs <= nowMs);
    return due.slice(0, joinedMax);
  }

  #refill(nowMs: number): void {
    const { perSecond } = this.#limits;
    const elapsedMs = Math.max(0, nowMs - (this.#filledAtMs ?? nowMs));
    this.#tokens = perSecond === null ? DESTINATION_BURST : Math.min(DESTINATION_BURST, this.#tokens + (elapsedMs / 1_000) * perSecond);
    this.#filledAtMs = nowMs;
  }
}
