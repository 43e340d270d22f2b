// What the coordinator and the notifier say to each other of webhooks and single requests.
import type { AttemptOutcome } from "../delivery/delivery.ts";
import type { SandboxReport } from "./sandbox-state.ts";
import type { Transform, TransformOutcome } from "./transform.ts";
import type { WebhookMethod } from "./webhook.ts";

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

/** An event in the notifier's hands; its key is that of its row, in hex. */
export interface HandedEvent {
  readonly key: string;
  /** Number of this handing over. */
  readonly serial: number;
  readonly webhookId: string;
  readonly eventId: string;
  /** JSON. */
  readonly event: string;
  readonly dueAtMs: number;
}

/** Commands to the lanes of webhooks. */
export type EventCommand =
  /** The key by which v1a signatures are made: PKCS #8, DER, base64. */
  | { readonly type: "webhook-key"; readonly privateKey: string }
  /** A webhook is there, or is another by now. */
  | { readonly type: "webhook-target"; readonly target: WebhookTarget }
  /** It is gone, or disabled: what waits for it comes back no more. */
  | { readonly type: "webhook-gone"; readonly webhookId: string }
  | { readonly type: "webhook-events"; readonly events: readonly HandedEvent[] }
  /** One attempt, outside of all order. */
  | {
      readonly type: "webhook-try";
      readonly id: number;
      readonly target: WebhookTarget;
      readonly eventId: string;
      readonly event: string;
    };

export type WebhookCommand =
  | EventCommand
  /** Runs of a transform on events, one after another, sent nowhere. */
  | {
      readonly type: "transform-trial";
      readonly id: number;
      readonly tenant: string;
      readonly transform: Transform;
      readonly events: readonly string[];
    };

/** Outcome of an attempt. */
export interface WebhookReport {
  readonly key: string;
  readonly serial: number;
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: AttemptOutcome;
}

export type WebhookReports =
  | { readonly type: "webhook-reports"; readonly reports: readonly WebhookReport[] }
  | { readonly type: "webhook-tried"; readonly id: number; readonly attemptedAtMs: number; readonly outcome: AttemptOutcome }
  /** Outcomes of as many events as were run, in their order. */
  | {
      readonly type: "transform-tried";
      readonly id: number;
      readonly outcomes: readonly TransformOutcome[];
      readonly sandbox: SandboxReport;
    }
  | { readonly type: "sandbox"; readonly sandbox: SandboxReport };
