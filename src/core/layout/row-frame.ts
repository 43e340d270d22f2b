// Rows, the frames that carry them from an ingest to a shard, and the sections of a log block. Read by both compilers: integer constants only.

/** {ref u32, milliseconds after the frame's base u32, value f64}. The same bytes stand in the staging area, the ring and the log. */
export const ROW_BYTES = 16;
export const ROW_REF = 0;
export const ROW_OFFSET = 4;
export const ROW_VALUE = 8;

/**
 * A row whose value has this in its upper 16 bits (a NaN) is a start marker: the lower 48 bits are the ms since 1970 at which the cumulative value of
 * the stream's row behind it, of the same time, began to be counted. Shards of gauges pass over it.
 */
export const START_MARKER_HIGH = 0x7ffd;

/** Bytes that one packed row of the log takes at most: varints of 34 and 33 bits, and the value (assembly/ingest/row-pack.ts). */
export const PACKED_ROW_BYTES_MAX = 18;

/**
 * A row whose value has this in its upper 16 bits (a NaN) is a width marker, which a shard writes ahead of an estimated quantile of the same stream and
 * time: the lower 48 bits are the upper 48 of the width of the bucket that the estimate lies in.
 */
export const WIDTH_MARKER_HIGH = 0x7ffe;

/**
 * A row whose value has this in its upper 16 bits (a NaN) is a restart marker, which a shard writes ahead of a derived value of the same stream and time:
 * counting began anew in its interval, so that value alone declares nothing.
 */
export const RESTART_MARKER_HIGH = 0x7fff;

/** Frame in a ring ingest -> shard: header, then the payload, padded to 8 bytes. */
export const FRAME_HEADER_BYTES = 32;
export const FRAME_BYTES = 0; // u32, header and payload, without padding
export const FRAME_KIND = 4; // u32, SECTION_* or FRAME_WRAP, with FRAME_LAST
export const FRAME_BASE = 8; // f64, ms that row offsets count from
export const FRAME_ARRIVAL = 16; // f64, monotonic ms of the oldest body in the block
export const FRAME_SEGMENT = 24; // u32, log position behind the block
export const FRAME_OFFSET = 28; // u32

/** The rest of the ring up to its end is unused. */
export const FRAME_WRAP = 255;
/** Set on the last frame of a block for a destination: only then has the shard passed the block's log position. */
export const FRAME_LAST = 256;

/** Row offsets count from this long before the arrival of the unit: a day of lateness and an hour to spare. */
export const BASE_LEAD_MS = 25 * 3600 * 1000;
/** In FRAME_ARRIVAL: the rows are history. They are stored and enter baselines, and are not judged. */
export const ARRIVAL_HISTORY = -1;
/** The same in the header of a log block, among its kinds. */
export const BLOCK_HISTORY = 1;

/** A log block is a list of sections {kind u32, bytes u32, payload padded to 8}. */
export const SECTION_HEADER_BYTES = 8;
export const SECTION_DEFINE = 1; // definitions of streams
export const SECTION_ROWS = 2; // in the rings
export const SECTION_PACKED_ROWS = 5; // in the log: assembly/ingest/row-pack.ts
export const SECTION_RECORD = 3; // a log, trace, event, profile or slo record (JSON envelope)
export const SECTION_DEAD_LETTER = 4; // a rejected record (JSON envelope)
export const SECTION_SPAN_BLOCK = 7; // spans as records (domain/trace/span-block.ts)
export const SECTION_USAGE = 8; // accepted events by tenant (domain/access/usage-tally.ts)
/** Sections of messages for shards (domain/codec/shard-message.ts): from here on. */
export const SECTION_MESSAGES = 16;
export const SECTION_DISTRIBUTION = 16; // histograms and summaries
export const SECTION_SPANS = 17; // spans
export const SECTION_LOGS = 18; // counts of logs
export const SECTION_ACCEPTED_LEVELS = 19; // levels that people take for the usual ones (JSON)
export const SECTION_BUCKET_FAMILIES = 20; // no messages: only what a checkpoint keeps of families of classic buckets
export const SECTION_ARRIVALS = 21; // no messages: only what a checkpoint keeps of how often services send
export const SECTION_BREACHES = 22; // no messages: only what a checkpoint keeps of breaches of headroom
export const SECTION_SERVICE_LABELS = 9; // labels that telemetry says of a service (JSON)
export const SECTION_METADATA = 6; // type, unit and help of a metric (JSON)
export const SECTION_METRIC_SCOPE = 10; // the first scope of a metric (JSON)

/** Definition of a stream: {ref, partition, flags, tenant, hash u128, identity bytes u32, identity, padded to 8}. */
export const DEFINE_HEADER_BYTES = 40;
export const DEFINE_REF = 0;
export const DEFINE_PARTITION = 4;
export const DEFINE_FLAGS = 8;
export const DEFINE_TENANT = 12;
export const DEFINE_HASH = 16; // u128
export const DEFINE_IDENTITY_BYTES = 32;
/** In DEFINE_FLAGS, above the stream's own flags: the ingest has counted the stream as a new one of its tenant. */
export const DEFINE_COUNTED = 65536;
/** In DEFINE_FLAGS: the stream's own flags, and bits 17..19, SR_SERVICE_LABEL. */
export const DEFINE_STREAM_FLAGS = 65535;
export const DEFINE_SERVICE_LABEL_SHIFT = 17;
export const DEFINE_SERVICE_LABEL_MASK = 0xe0000;

/** Outcome of a definition: {ref, slot, partition, 1 = the stream is new}; entries in the BINDINGS area. */
export const BINDING_BYTES = 16;
export const BINDING_REF = 0;
export const BINDING_SLOT = 4;
export const BINDING_PARTITION = 8;
export const BINDING_IS_NEW = 12;
