// An engine's part of the Watchdog's cycle: for each pass a walk over its services. What a pass finds leaves through the outbox as verdict frames; what it
// has looked at is counted.
import { WATCHDOG_SLICE_MS } from "../../../core/config/limits.ts";
import type { WatchdogAnswer, WatchdogCounts, WatchdogPass, WatchdogQuery } from "../../../core/protocol/engine-control.ts";
import { type ServiceVisitor, ServiceWalk, type ServiceWalkDependencies } from "./service-walk.ts";

/** A detector of the Watchdog: visits services, counts, and may tell something for each slice. */
export interface WatchdogDetector extends ServiceVisitor {
  /** What has been counted since the last call. */
  takeCounts(): WatchdogCounts;
  /** What the coordinator is told besides frames since the last call; undefined where that is nothing. */
  takeFound(): unknown;
}

export const NO_COUNTS: WatchdogCounts = { evaluated: 0, learning: 0, skipped: {} };

/** The detectors of an engine by pass; a pass without one is at its end at once. */
export class EngineWatchdog {
  readonly #monotonicMs: () => number;
  readonly #passes = new Map<WatchdogPass, { readonly detector: WatchdogDetector; readonly walk: ServiceWalk }>();

  constructor(detectors: Partial<Record<WatchdogPass, WatchdogDetector>>, dependencies: ServiceWalkDependencies) {
    this.#monotonicMs = dependencies.monotonicMs;
    for (const [pass, detector] of Object.entries(detectors)) {
      this.#passes.set(pass as WatchdogPass, { detector, walk: new ServiceWalk(detector, dependencies) });
    }
  }

  /** Does the slice that is asked for. */
  answer({ id, cycle, pass, nowMs }: WatchdogQuery): WatchdogAnswer {
    const startMs = this.#monotonicMs();
    const at = this.#passes.get(pass);
    const done = at?.walk.slice(cycle, nowMs, WATCHDOG_SLICE_MS) ?? true;
    const counts = at?.detector.takeCounts() ?? NO_COUNTS;
    return { type: "watchdog", id, counts, found: at?.detector.takeFound(), done, tookMs: this.#monotonicMs() - startMs };
  }
}
