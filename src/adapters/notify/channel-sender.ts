import { withoutSecrets } from "../../core/text/secret-mask.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import type { OutboundAnswer } from "../http-client/outbound-http.ts";

const TEXT_CHARACTERS_MAX = 200;

/** One notifier. `messages` is one message, or several where the notifier joins them; `name` is that of a mail of several. Never rejects. */
export interface ChannelSender {
  send(destination: Destination, messages: readonly AlertMessage[], name: string | null): Promise<AttemptOutcome>;
}

/** Longest wait for an answer of a receiver. */
export const SEND_TIMEOUT_MS = 10_000;

/** Outcome where a destination is not configured any more: a setting was changed between two starts. */
export const NOT_CONFIGURED: AttemptOutcome = { kind: "failed", error: "the destination is not configured any more" };

/**
 * Outcome of an attempt over HTTP: 2xx has arrived; 429, 408, 5xx and a network that failed are tried again; everything else is refused for good. `secrets` are
 * what was sent and nobody is shown.
 */
export function httpOutcome(answer: OutboundAnswer, secrets: readonly string[]): AttemptOutcome {
  if (answer.kind === "failed") {
    const error = withoutSecrets(answer.error, secrets);
    if (answer.blocked) return { kind: "failed", error };
    return { kind: "retry", error, afterMs: null, mayHaveArrived: answer.mayHaveArrived };
  }
  const { status, retryAfterMs, text } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  const error = `answered ${status}${text === "" ? "" : `: ${withoutSecrets(text, secrets).replace(/\s+/g, " ").slice(0, TEXT_CHARACTERS_MAX)}`}`;
  if (status === 429 || status === 408) return { kind: "retry", error, afterMs: retryAfterMs, mayHaveArrived: false };
  if (status >= 500) return { kind: "retry", error, afterMs: retryAfterMs, mayHaveArrived: true };
  return { kind: "failed", error };
}
