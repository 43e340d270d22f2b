import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import type { Destination } from "../../domain/notification/destinations.ts";

/** One notifier. `messages` is one message, or several where the notifier joins them; `name` is that of a mail of several. Never rejects. */
export interface ChannelSender {
  send(destination: Destination, messages: readonly AlertMessage[], name: string | null): Promise<AttemptOutcome>;
}

/** Longest wait for an answer of a receiver. */
export const SEND_TIMEOUT_MS = 10_000;

/** Outcome where a destination is not configured any more: a setting was changed between two starts. */
export const NOT_CONFIGURED: AttemptOutcome = { kind: "failed", error: "the destination is not configured any more" };
