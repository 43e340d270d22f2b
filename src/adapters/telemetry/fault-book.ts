// Faults of all threads, counted by where they are at home and logged by name: a line each at first, then one in LINE_MS with how many there were.
import { FAULT_PLACES, type FaultPosition } from "../../core/faults/guard.ts";
import type { FaultReport } from "../../core/telemetry/fault-report.ts";
import type { Log } from "../../core/telemetry/log-event.ts";

/** Between two lines of the same name: a fault that comes with each request fills no log. */
const LINE_MS = 10_000;
/** Names are constants of the code, some hundred; the bound holds if one ever was not. */
const NAMES_MAX = 512;

/** What each place's throw has cost, for the log. */
const COSTS: Readonly<Record<FaultPosition, string>> = {
  request: "its request was answered 500",
  connection: "its connection was closed",
  task: "it goes on at its next turn",
  child: "its process was ended, and its job has failed",
  thread: "its thread is started again",
};

export interface FaultBookDependencies {
  readonly monotonicMs: () => number;
  readonly log: Log;
}

interface Named {
  lineMs: number;
  unsaid: number;
}

/** Counts and logs faults. */
export class FaultBook {
  /** Faults since the start. */
  readonly counts = new Map<FaultPosition, number>(FAULT_PLACES.map((where) => [where, 0]));
  readonly #dependencies: FaultBookDependencies;
  readonly #names = new Map<string, Named>();

  constructor(dependencies: FaultBookDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes a fault. Requests have a line of their own, with their id, where they failed. */
  take({ where, name, stack }: Omit<FaultReport, "type">): void {
    this.counts.set(where, (this.counts.get(where) as number) + 1);
    if (where === "request") return;
    const nowMs = this.#dependencies.monotonicMs();
    const named = this.#names.get(name) ?? { lineMs: Number.NEGATIVE_INFINITY, unsaid: 0 };
    if (this.#names.size < NAMES_MAX) this.#names.set(name, named);
    if (nowMs - named.lineMs < LINE_MS) {
      named.unsaid++;
      return;
    }
    const fields = named.unsaid === 0 ? { stack } : { stack, before: named.unsaid };
    this.#dependencies.log("error", `${name} failed; ${COSTS[where]}`, fields);
    named.lineMs = nowMs;
    named.unsaid = 0;
  }
}
