// What TypeScript teaches the ingest kernel while logs are read: an entry for each stream ref of the epoch at hand (REPLAYED_REFS), and for each partition
// whether its checkpoint covers the block at hand (REPLAYED_COVERAGE, a byte each). Read by both compilers: integer constants only.

export const REPLAYED_REF_BYTES = 8;
/** u32: the ref of this start and one; 0 = it has none yet. */
export const REPLAYED_NEW_REF = 0;
/** u32: whose the stream is. */
export const REPLAYED_OWNER = 4;
export const REPLAYED_UNKNOWN = 0;
/** No stream of this engine. */
export const REPLAYED_OTHERS = 1;
/** And more: this engine's, the partition behind it. */
export const REPLAYED_PARTITION = 2;

export const COVERAGE_UNKNOWN = 0;
export const COVERAGE_YES = 1;
export const COVERAGE_NO = 2;
