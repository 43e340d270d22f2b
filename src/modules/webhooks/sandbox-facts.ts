// What is known of the sandbox that runs transforms: what the notifier told last, and counts over all notifiers of this server.
import type { SandboxReport, SandboxWalls } from "../../domain/webhooks/outbound-messages.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";

/** By the name of the count. */
const TOTALS = { runs: "transformRuns", failures: "transformFailures", kills: "transformKills", starts: "sandboxStarts" } as const;
const NAMES = Object.keys(TOTALS) as ReadonlyArray<keyof typeof TOTALS>;

export class SandboxFacts {
  readonly #counters: CoordinatorCounters;
  #last: SandboxReport | undefined;
  #walls: SandboxWalls | null = null;

  constructor(counters: CoordinatorCounters) {
    this.#counters = counters;
  }

  /** Null before the first process of the server. */
  get walls(): SandboxWalls | null {
    return this.#walls;
  }

  get processes(): number {
    return this.#last?.counts.processes ?? 0;
  }

  get waiting(): number {
    return this.#last?.counts.waiting ?? 0;
  }

  take(report: SandboxReport): void {
    for (const name of NAMES) this.#counters.add(TOTALS[name], report.counts[name] - (this.#last?.counts[name] ?? 0));
    this.#last = report;
    this.#walls = report.walls ?? this.#walls;
    this.#count();
  }

  /** The notifier has ended, and its processes with it. */
  ended(): void {
    this.#last = undefined;
    this.#count();
  }

  #count(): void {
    this.#counters.set("sandboxProcesses", this.processes);
    this.#counters.set("transformsWaiting", this.waiting);
  }
}
