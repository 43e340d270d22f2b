// What a body that the front hands to an engine holds. Integer constants, because they travel in a descriptor word.

export const BODY_JSON_SINGLE = 1;
export const BODY_JSON_BATCH = 2;
export const BODY_REMOTE_WRITE_1 = 3;
export const BODY_REMOTE_WRITE_2 = 4;
/** One kind for each signal and encoding: BODY_OTLP + 2 * place in OTLP_SIGNALS + 1 for JSON. */
export const BODY_OTLP = 16;
