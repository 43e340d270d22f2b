// Whoever stores something of its own in the transactions that store alerts.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import type { AlertStep } from "../../domain/notification/decided-messages.ts";
import type { Notification } from "../../domain/notification/notification-state.ts";

/** Consequences of one transaction; they may be thrown away. */
export interface FollowingDraft {
  /** Operations of the same transaction. */
  operations(steps: readonly AlertStep[]): StoreOperation[];
  /** The transaction is committed. */
  apply(): void;
}

export interface AlertFollower {
  draft(): FollowingDraft;
  /** Operations that delete what is stored of an alert with the alert itself. */
  removal(tenant: string, alertId: string): StoreOperation[];
  /** Whether anybody was told of an alert, as it is stored. */
  notification(alert: Alert): Notification;
}
