// What a chunk of samples (domain/codec/sample-chunk.ts) begins with where it is more than a column of times and one of values. Read by both compilers: integer constants only.

/** Instead of the count: the chunk has a form, which comes next. */
export const CHUNK_HAS_FORM = 0;

// The form, u8. The bits that are left are for what a later version keeps beside the values.
export const FORM_COUNTED = 1; // deltas of a counter, behind what the first was measured from: {cumulative value, gap}
export const FORM_ANCHOR_INTEGER = 2; // of FORM_COUNTED: that value is a zigzag varint, else an f64
export const FORM_SENT = 4; // values as they were sent: of their times they go before what other chunks say; detection reads none of them
export const FORM_DELTAS = 8; // deltas that a chunk of FORM_SENT says the values of

// The gap, a varint: when the value that the first delta was measured from was sent.
export const GAP_NONE = 0; // never: counting began with the first delta
export const GAP_STEP = 1; // as long before the first time as that is before the second
export const GAP_ADDED = 1; // else the milliseconds before the first time, and this
