// One span of a body as the ingest kernel's walk hands it to TypeScript. Read by both compilers: integer constants only. Offsets are bytes; u32 unless said otherwise.
// Addresses are those of the body, which does not change while its rows are read.

export const SPAN_ROW_BYTES = 128;
/** SPAN_ROW_* bits; of a row with SPAN_ROW_ODD only its resource and where it lies are set. */
export const SPAN_ROW_FLAGS = 0;
/** Its Resource: address and bytes (0 where the body gives none). */
export const SPAN_ROW_RESOURCE = 4;
export const SPAN_ROW_RESOURCE_BYTES = 8;
/** The Span message: address of its first byte and of the one behind its last. */
export const SPAN_ROW_ITEM = 12;
export const SPAN_ROW_ITEM_END = 16;
/** Number of its name among the texts, or NO_SPAN_TEXT; where it lies in the body. */
export const SPAN_ROW_NAME = 20;
export const SPAN_ROW_NAME_AT = 24;
export const SPAN_ROW_NAME_BYTES = 28;
/** Keys of the span and of its parent (domain/trace/span-key.ts), and the hash that all spans of the trace share. */
export const SPAN_ROW_HIGH = 32;
export const SPAN_ROW_LOW = 36;
export const SPAN_ROW_PARENT_HIGH = 40;
export const SPAN_ROW_PARENT_LOW = 44;
export const SPAN_ROW_TRACE_HASH = 48;
/** Number of attributes, and the place of the first one's word at SPAN_ATTRIBUTES. */
export const SPAN_ROW_ATTRIBUTES = 52;
export const SPAN_ROW_ATTRIBUTES_FROM = 56;
/** Its ids as bytes: trace 16, span 8, parent 8, zeros where it has none. */
export const SPAN_ROW_IDS = 64;
/** f64: its end in milliseconds and in whole microseconds since 1970, and its duration in whole microseconds. */
export const SPAN_ROW_END_MS = 96;
export const SPAN_ROW_END_MICROSECONDS = 104;
export const SPAN_ROW_MICROSECONDS = 112;

/** Bits of SPAN_ROW_FLAGS: to be decoded in TypeScript; has a parent; failed; is a request of its service. From SPAN_ROW_KIND_SHIFT on kind + 8 * status. */
export const SPAN_ROW_ODD = 1;
export const SPAN_ROW_CHILD = 2;
export const SPAN_ROW_ERROR = 4;
export const SPAN_ROW_REQUEST = 8;
export const SPAN_ROW_KIND_SHIFT = 8;

/** No number: the text is too long to be kept, or there is no room for it at the moment. */
export const NO_SPAN_TEXT = 0x7fffffff;
/** Longest text that is kept: names, and attributes with their key. */
export const SPAN_TEXT_BYTES_MAX = 256;
