// What a body that the front hands to an engine holds. Integer constants, because they travel in a descriptor word.

export const BODY_JSON_SINGLE = 1;
export const BODY_JSON_BATCH = 2;
export const BODY_REMOTE_WRITE_1 = 3;
export const BODY_REMOTE_WRITE_2 = 4;
/** A batch that the server sends itself (own-telemetry.ts): taken like one of a sender, and not billed. */
export const BODY_JSON_OWN = 5;
/** Levels that people take for the usual ones (accepted-level.ts). */
export const BODY_ACCEPTED_LEVELS = 6;
/** Dead letters again, as JSON; their records are of the last day. */
export const BODY_REPLAY = 8;
/** The same with records that are older: they are history. */
export const BODY_REPLAY_HISTORY = 9;
/** Samples of the past as CSV, or as one of the JSON formats of domain/history. */
export const BODY_IMPORT_CSV = 10;
export const BODY_IMPORT_JSON = 11;
/** The same as remote-write, 1.0 and 2.0. */
export const BODY_IMPORT_REMOTE_WRITE_1 = 12;
export const BODY_IMPORT_REMOTE_WRITE_2 = 13;
/** One kind for each signal and encoding: BODY_OTLP + 2 * place in OTLP_SIGNALS + 1 for JSON. */
export const BODY_OTLP = 16;

/** Whether the rows of such a body are history, which keeps to units of work of its own. */
export function isHistoryBody(kind: number): boolean {
  return kind >= BODY_REPLAY_HISTORY && kind <= BODY_IMPORT_REMOTE_WRITE_2;
}

/** Whether a JSON body is an array of records. */
export function isBatchBody(kind: number): boolean {
  return kind === BODY_JSON_BATCH || kind === BODY_JSON_OWN;
}
