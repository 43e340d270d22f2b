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
  #anomalies: readonly AnomalyKey[] = [];

  /** Number of both together. */
  get size(): number {
    return this.#reports.length + this.#anomalies.length;
  }

  /** Whether more wait than are to. */
  get isFull(): boolean {
    return this.size > RCA_PAIRS_MAX;
  }

  /** Adds reports ahead of all anomalies, which only a start does, and anomalies behind all. */
  add(reports: readonly RcaReport[], anomalies: readonly AnomalyKey[]): void {
    this.#reports = [...this.#reports, ...reports];
    this.#anomalies = [...this.#anomalies, ...anomalies.map(({ tenant, id, detectedAtMs }) => ({ tenant, id, detectedAtMs }))];
  }

  /** Takes up one at least, and the next as long as `goesOn`. */
  takeUp({ report, anomaly }: Resumption, goesOn: () => boolean): void {
    const most = this.size;
    let [reports, anomalies] = [0, 0];
    try {
      while (reports + anomalies < most && (reports + anomalies === 0 || goesOn())) {
        if (reports < this.#reports.length) report(this.#reports[reports++] as RcaReport);
        else anomaly(this.#anomalies[anomalies++] as AnomalyKey);
      }
    } finally {
      // One that cannot be taken up is not tried again: the next start does.
      this.#reports = this.#reports.slice(reports);
      this.#anomalies = this.#anomalies.slice(anomalies);
    }
  }
}
