// What the coordinator and the notifier say to each other. The coordinator alone writes; the notifier alone sends.
import type { AlertMessage } from "./alert-message.ts";
import type { AttemptOutcome } from "./channel-delivery.ts";
import type { WaitingDelivery } from "./destination-lane.ts";
import type { Destination } from "./destinations.ts";

/** A stored message in the notifier's hands; its key is that of its row, in hex. */
export interface HandedDelivery extends WaitingDelivery {
  /** Number of this handing over: outcomes of an earlier one count no more. */
  readonly serial: number;
  readonly destination: Destination;
  readonly message: AlertMessage;
}

export type NotifierCommand =
  | { readonly type: "send"; readonly deliveries: readonly HandedDelivery[] }
  /** Give a delivery back if no attempt of it has begun; otherwise its outcome comes as usual. */
  | { readonly type: "recall"; readonly tenant: string; readonly key: string; readonly destination: Destination };

/** Outcome of one delivery: an attempt that has ended, or that it came back untried. */
export type DeliveryReport = { readonly key: string; readonly serial: number } & (
  | { readonly kind: "recalled" }
  | { readonly kind: "attempted"; readonly sentAtMs: number; readonly endedAtMs: number; readonly outcome: AttemptOutcome }
);

/** Message of the notifier to the coordinator. */
export interface NotifierReport {
  readonly type: "reports";
  readonly reports: readonly DeliveryReport[];
}
