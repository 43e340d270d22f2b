// What a restart has interrupted: reports that are not final, and anomalies that triggered analysis and are in no report. A start only notes them, as they would be a good part of it after
// a storm; they are taken up in slices once the server serves, in the order of their times, and what triggers analysis meanwhile waits behind them. They are stored already: a server that
// ends before their turn leaves them to the next start.
import { RCA_PAIRS_MAX } from "../../core/config/limits.ts";
import type { AnomalyKey } from "../anomalies/anomaly-book.ts";
import type { RcaReport } from "./report-row.ts";

/** Who takes them up, one at a time. */
export interface Resumption {
  report(report: RcaReport): void;
  anomaly(key: AnomalyKey): void;
}

/** The reports, then the anomalies, in their order. */
export class InterruptedAnalyses {
  #reports: readonly RcaReport[] = [];
  #anomalies: AnomalyKey[] = [];
  /** Number of both together that have been taken up. */
  #at = 0;

  /** Number of those that still wait. */
  get size(): number {
    return this.#reports.length + this.#anomalies.length - this.#at;
  }

  /** Whether nothing may wait behind them any more. */
  get isFull(): boolean {
    return this.#anomalies.length > RCA_PAIRS_MAX;
  }

  /** Adds reports ahead of all anomalies, which only a start does, and anomalies behind all. */
  add(reports: readonly RcaReport[], anomalies: readonly AnomalyKey[]): void {
    this.#reports = [...this.#reports, ...reports];
    for (const { tenant, id, detectedAtMs } of anomalies) this.#anomalies.push({ tenant, id, detectedAtMs });
  }

  /** Takes up one at least, and the next as long as `goesOn`. */
  takeUp({ report, anomaly }: Resumption, goesOn: () => boolean): void {
    do {
      const at = this.#at++;
      const interrupted = this.#reports[at];
      if (interrupted === undefined) anomaly(this.#anomalies[at - this.#reports.length] as AnomalyKey);
      else report(interrupted);
    } while (this.size > 0 && goesOn());
    if (this.size > 0) return;
    this.#reports = [];
    this.#anomalies = [];
    this.#at = 0;
  }
}
