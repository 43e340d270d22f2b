// Bounds of packed rows and of compacted stores (adapters/storage/packed-store.ts, store-compaction.ts), each with its reason.

/** Bytes of the rows of a pack before they are packed, but for those of its last: 16 KiB of pages, of which half a page is lost at the mean. A row is read from one in 0.2 ms. */
export const PACK_BYTES_MAX = 64 * 1024;
/** Rows that one step of packing looks at: as many of 230 bytes as a pack has. */
export const PACK_STEP_ROWS_MAX = 256;
/** Rows of a table that are worth a pass over those that are not packed. */
export const PACK_DUE_ROWS = 2_048;
/** Fewer rows beside each other are not worth a pack that is written anew: 16 KiB for their 9. */
export const PACK_RUN_ROWS_MIN = 32;
/** Bytes of the rows of a store that a start writes anew: half a second. A larger one uses its free pages again. */
export const COMPACTED_BYTES_MAX = 64 * 1024 * 1024;
/** Fewer free bytes are not worth it: an idle store keeps half of that as room for deletions. */
export const COMPACTION_FREE_BYTES_MIN = 1024 * 1024;
