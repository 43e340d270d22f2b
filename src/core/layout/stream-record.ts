// One stream's record, four cache lines: statistics and episode state, identity, and the first two values. Its ring of 120 values and their intervals
// lies elsewhere and is first touched by the third value: a stream that came and went takes a sixth of the memory.
// Read by both compilers: integer constants only. A record is owned by one shard; nobody else writes it.

/** Values a ring can hold; the window that is used (WATCHDOG_WINDOW) is at most this. */
export const WINDOW_MAX = 120;

export const SR_COUNT = 0; // u32, values in the ring
export const SR_HEAD = 4; // u32, next place to write
export const SR_MEAN = 8; // f64, mean of (effective value - pivot)
export const SR_M2 = 16; // f64, sum of squared deviations of the same
export const SR_START = 24; // f64, counters: ms since 1970 at which the cumulative value began to be counted; 0 = not told
export const SR_WIDTH = 32; // f64, quantiles of histograms: the widest bucket that they lay in of late, in units of the value; 0 = they are of no bucket
export const SR_ANCHOR = 32; // f64, counters, which have no width: the cumulative value before the first one that is in no chunk yet, -0 for 0; NaN = counting began with that one; +0 = not known
export const SR_PUSHES = 40; // u8, since the statistics were taken from the ring; begins anywhere, by the partition
export const SR_RUN = 41; // u8, newest effective values that are equal (at most WINDOW_MAX): the whole window = constant, M2 exactly 0
export const SR_M2_SCALE = 42; // u16, top 16 bits of the largest M2 since it was exact: a fall far below it means cancellation
export const SR_FLAGS = 44; // u32, FLAG_*
export const SR_LAST_TIME = 48; // f64, ms since 1970 of the newest value
export const SR_PIVOT = 56; // f64, subtracted from every value before statistics
export const SR_RESOLUTION = 64; // f64, smallest non-zero step seen; 0 = none yet
export const SR_LAST_VALUE = 72; // f64, newest value in the ring
export const SR_LAST_RAW = 80; // f64, counters: newest cumulative value
export const SR_PREVIOUS_RAW = 88; // f64, counters: the cumulative value before it
export const SR_INTERVAL = 96; // f64, usual ms between samples (median of the window's, taken now and then); 0 = unknown
export const SR_UNCHUNKED = 104; // u32, newest values of the ring that are in no chunk yet
export const SR_CHUNK_AT = 108; // u8, a chunk is due when SR_UNCHUNKED reaches this
export const SR_SERVICE_LABEL = 109; // u8, how a remote-write series named its service: SERVICE_LABEL_*
export const SR_UNJUDGED_MINUTES = 110; // u16, while FLAG_UNJUDGED: by how much, at most, the newest sample that is kept for reading alone is later than SR_LAST_TIME
export const SR_STATE = 112; // u32, packed episode state, see STATE_*
// While FLAG_APART: the statistics are no longer those of the ring's newest values alone (domain/kernel/assembly/shard/shard-apart.ts).
export const SR_COVERED = 116; // u8, values that the statistics stand for
export const SR_BEHIND = 117; // u8, newest values of the ring that came since: of an open episode (up to 255) they do not count, afterwards they are of those covered
export const SR_PENDING = 118; // u8, newest values that neither count yet nor belong to an episode
export const SR_BEYOND = 119; // u8, values in a row beyond the bar, on one side; BEYOND_REPORTED once that was reported
export const SR_START_HIGH = 120; // f64, sample time at which the open high episode began
export const SR_START_LOW = 128; // f64
export const SR_CLAMP_LOW = 136; // f64, bounds that masked values are clamped to (same units as values)
export const SR_CLAMP_HIGH = 144; // f64
export const SR_MASK = 152; // u128, bit i = ring place i counts clamped
export const SR_FIRST_TIME = 168; // f64, ms of the first sample; before it 0, or minus the first value of the stream's service
export const SR_TENANT = 176; // u32
export const SR_PARTITION = 180; // u32
export const SR_SAMPLES = 184; // f64, values taken since the stream began
export const SR_STATE_BYTES = 192; // all before
export const SR_HASH = 192; // u128, identity hash (seeded per data folder)
export const SR_PEAK_HIGH = 208; // f32, largest |deviation / sd| of the open high episode
export const SR_PEAK_LOW = 212; // f32
export const SR_IDENTITY = 216; // u32, address of the identity bytes
export const SR_IDENTITY_BYTES = 220; // u32
export const SR_BEYOND_SINCE = 224; // f64, ms of the first value of SR_BEYOND; only once the ring holds more than FIRST_MAX values
export const SR_FIRST_VALUES = 224; // f64[2], the ring while it holds no more than FIRST_MAX values; a ring that is not full begins at place 0
export const SR_RESTARTED = 232; // f64, ms of the newest value in whose interval counting began anew, 0 = none; only once the ring holds more than FIRST_MAX values; in no checkpoint
export const SR_FIRST_INTERVALS = 240; // u32[2]
export const SR_FAMILY = 248; // u8, family of the metric (domain/pillars) + 1; 0 = not looked up yet; in no checkpoint; 251 is free
export const SR_FALL_NEAR = 249; // u8, of a series whose kind is guessed: values to come within which a second fall shows that it is no counter; in no checkpoint
export const SR_OWED = 250; // u8, 1 while an open episode's news waits to be told (EVENT_OWED); in no checkpoint
export const SR_BLOCK = 252; // u32, WC_BLOCK (core/layout/waiting-chunks.ts) of the newest block that a chunk of the stream waited for; in no checkpoint
export const STREAM_RECORD_SHIFT = 8;
export const STREAM_RECORD_BYTES = 256;

// SR_SERVICE_LABEL: the number of the label, from 1 on, in the order of SERVICE_LABELS (domain/series/stream-identity.ts), or one of these.
export const SERVICE_LABEL_FOREIGN = 0; // the stream came otherwise, or an older version stored it
export const SERVICE_LABEL_ABSENT = 6; // no label named one
export const SERVICE_LABEL_QUERY_ONLY = 7; // the stream is for queries alone (domain/series/query-only-series.ts): nothing judges or lists it

/** Values that lie in the record itself; the ring takes all with the next one. */
export const FIRST_MAX = 2;

// The ring of a stream, at STREAM_RINGS + slot * STREAM_RING_BYTES.
export const RING_VALUES = 0; // f64[120]
export const RING_INTERVALS = 960; // u32[120], ms since the value before (saturates at 2^32-1, 49.7 days)
export const STREAM_RING_BYTES = 1440;

export const FLAG_COUNTER = 1; // cumulative values become deltas
export const FLAG_OPERATION = 2; // operation-class: bar of rule 1.1.8
export const FLAG_HAS_RAW = 4; // SR_LAST_RAW holds a value
export const FLAG_ENDED = 8; // a stale marker ended the stream
export const FLAG_PERCENT = 16; // percent-style name: exempt from the 50 % gate
export const FLAG_HAS_PREVIOUS = 32; // SR_PREVIOUS_RAW holds a value
export const FLAG_CONSTANT_SUSPECT_HIGH = 64; // the last sample left a constant series upwards
export const FLAG_CONSTANT_SUSPECT_LOW = 128;
export const FLAG_RETAINED_AS_RECORDS = 256; // its values come from records that are stored as such (trace, profile)
export const FLAG_BUCKET = 512; // a counter that is a bucket of a classic histogram: its samples are handed to its family
export const FLAG_START_MOVED = 1024; // a start marker (of counters) or a restart marker came that the next value has to mind
export const FLAG_HISTORY = 2048; // the newest sample came as history: an import, or a dead letter that was replayed
export const FLAG_GUESSED = 4096; // its sender says two types of its name: it counts until a fall shows that it is no counter
export const FLAG_SETTLED = 8192; // its kind came with it or was shown by its values: a guess changes nothing
export const FLAG_APART = 16384; // the statistics do not follow from the ring alone
export const FLAG_ACCEPTED = 32768; // the window is of a level that was accepted: between SR_CLAMP_LOW and SR_CLAMP_HIGH lies what was usual before it
export const FLAG_WAY_BACK = 0x200000; // the newest value lay there
export const FLAG_ACCEPT = -0x80000000; // bit 31: somebody takes the level of the open episode for the usual one: the next value on it ends the episode so
export const FLAG_PROFILE_SHIFT = 16; // bits 16..20: threshold profile that the stream is judged by; in no checkpoint
export const FLAG_PROFILE_MASK = 0x1f0000;
export const FLAG_SERVICE_HOURS_SHIFT = 22; // bits 22..29: hours that the stream's service was known before its first value (service-age.ts)
export const FLAG_SERVICE_HOURS_MASK = 0x3fc00000;
export const FLAG_UNJUDGED = 0x40000000; // behind the newest value came what is not judged: NaN, an infinity, a stale marker
/** Threshold profiles: that of the environment, those of settings, and the last one, by which nothing is judged. */
export const PROFILE_ENVIRONMENT = 0;
export const PROFILE_EXCLUDED = 31;
export const PROFILES = 32;

// SR_STATE, one field per direction; low is the same shifted by STATE_LOW_SHIFT.
export const STATE_OPEN = 1; // bit 0: an episode is open
export const STATE_BELOW_SHIFT = 1; // bits 1..3: consecutive evaluations below 0.7 of the threshold
export const STATE_BELOW_MASK = 7;
export const STATE_OUT_SHIFT = 4; // bits 4..6: the last three samples were over the threshold (bit 4 = newest)
export const STATE_OUT_MASK = 7;
export const STATE_SEVERE = 128; // bit 7: the SEVERE level was crossed and reported
export const STATE_REPORTED_SHIFT = 8; // bits 8..15: last reported peak, 5 bits of exponent and 3 of mantissa, from 1.0 up
export const STATE_REPORTED_MASK = 255;
export const STATE_LOW_SHIFT = 16;
/** SR_BEYOND of an episode whose lasting was reported. */
export const BEYOND_REPORTED = 255;
