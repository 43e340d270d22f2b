// What the coordinator and the notifier say to each other. The coordinator alone writes; the notifier alone sends.

import type { AttemptOutcome } from "../delivery/delivery.ts";
import type { AlertMessage } from "./alert-message.ts";
import type { WaitingDelivery } from "./destination-lane.ts";
import type { Destination } from "./destinations.ts";

/** A stored message in the notifier's hands; its key is that of its row, in hex. */
export interface HandedDelivery extends WaitingDelivery {
  /** Number of this handing over: outcomes of an earlier one count no more. */
  readonly serial: number;
  readonly destination: Destination;
  readonly message: AlertMessage;
}

/** A handing over as reports name it. */
export type HandedKey = Pick<HandedDelivery, "key" | "serial">;

export type NotifierCommand =
  /** Parts of one mail come in one command. */
  | { readonly type: "send"; readonly deliveries: readonly HandedDelivery[] }
  /** Give a delivery back if no attempt of it has begun; otherwise its outcome comes as usual. */
  | { readonly type: "recall"; readonly tenant: string; readonly key: string; readonly destination: Destination }
  /** Answer to `joining`: the mail is stored under this name and may leave; null where it could not be stored, and each leaves by itself. */
  | { readonly type: "join"; readonly id: number; readonly destination: Destination; readonly name: string | null };

/** What became of deliveries: an attempt has ended, one came back untried, or messages are to leave in one mail, which waits until it is stored. */
export type DeliveryReport =
  | ({ readonly kind: "recalled" } & HandedKey)
  | { readonly kind: "joining"; readonly id: number; readonly destination: Destination; readonly deliveries: readonly HandedKey[] }
  | {
      readonly kind: "attempted";
      readonly deliveries: readonly HandedKey[];
      readonly sentAtMs: number;
      readonly endedAtMs: number;
      readonly outcome: AttemptOutcome;
    };

/** Message of the notifier to the coordinator. */
export interface NotifierReport {
  readonly type: "reports";
  readonly reports: readonly DeliveryReport[];
}
