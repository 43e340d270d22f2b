// All that the coordinator and the notifier say to each other. The coordinator alone writes; the notifier alone sends.
// What a sandbox says of itself: its walls, and counts since its start.

import type { AttemptOutcome } from "../delivery/delivery.ts";
import type { WaitingDelivery } from "../delivery/destination-queue.ts";
import type { AlertMessage } from "../notification/alert-message.ts";
import type { Destination } from "../notification/destinations.ts";
import type { Transform, TransformOutcome } from "./transform.ts";
import type { WebhookMethod } from "./webhook.ts";

/** A request to a URL that a tenant has set. */
export interface TenantRequest {
  readonly url: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
}

/** Where events of a webhook go, secrets included. */
export interface WebhookTarget {
  readonly id: string;
  readonly tenant: string;
  readonly url: string;
  readonly method: WebhookMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly transform: Transform | null;
  /** Those that sign now, the newest first, with the time until which each does. */
  readonly secrets: ReadonlyArray<{ readonly secret: string; readonly untilMs: number }>;
}

/** What a message of an alert carries. */
export interface MessageContent {
  readonly kind: "channel";
  readonly destination: Destination;
  readonly message: AlertMessage;
}

/** What an event carries: its JSON, sent under its id. */
export interface EventContent {
  readonly kind: "webhook";
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
}

/** What a step of a runbook carries: its request, under its key. */
export interface StepContent {
  readonly kind: "step";
  readonly request: TenantRequest;
}

export type DeliveryContent = MessageContent | EventContent | StepContent;

/** A delivery as it is handed over; its key is that of its row, in hex. */
export type LeavingDelivery = WaitingDelivery & DeliveryContent;

/** A stored delivery in the notifier's hands, with the number of this handing over: outcomes of an earlier one count no more. */
export type HandedDelivery = LeavingDelivery & { readonly serial: number };

/** A handing over as reports name it. */
export type HandedKey = Pick<HandedDelivery, "key" | "serial">;

export type DeliveryCommand =
  /** Of one kind; parts of one mail come in one command. */
  | { readonly type: "send"; readonly deliveries: readonly HandedDelivery[] }
  /** Give a message back if no attempt of it has begun; otherwise its outcome comes as usual. */
  | { readonly type: "recall"; readonly tenant: string; readonly key: string; readonly destination: Destination }
  /** Answer to `joining`: the mail is stored under this name and may leave; null where it could not be stored, and each leaves by itself. */
  | { readonly type: "join"; readonly id: number; readonly destination: Destination; readonly name: string | null }
  /** The key by which v1a signatures are made: PKCS #8, DER, base64. */
  | { readonly type: "webhook-key"; readonly privateKey: string }
  /** A webhook is there, or is another by now. */
  | { readonly type: "webhook-target"; readonly target: WebhookTarget }
  /** It is gone, or disabled: what waits for it comes back no more. */
  | { readonly type: "webhook-gone"; readonly webhookId: string };

export type OutboundCommand =
  | DeliveryCommand
  /** Are you there? Answered at once, by the same word. */
  | { readonly type: "pulse" }
  /** Messages to one destination, one after the other, outside of all order. */
  | { readonly type: "channel-try"; readonly id: number; readonly destination: Destination; readonly messages: readonly AlertMessage[] }
  /** One attempt of an event, outside of all order. */
  | {
      readonly type: "webhook-try";
      readonly id: number;
      readonly target: WebhookTarget;
      readonly eventId: string;
      readonly event: string;
    }
  /** Runs of a transform on events, one after another, sent nowhere. */
  | {
      readonly type: "transform-trial";
      readonly id: number;
      readonly tenant: string;
      readonly transform: Transform;
      readonly events: readonly string[];
    };

/** What became of deliveries: an attempt has ended, one came back untried, or messages are to leave in one mail, which waits until it is stored. */
export type DeliveryReport = { readonly of: DeliveryContent["kind"] } & (
  | ({ readonly kind: "recalled" } & HandedKey)
  | { readonly kind: "joining"; readonly id: number; readonly destination: Destination; readonly deliveries: readonly HandedKey[] }
  | {
      readonly kind: "attempted";
      readonly deliveries: readonly HandedKey[];
      readonly sentAtMs: number;
      readonly endedAtMs: number;
      readonly outcome: AttemptOutcome;
    }
);

export type OutboundReport = { readonly type: "pulse" } | OutboundOutcome;

/** What became of what it was sent. */
export type OutboundOutcome =
  | { readonly type: "reports"; readonly reports: readonly DeliveryReport[] }
  /** Of a try of a channel or a webhook. */
  | { readonly type: "tried"; readonly id: number; readonly sentAtMs: number; readonly outcome: AttemptOutcome }
  /** Outcomes of as many events as were run, in their order. */
  | {
      readonly type: "transform-tried";
      readonly id: number;
      readonly outcomes: readonly TransformOutcome[];
      readonly sandbox: SandboxReport;
    }
  | { readonly type: "sandbox"; readonly sandbox: SandboxReport };

/** Walls that stand around programs of tenants. `missing`: why the kernel's, or the process's, does not. */
export interface SandboxWalls {
  readonly interpreter: true;
  readonly process: boolean;
  readonly kernel: boolean;
  /** Namespaces of its own, by bubblewrap: beside the others where it is found. */
  readonly namespaces: boolean;
  readonly missing: string | null;
  /** Languages that programs may be written in here. */
  readonly languages: readonly string[];
}

interface SandboxCounts {
  readonly runs: number;
  readonly failures: number;
  /** Runs that overran their limits or ended their process. */
  readonly kills: number;
  readonly starts: number;
  readonly processes: number;
  readonly waiting: number;
}

/** Report of a sandbox when it has changed. `walls` are null before its first process. */
export interface SandboxReport {
  readonly walls: SandboxWalls | null;
  readonly counts: SandboxCounts;
}
