// All that the coordinator and the notifier say to each other.

import type { AttemptOutcome } from "../delivery/delivery.ts";
import type { AlertMessage } from "../notification/alert-message.ts";
import type { Destination } from "../notification/destinations.ts";
import type { NotifierCommand, NotifierReport } from "../notification/notifier-messages.ts";
import type { WebhookCommand, WebhookReports } from "./webhook-messages.ts";

/** A request to a URL that a tenant has set. */
export interface TenantRequest {
  readonly url: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
}

/** Outcome of the request. `mayHaveArrived`: it was sent, at least in part, and no answer came. */
export type TenantAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly text: string; readonly tookMs: number }
  | { readonly kind: "failed"; readonly error: string; readonly mayHaveArrived: boolean; readonly tookMs: number };

export type OutboundCommand =
  | NotifierCommand
  | WebhookCommand
  /** Messages to one destination, one after the other, outside of all order. */
  | { readonly type: "channel-try"; readonly id: number; readonly destination: Destination; readonly messages: readonly AlertMessage[] }
  /** One request past the guard. */
  | { readonly type: "request"; readonly id: number; readonly request: TenantRequest };

export type OutboundReport =
  | NotifierReport
  | WebhookReports
  | { readonly type: "channel-tried"; readonly id: number; readonly outcome: AttemptOutcome }
  | { readonly type: "requested"; readonly id: number; readonly answer: TenantAnswer };
