// What the pairs of services have confirmed lately: a departure that holds by itself, or one that two metrics share. Kept in memory alone: what goes on is
// confirmed again with every value.
import { CONFIRMATIONS_PER_SERVICE_MAX, SIGNAL_SERVICES_MAX } from "../../../core/config/limits.ts";
import type { ConfirmedPair } from "../../../core/protocol/engine-control.ts";
import { directionGate } from "../../detection/gates/direction.ts";
import { sourceOf } from "../ensemble.ts";
import { scopeText } from "./service-scope.ts";

interface Confirmed {
  readonly source: string;
  readonly atMs: number;
  /** When it last needed no other metric; 0 for never. */
  readonly aloneMs: number;
}

/** Two cycles of the Watchdog: pairs that are given a value a minute are seen in each. */
const CONFIRMED_MS = 120_000;
const SHARING_MIN = 2;

export class ServiceConfirmations {
  readonly #services = new Map<string, readonly Confirmed[]>();

  /** Takes what a pair has confirmed, unless it goes the way that nobody minds. */
  take(pair: ConfirmedPair, atMs: number): void {
    const { metricName, isAlone, side, direction } = pair;
    if (side !== 0 && !directionGate(side, metricName, direction).passed) return;
    const key = scopeText(pair);
    const source = sourceOf({ family: "metric", metricName, atMs });
    const before = this.#newer(key, atMs);
    const aloneMs = isAlone ? atMs : (before.find((other) => other.source === source)?.aloneMs ?? 0);
    const others = before.filter((other) => other.source !== source);
    this.#services.delete(key);
    this.#services.set(key, [...others, { source, atMs, aloneMs }].slice(-CONFIRMATIONS_PER_SERVICE_MAX));
    if (this.#services.size <= SIGNAL_SERVICES_MAX) return;
    for (const longest of this.#services.keys()) {
      this.#services.delete(longest);
      return;
    }
  }

  /** Whether a metric of the service departs lastingly by itself, or two of them together. */
  isConfirmed(key: string, nowMs: number): boolean {
    const confirmed = this.#newer(key, nowMs);
    return confirmed.length >= SHARING_MIN || confirmed.some(({ aloneMs }) => nowMs - aloneMs <= CONFIRMED_MS);
  }

  #newer(key: string, nowMs: number): readonly Confirmed[] {
    const confirmed = this.#services.get(key);
    return confirmed === undefined ? [] : confirmed.filter(({ atMs }) => nowMs - atMs <= CONFIRMED_MS);
  }
}
