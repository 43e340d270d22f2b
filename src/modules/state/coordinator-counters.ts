// The coordinator's slots in the shared counters, by name.
// Gauges of the oldest that is kept.
import {
  COORDINATOR_COUNTERS,
  COORDINATOR_SHARED_LIMITS,
  type CoordinatorCounter,
  type CoordinatorSharedLimit,
  observeLatency,
  SLOT_COORDINATOR_PLACES,
  SLOT_COORDINATOR_SHARES,
  SLOT_NOTIFY_LATENCY,
  SLOT_TURN,
} from "../../core/layout/counters.ts";

const SLOT = Object.fromEntries(COORDINATOR_COUNTERS.map((name, slot) => [name, slot])) as Record<CoordinatorCounter, number>;

/** Writes the slots; nobody else does. */
export class CoordinatorCounters {
  readonly #slots: Float64Array;

  /** `slots` begins with one slot per name of COORDINATOR_COUNTERS. */
  constructor(slots: Float64Array) {
    this.#slots = slots;
  }

  get(name: CoordinatorCounter): number {
    return this.#slots[SLOT[name]] as number;
  }

  set(name: CoordinatorCounter, value: number): void {
    this.#slots[SLOT[name]] = value;
  }

  add(name: CoordinatorCounter, by: number): void {
    this.#slots[SLOT[name]] = this.get(name) + by;
  }

  /** Counts places of a shared limit that a tenant was refused. */
  shareRefused(limit: CoordinatorSharedLimit, count: number): void {
    const slot = SLOT_COORDINATOR_SHARES + COORDINATOR_SHARED_LIMITS.indexOf(limit);
    this.#slots[slot] = (this.#slots[slot] as number) + count;
  }

  /** Sets the places of a shared limit that are in use. */
  placesTaken(limit: CoordinatorSharedLimit, taken: number): void {
    this.#slots[SLOT_COORDINATOR_PLACES + COORDINATOR_SHARED_LIMITS.indexOf(limit)] = taken;
  }

  /** From a decision to the first byte of the message that arrived. */
  notifyLatency(seconds: number): void {
    observeLatency(this.#slots, SLOT_NOTIFY_LATENCY, seconds);
  }

  /** Time of a turn in which queries or changes have worked. */
  turn(seconds: number): void {
    observeLatency(this.#slots, SLOT_TURN, seconds);
    this.set("turnMaxSeconds", Math.max(this.get("turnMaxSeconds"), seconds));
  }

  /** Counts a commit that took so long. */
  commit(seconds: number): void {
    this.add("commits", 1);
    this.add("commitSecondsTotal", seconds);
    this.set("commitMaxSeconds", Math.max(this.get("commitMaxSeconds"), seconds));
  }
}

/** 0 where nothing is kept. */
export function setOldest(counters: CoordinatorCounters, name: CoordinatorCounter, ms: number): void {
  counters.set(name, Number.isFinite(ms) ? ms / 1000 : 0);
}
