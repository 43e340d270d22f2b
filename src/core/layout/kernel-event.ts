// What the shard kernel reports to its TypeScript side: fixed entries in the EVENTS area. Read by both compilers: integer constants only.

export const EVENT_BYTES = 88;
export const EVENT_KIND = 0; // u32
export const EVENT_SLOT = 4; // u32
export const EVENT_TIME = 8; // f64, ms of the sample
export const EVENT_VALUE = 16; // f64, value as scored (delta for counters)
export const EVENT_MEAN = 24; // f64, baseline before the sample
export const EVENT_SD = 32; // f64, floored standard deviation that was used
export const EVENT_RATIO = 40; // f64, (value - mean) / sd
export const EVENT_COUNT = 48; // u32, values in the baseline
export const EVENT_FLAGS = 52; // u32, EVENT_FLAG_*
export const EVENT_START = 56; // f64, ms at which the episode began
export const EVENT_RAW_SD = 64; // f64, standard deviation before the floors
export const EVENT_ARRIVAL = 72; // f64, monotonic ms, from the frame
export const EVENT_PEAK = 80; // f64, largest |EVENT_RATIO| of the episode so far; 0 for events of no episode

export const EVENT_OPEN = 1;
export const EVENT_UPDATE = 2; // the open episode crossed the SEVERE level, its peak grew by half, or it lasts
export const EVENT_CLOSE = 3;
export const EVENT_EXCURSION = 4; // over the threshold, not declared: goes to the ledger as not_persistent
export const EVENT_LATE = 5; // older than the newest sample: nothing was done with it yet
export const EVENT_REPLACE = 6; // same time as the newest sample, other value: nothing was done with it yet
export const EVENT_CHUNK_DUE = 7;
export const EVENT_RESET = 8; // a counter was reset
export const EVENT_ENDED = 9; // stale marker
export const EVENT_PARKED = 10; // the row waits for a stream that is not in memory; EVENT_SLOT is its ref

export const EVENT_BUCKETS_DUE = 11; // the area of bucket samples is full
export const EVENT_LATE_START = 12; // of history: EVENT_VALUE is when counting began, of a value that is older than the newest and comes next
export const EVENT_NO_COUNTER = 13; // a series whose kind is guessed is no counter: its row was not taken, and is to come again
export const EVENT_OWED = 15; // the stream's last event is still to be told, by what it was then: its row was not taken, and is to come again
export const EVENT_SENT = 14; // a value as it was sent, EVENT_VALUE, that does not follow from the ring: kept for reading

export const EVENT_FLAG_HIGH = 1; // direction: set = high, clear = low
export const EVENT_FLAG_CONSTANT = 2; // departure from a constant series
export const EVENT_FLAG_AFTER_GAP = 4;
export const EVENT_FLAG_STRONG = 8; // over twice the threshold, or where nothing is to be confirmed over the threshold
export const EVENT_FLAG_IRREGULAR = 16; // the delta was scaled to the usual interval for scoring
export const EVENT_FLAG_IMPLAUSIBLE = 32; // after a reset: value far beyond every delta seen, entered as 0
export const EVENT_FLAG_ACCEPTED = 128; // of a closing: the values stay so, and are the new level, EVENT_VALUE its mean
export const EVENT_FLAG_LASTING = 256; // of an update: values have stayed beyond the bar, on one side, for as long as a hold may last
export const EVENT_FLAG_RESET = 64; // first delta after a counter reset: covers an unknown part of its interval

// Reject entries of the ingest kernel in the REJECTS area.
export const REJECT_BYTES = 32;
export const REJECT_CODE = 0; // u32
export const REJECT_LABELS = 4; // u32, address of the series' label span
export const REJECT_LABELS_BYTES = 8; // u32
export const REJECT_TIME = 16; // f64
export const REJECT_VALUE = 24; // f64
export const REJECT_TOO_OLD = 2;
export const REJECT_IN_FUTURE = 3;

// Threshold tables at THRESHOLD_TABLES: maturity m, profile p, set s, level l, n values in the baseline -> f64 at ((((m * 32 + p) * 2 + s) * 4 + l) * 128 + n) * 8.
// The kernel finds a stream's tables by shifting its flags: FLAG_OPERATION to the set, FLAG_PROFILE_MASK to the profile; the maturity is by the sample's time (service-age.ts).
// A sample is over level l when |value - mean| / sd > table. Infinity below the minimum of samples.
export const TABLE_SET_ORDINARY = 0;
export const TABLE_SET_OPERATION = 1;
export const TABLE_LEVEL_OPEN = 0; // the threshold
export const TABLE_LEVEL_STRONG = 1; // twice the threshold; the threshold itself where one sample over it is declared
export const TABLE_LEVEL_CLEAR = 2; // 0.7 of the threshold
export const TABLE_LEVEL_SEVERE = 3; // z = 3: tier high
export const TABLE_COLUMNS = 128;
/** This column holds the level itself as z: a departure from a constant series is compared with it. */
export const TABLE_COLUMN_Z = 127;
/** Size of all tables of one profile: two sets of four levels. */
export const TABLE_PROFILE_BYTES = 8192;
/** Size of all tables for services of one maturity: those of all profiles. */
export const TABLE_MATURITY_BYTES = 262144;
