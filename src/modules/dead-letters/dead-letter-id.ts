// The id by which people name a dead letter: when it was received, 12 hex digits, and its own 32, so that it is found by one look-up.
import { tenantTimeKey } from "../state/tables.ts";

const DEAD_LETTER_ID = /^[0-9a-f]{44}$/;
const TIME_DIGITS = 12;

/** Received time in ms since 1970 and id of a letter. */
export interface DeadLetterKey {
  readonly receivedMs: number;
  readonly id: string;
}

/** The dlq_id of a letter. */
export function deadLetterId({ receivedMs, id }: DeadLetterKey): string {
  return Math.max(0, Math.floor(receivedMs)).toString(16).padStart(TIME_DIGITS, "0") + id;
}

/** The place that a dlq_id names, or undefined where the text is none. */
function deadLetterKeyOf(text: string): DeadLetterKey | undefined {
  if (!DEAD_LETTER_ID.test(text)) return undefined;
  return { receivedMs: Number.parseInt(text.slice(0, TIME_DIGITS), 16), id: text.slice(TIME_DIGITS) };
}

/** Key of the letter with that dlq_id; undefined where the text is none. */
export function deadLetterKey(tenant: string, text: string): Uint8Array | undefined {
  const place = deadLetterKeyOf(text);
  return place && tenantTimeKey(tenant, place.receivedMs, place.id);
}
