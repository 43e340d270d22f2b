// Limits of what is kept of samples besides what detection needs.

/** Streams of a partition of which values as sent are gathered before they wait in a chunk: 64 x 32 x 16 B x 256 partitions are 8 MB in an engine that owns all. */
export const SENT_RUNS_PER_PARTITION_MAX = 64;
/** Values of one of them: a chunk of 32 costs 2 bytes a value less than one of one. */
export const SENT_RUN_SAMPLES_MAX = 32;
