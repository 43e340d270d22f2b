// Parts that go on with what others have stored. They are made after those that store, and follow once they are made.
import type { Anomaly } from "../../../domain/anomaly/anomaly.ts";
import type { RcaReport } from "../../../modules/analysis/report-row.ts";
import type { ExpiredDelivery } from "../../../modules/webhooks/webhook-row.ts";

/** What a part may follow, each behind its commit. */
export interface CommitFollower {
  /** A verdict was stored so long after its bytes had come. */
  latencyObserved?(seconds: number): void;
  /** A revision of a report is stored, or names more anomalies. */
  reportStored?(report: RcaReport): void;
  /** Deliveries have ended because they are too old. */
  expired?(rows: readonly ExpiredDelivery[]): void;
  /** Anomalies that trigger analysis are stored. */
  analysisDue?(anomalies: readonly Anomaly[]): void;
}

/** The followers of one coordinator. */
export class CommitFollowers {
  readonly #followers: CommitFollower[] = [];

  /** Adds a follower behind those that are here. */
  add(follower: CommitFollower): void {
    this.#followers.push(follower);
  }

  /** All of them as one follower, those included that are added later. */
  readonly all: Required<CommitFollower> = {
    latencyObserved: (seconds) => {
      for (const follower of this.#followers) follower.latencyObserved?.(seconds);
    },
    reportStored: (report) => {
      for (const follower of this.#followers) follower.reportStored?.(report);
    },
    expired: (rows) => {
      for (const follower of this.#followers) follower.expired?.(rows);
    },
    analysisDue: (anomalies) => {
      for (const follower of this.#followers) follower.analysisDue?.(anomalies);
    },
  };
}
