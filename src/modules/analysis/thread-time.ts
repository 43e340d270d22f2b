// Time of the coordinator's thread that goes into root-cause analysis, beside what waits for engines and store: `vedette_rca_busy_seconds_total`.
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";

export interface ThreadTimeDependencies {
  readonly counters: CoordinatorCounters;
  monotonicMs(): number;
}

/** Counts it. */
export class ThreadTime {
  readonly #dependencies: ThreadTimeDependencies;

  constructor({ counters, monotonicMs }: ThreadTimeDependencies) {
    this.#dependencies = { counters, monotonicMs };
  }

  /** Does what waits for nothing. */
  spend<T>(work: () => T): T {
    const { counters, monotonicMs } = this.#dependencies;
    const startMs = monotonicMs();
    const done = work();
    counters.add("rcaBusySeconds", (monotonicMs() - startMs) / 1000);
    return done;
  }
}
