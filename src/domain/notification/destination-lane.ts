// What waits for one destination: a rate with a burst, what fires before what has ended, tenants in turns, the messages of one alert in their order. Lanes share
// nothing, so one dead receiver delays no other.
import { DESTINATION_BURST, JOINED_MESSAGES_MAX } from "../../core/config/notification-limits.ts";
import type { MessageRank } from "./message-joins.ts";

/** One delivery that waits; the same key is never in a lane twice. */
export interface WaitingDelivery {
  readonly key: string;
  readonly tenant: string;
  /** The same of all parts of a mail. */
  readonly dueAtMs: number;
  readonly rank: MessageRank;
  /** Text in common of what it may be joined with; null where it leaves alone. */
  readonly joins: string | null;
  /** Name of the mail that it is a part of already, whose other parts are here too; null for none. */
  readonly joined: string | null;
}

export class DestinationLane<T extends WaitingDelivery> {
  readonly #perSecond: number;
  readonly #joins: boolean;
  readonly #waiting = new Map<string, T[]>();
  #tokens = DESTINATION_BURST;
  #filledAtMs: number | null = null;
  #inFlight = false;

  /** `joins`: what may be joined with what leaves goes in one message, JOINED_MESSAGES_MAX at most, of one tenant. */
  constructor(perSecond: number, joins: boolean) {
    this.#perSecond = perSecond;
    this.#joins = joins;
  }

  /** Whether nothing is left to remember of it: nothing waits, none is under way, and its burst is whole again. */
  isIdle(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#waiting.size === 0 && !this.#inFlight && this.#tokens >= DESTINATION_BURST;
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

  /** Messages that leave now, of one tenant; empty while one is under way, none is due or the rate holds. `done` ends what this began. */
  take(nowMs: number): T[] {
    if (this.#inFlight) return [];
    this.#refill(nowMs);
    if (this.#tokens < 1) return [];
    const first = this.#first(nowMs);
    if (first === undefined) return [];
    const taken = this.#with(first, nowMs);
    this.#tokens -= 1;
    this.#inFlight = true;
    const rest = (this.#waiting.get(first.tenant) ?? []).filter((delivery) => !taken.includes(delivery));
    this.#waiting.delete(first.tenant);
    if (rest.length > 0) this.#waiting.set(first.tenant, rest); // behind the other tenants
    return taken;
  }

  done(): void {
    this.#inFlight = false;
  }

  /** When `take` may give something again; null where nothing waits or one is under way. */
  nextAtMs(nowMs: number): number | null {
    if (this.#inFlight) return null;
    let dueAtMs = Number.POSITIVE_INFINITY;
    for (const deliveries of this.#waiting.values()) for (const delivery of deliveries) dueAtMs = Math.min(dueAtMs, delivery.dueAtMs);
    if (dueAtMs === Number.POSITIVE_INFINITY) return null;
    this.#refill(nowMs);
    const tokenAtMs = this.#tokens >= 1 ? nowMs : nowMs + Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1_000);
    return Math.max(dueAtMs, tokenAtMs);
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
    const own = this.#waiting.get(first.tenant) ?? [];
    if (joined !== null) return own.filter((delivery) => delivery.joined === joined);
    if (!this.#joins || joins === null) return [first];
    const due = own.filter((delivery) => delivery.joins === joins && delivery.joined === null && delivery.dueAtMs <= nowMs);
    return due.slice(0, JOINED_MESSAGES_MAX);
  }

  #refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - (this.#filledAtMs ?? nowMs));
    this.#tokens = Math.min(DESTINATION_BURST, this.#tokens + (elapsedMs / 1_000) * this.#perSecond);
    this.#filledAtMs = nowMs;
  }
}
