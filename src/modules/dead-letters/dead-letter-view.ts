// A dead letter as answers show it.
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { Refusal } from "../../domain/series/telemetry-record.ts";
import { deadLetterId } from "./dead-letter-selection.ts";

/** The entry of a list. */
export function deadLetterView(letter: DeadLetterEnvelope) {
  const { reason, field, message, topic, receivedMs, payload, count = 1, places = [], correctedMs } = letter;
  return {
    dlq_id: deadLetterId(letter),
    reason,
    field,
    message,
    topic,
    received_at: formatRfc3339(receivedMs),
    payload,
    count,
    places,
    ...(correctedMs !== undefined && { corrected_at: formatRfc3339(correctedMs) }),
  };
}

/** Remaining error of a record, in the words of an entry; null for none. */
export function problemView(refusal: Refusal | undefined) {
  return refusal === undefined ? null : { reason: refusal.reason, field: refusal.field, message: refusal.message };
}
