import type { AttemptOutcome } from "../../domain/notification/channel-delivery.ts";
import type { OutboundAnswer } from "../http-client/outbound-http.ts";

const TEXT_CHARACTERS_MAX = 200;

/** Outcome of an attempt over HTTP: 2xx has arrived; 429, 408, 5xx and a network that failed are tried again; everything else is refused for good. */
export function httpOutcome(answer: OutboundAnswer): AttemptOutcome {
  if (answer.kind === "failed") {
    if (answer.blocked) return { kind: "failed", error: answer.error };
    return { kind: "retry", error: answer.error, afterMs: null, mayHaveArrived: answer.mayHaveArrived };
  }
  const { status, retryAfterMs, text } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  const error = `answered ${status}${text === "" ? "" : `: ${text.replace(/\s+/g, " ").slice(0, TEXT_CHARACTERS_MAX)}`}`;
  if (status === 429 || status === 408) return { kind: "retry", error, afterMs: retryAfterMs, mayHaveArrived: false };
  if (status >= 500) return { kind: "retry", error, afterMs: retryAfterMs, mayHaveArrived: true };
  return { kind: "failed", error };
}
