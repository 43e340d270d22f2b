// Which letters a selection means, and what each would become.
// The id by which people name a dead letter: when it was received, 12 hex digits, and its own 32, so that it is found by one look-up.
import type { KeyValueStore, StoreEntry } from "../../adapters/storage/key-value-store.ts";
import { TIMESTAMP_AGE_MS_MAX } from "../../core/config/limits.ts";
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import { recordOfDeadLetter, serviceOfDeadLetter } from "../../domain/series/dead-letter-record.ts";
import { isRefusal, judgeRecord, type Refusal, type TelemetryRecord } from "../../domain/series/telemetry-record.ts";
import { DEAD_LETTER } from "../state/shared-forms.ts";
import { ID_BYTES, idText, tenantTimeBound, tenantTimeKey } from "../state/tables.ts";
import type { DeadLetterSelection } from "./replay-book.ts";

const DEAD_LETTER_ID = /^[0-9a-f]{44}$/;
const TIME_DIGITS = 12;

/** Reason of letters that hold an event of a webhook. */
export const WEBHOOK_EXHAUSTED = "webhook_exhausted";

export function readDeadLetter({ value }: StoreEntry): DeadLetterEnvelope {
  return DEAD_LETTER.decode(value);
}

/** Whether a filter takes the letter; its time is for the range to say. */
export function selects({ reason, topic, serviceId }: DeadLetterSelection, letter: DeadLetterEnvelope): boolean {
  if (reason !== undefined && letter.reason !== reason) return false;
  if (topic !== undefined && letter.topic !== topic) return false;
  return serviceId === undefined || serviceOfDeadLetter(letter.payload) === serviceId;
}

/** The oldest letters of a range behind a place, at most `limit`. */
export function deadLettersAfter(
  store: KeyValueStore,
  tenant: string,
  { fromMs, toMs }: DeadLetterSelection,
  after: DeadLetterKey | null,
  limit: number,
): StoreEntry[] {
  const to = tenantTimeBound(tenant, toMs ?? Number.POSITIVE_INFINITY);
  if (after === null) return store.range("dead_letters", { from: tenantTimeBound(tenant, fromMs ?? Number.NEGATIVE_INFINITY), to, limit });
  const last = tenantTimeKey(tenant, after.receivedMs, after.id);
  const behind = new Uint8Array(last.length + 1);
  behind.set(last);
  return store.range("dead_letters", { from: behind, to, limit });
}

/** Where a letter lies. */
export function decodeKey(key: Uint8Array): DeadLetterKey {
  const reader = new KeyReader(key);
  reader.text();
  const receivedMs = reader.time();
  return { receivedMs, id: idText(reader.fixed(ID_BYTES)) };
}

/** Fate of a dead letter now: refused again, or taken as live telemetry or, when its time is over a day ago, as history. */
export type DeadLetterFate =
  | { readonly outcome: "refused"; readonly refusal: Refusal }
  | { readonly outcome: "live" | "history"; readonly record: TelemetryRecord };

/** Judges a letter's record by when it first came: what was in time then is in time now. */
export function fateOf(letter: DeadLetterEnvelope, nowMs: number): DeadLetterFate {
  const judged = judgeRecord(recordOfDeadLetter(letter.payload), letter.receivedMs);
  if (isRefusal(judged)) return { outcome: "refused", refusal: judged };
  return { outcome: judged.timeMs < nowMs - TIMESTAMP_AGE_MS_MAX ? "history" : "live", record: judged };
}

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
  const decoded = deadLetterKeyOf(text);
  return decoded && tenantTimeKey(tenant, decoded.receivedMs, decoded.id);
}
