// What is its own of a kind of deliveries: its rows, its bounds, and what an outcome comes to. All else is the outbox's.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { DeliveryCommand, DeliveryContent, DeliveryReport, LeavingDelivery } from "../../domain/webhooks/outbound-messages.ts";

/** The notifier's end. */
export interface DeliveryLink {
  send(command: DeliveryCommand): void;
}

/** What one commit stores of a kind. */
export interface DeliveryWork {
  /** What it stores outlasts a loss of power before anything of it leaves. */
  readonly isFlushed?: boolean;
  operations(): StoreOperation[];
  /** It is stored. */
  apply(): void;
  /** It could not be stored: what else than reports it was made of is to be done again. */
  undone(): void;
}

export interface DeliveryKind {
  readonly name: DeliveryContent["kind"];
  /** An attempt is stored as begun before it leaves, and one that was cut is not repeated unasked. */
  readonly isStoredFirst?: boolean;
  /** Places in the notifier's hands, of which tenants have shares. */
  readonly places: ShareLedger;
  /** Reads what is not done with. To be called once, before anything is committed. */
  load?(): void;
  /** A notifier is there. */
  connected?(): void;
  /** It has ended: what it had in its hands waits again, or is reported as lost where it was stored first. */
  disconnected?(): void;
  /** Deliveries to one receiver in the notifier's hands at most. */
  handedMost(isUrgent: boolean): number;
  /** Whether what waits for a receiver may leave now. */
  mayLeave(receiver: string): boolean;
  /** What leaves for a row, all parts of its mail in their order; empty where it is gone. */
  leaving(key: string): readonly LeavingDelivery[];
  /** Takes reports of what is still handed over, keys of what is to be stored as begun, and what else there is to do. */
  work(reports: readonly DeliveryReport[], beginning: readonly string[]): DeliveryWork;
  /** Sets its gauges. */
  count?(): void;
}
