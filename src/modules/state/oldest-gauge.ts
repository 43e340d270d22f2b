// Gauges of the oldest that is kept.
import type { CoordinatorCounter } from "../../core/layout/counters.ts";
import type { CoordinatorCounters } from "./coordinator-counters.ts";

/** 0 where nothing is kept. */
export function setOldest(counters: CoordinatorCounters, name: CoordinatorCounter, ms: number): void {
  counters.set(name, Number.isFinite(ms) ? ms / 1000 : 0);
}
