// Whoever stores something of its own in the transactions that store anomalies.
// Several followers of anomalies as one.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";

/** One anomaly before and after a transaction. */
export interface AnomalyStep {
  /** Undefined for a new one. */
  readonly before: Anomaly | undefined;
  readonly after: Anomaly;
  /** Its alert as the transaction leaves it. */
  readonly alert: Alert | undefined;
}

/** Consequences of one transaction; they may be thrown away. */
export interface AnomalyFollowing {
  operations(steps: readonly AnomalyStep[]): StoreOperation[];
  /** The transaction is committed. */
  apply(): void;
}

export interface AnomalyFollower {
  /** Whether anything may follow from a tenant's anomalies. */
  follows(tenant: string): boolean;
  draft(): AnomalyFollowing;
}

export function anomalyFollowers(followers: readonly AnomalyFollower[]): AnomalyFollower {
  return {
    follows: (tenant) => followers.some((one) => one.follows(tenant)),
    draft(): AnomalyFollowing {
      const drafts = followers.map((one) => one.draft());
      return {
        operations: (steps) => drafts.flatMap((draft) => draft.operations(steps)),
        apply() {
          for (const draft of drafts) draft.apply();
        },
      };
    },
  };
}
