// Where things lie in one engine's WebAssembly memory (4 GiB, initial = maximum, so views never move and untouched pages cost nothing).
// This file is read by both compilers (TypeScript and AssemblyScript): it holds only integer constants below 2^31. Units are bytes.
//
//   0 .. 1 MiB       static data of the kernel              64 .. 128 MiB   inbox: rings engine i -> this engine, one per ingest
//   1 MiB            control words, counters, tables        128 .. 208 MiB  one large body (64 MiB + padding)
//   2 .. 8 MiB       scratch, events, rejects, descriptors  208 .. 288 MiB  decompressed body (64 MiB + padding)
//   8 .. 12 MiB      small bodies; definitions of a unit    288 .. 448 MiB  ingest table (entries, index, label texts)
//   16 .. 32 MiB     ring to coordinator; packed rows       448 .. 608 MiB  shard table (arena)
//   32 .. 64 MiB     staging of rows per destination        608 .. 864 MiB  ref -> slot map; then identities, chunks, stream records

export const MEMORY_PAGES = 65536;
export const ENGINES_MAX = 64;
export const PARTITIONS = 256;

/** Zero bytes that follow every body, so that SIMD loads may run over its end. */
export const BODY_PADDING_BYTES = 64;

export const CONTROL = 0x100000;
export const COUNTERS = 0x110000;
/** Tables of all threshold profiles, one after the other (core/layout/kernel-event.ts). */
export const THRESHOLD_TABLES = 0x140000;
/** 5^q for q from POWER_OF_FIVE_FIRST to POWER_OF_FIVE_LAST: the highest 128 bits, shifted so that the first one is set, low word first. */
export const POWERS_OF_FIVE = 0x130000;
export const POWER_OF_FIVE_BYTES = 16;
export const POWER_OF_FIVE_FIRST = -342;
export const POWER_OF_FIVE_LAST = 308;

export const SCRATCH = 0x200000;
export const SCRATCH_BYTES = 0x100000;
export const EVENTS = 0x300000;
export const EVENTS_BYTES = 0x100000;
export const REJECTS = 0x400000;
/** 1,000 samples: each becomes a dead letter, 10 us, so a unit ends when there are so many. */
export const REJECTS_BYTES = 32_000;
export const DESCRIPTORS = 0x600000;
export const DESCRIPTOR_BYTES = 64;
export const DESCRIPTOR_COUNT = 8192;

/** Tenant's part of the identities that the ingest kernel writes: `["name",` as JSON, in UTF-8. */
export const TENANT_HEAD = 0x680000;
export const TENANT_HEAD_BYTES = 0x4000;
/** Outcomes of definitions in the shard kernel: entries of BINDING_BYTES. */
export const BINDINGS = 0x690000;
export const BINDINGS_BYTES = 0xe0000;

/** The OTLP number point at which the ingest kernel's walk stopped. u32 each: where the point and its parts lie in the body, whether it is a counter's. */
export const OTLP_POINT = 0x684000;
export const OTLP_POINT_BYTES = 4;
export const OTLP_POINT_RESOURCE = 8;
export const OTLP_POINT_RESOURCE_BYTES = 12;
export const OTLP_POINT_NAME = 16;
export const OTLP_POINT_NAME_BYTES = 20;
/** 1 for a cumulative monotonic sum, 2 for a monotonic sum of deltas, else 0. */
export const OTLP_POINT_COUNTER = 24;
/** Where the unit's text lies, 0 for none: in protobuf behind one byte of its length, in JSON up to the next quotation mark. */
export const OTLP_POINT_UNIT = 28;
/** Where the name of its scope lies, with no bytes where it has none: in JSON without its quotation marks. */
export const OTLP_POINT_SCOPE = 32;
export const OTLP_POINT_SCOPE_BYTES = 36;
/** Bytes of all of that. */
export const OTLP_POINT_END = 40;

export const BODY_RING = 0x800000;
export const BODY_RING_BYTES = 0x200000;
/** Definitions of the unit at hand, as they go into the log. A unit ends when they fill it: 7,000 of 300 bytes. */
export const DEFINITIONS = 0xa00000;
export const DEFINITIONS_BYTES = 0x200000;
export const COORDINATOR_RING = 0x1000000;
export const COORDINATOR_RING_BYTES = 0x800000;
/** Rows of the unit at hand as the log takes them: sections one after another (24 .. 32 MiB). */
export const PACKED_ROWS = 0x1800000;
export const PACKED_ROWS_BYTES = 0x800000;
export const STAGING = 0x2000000;
export const STAGING_BYTES = 0x80000;
export const INBOX = 0x4000000;
export const INBOX_BYTES = 0x100000;
export const LARGE_BODY = 0x8000000;
export const LARGE_BODY_BYTES = 0x4000000;
export const DECOMPRESSED = 0xd000000;
export const DECOMPRESSED_BYTES = 0x4000000;
/** The same of a body from the ring, which is 21 times as long as it was sent at most: 512 KiB are 11 MiB. Behind the other and its padding. */
export const SMALL_DECOMPRESSED = 0x11000040;
export const SMALL_DECOMPRESSED_BYTES = 0xffff80;
export const KEY_TABLE = 0x12000000;
export const KEY_TABLE_BYTES = 0x8000000;
/** By entry of the ingest table: where its label bytes lie among the texts, u32, in words of 8 bytes, plus one; 0 = they are not kept. */
export const KEY_TEXT_OF = 0x1a000000;
export const KEY_TEXTS = 0x1a800000;
export const KEY_TEXTS_BYTES = 0x1800000;
/**
 * Where the ingest table will be, while logs are read: what is known of the refs in them (core/layout/replayed-refs.ts). Rows of higher refs, of which there are
 * none until 16 million streams have been defined in one run, are looked up one by one.
 */
export const REPLAYED_REFS = 0x12000000; // KEY_TABLE
export const REPLAYED_REFS_MAX = 0x1000000; // KEY_TABLE_BYTES / REPLAYED_REF_BYTES
export const SHARD_TABLE = 0x1c000000;
export const SHARD_TABLE_BYTES = 0x8000000;
/** One bit for each of two parts of a cold stream's hash: a stream whose bits are not both set is not cold. */
export const COLD_FILTER = 0x24000000;
export const COLD_FILTER_BYTES = 0x400000;
/** Rows that waited for a stream, on their way into the shard. */
export const PARKED_ROWS = 0x24400000;
export const PARKED_ROWS_BYTES = 0x10000;
/** Rows that a shard derives itself. */
export const DERIVED_ROWS = 0x24410000;
export const DERIVED_ROWS_BYTES = 0x10000;
/** A block of chunks on its way to the coordinator, behind the head of its frame; and where its records begin, in the order of the block. */
export const CHUNK_BLOCK = 0x24420000;
export const CHUNK_BLOCK_BYTES = 0x20000;
export const CHUNK_PLACES = 0x24440000;
export const CHUNK_PLACES_MAX = 32768;
/** By partition: what is kept of its waiting chunks (core/layout/waiting-chunks.ts). */
export const WAITING_STATES = 0x24460000;
/** Samples of histogram buckets that their families have not seen yet (core/layout/bucket-sample.ts). */
export const BUCKET_SAMPLES = 0x24500000;
export const BUCKET_SAMPLES_BYTES = 0x20000;
/** Spans of the OTLP body at hand as the ingest kernel's walk read them, SPAN_ROW_BYTES each (core/layout/span-row.ts): what a step fills stays in the processor's cache. */
export const SPAN_ROWS = 0x24600000;
export const SPAN_ROWS_MAX = 512;
/** Their attributes, a word each: the number of a text, or NO_SPAN_TEXT with address and bytes behind it. */
export const SPAN_ATTRIBUTES = 0x24620000;
export const SPAN_ATTRIBUTES_BYTES = 0x40000;
/** Texts that spans have in common, names and attributes: an index of words by hash, entries of 16 bytes, the bytes themselves. */
export const SPAN_TEXT_INDEX = 0x24680000;
export const SPAN_TEXT_PLACES = 65536;
export const SPAN_TEXTS = 0x246c0000;
export const SPAN_TEXTS_MAX = 16384;
export const SPAN_TEXT_AREA = 0x24800000;
export const SPAN_TEXT_AREA_BYTES = 0x200000;
/** By text: the numbers of the attributes that the last span of that name had. */
export const SPAN_TEXT_GUESSES = 0x24a00000;
export const SPAN_TEXT_GUESSES_EACH = 8;
/** Where a walk of the ingest kernel stands, while other bodies are walked. */
export const RETAINED_PARSE = 0x24a80000;
export const RETAINED_PARSE_BYTES = 256;
/** The body at hand of those from the ring that may take several units: its bytes can be brought back to where they were. 512 KiB and padding. */
export const WORK_BODY = 0x24b00000;
/** Names of series whose kind metadata say: twice so many words of 8 bytes. */
export const SERIES_KINDS = 0x24e00000;
export const SERIES_KINDS_MAX = 32768;
/** By partition, while logs are read: whether its checkpoint covers the block at hand, a byte each. */
export const REPLAYED_COVERAGE = 0x24e80000;
/** By source of the ingest table: u64, twice the number of the body that was decided on and 1 when its samples are taken. */
export const REPLICA_DECISIONS = 0x24f00000;
export const REPLICA_SOURCES_MAX = 65536;
/** Symbols of the remote-write 2.0 body at hand, 32 bytes each (592 .. 608 MiB). A body of 10,000 series has some 30,000. */
export const SYMBOL_INDEX = 0x25000000;
export const SYMBOLS_MAX = 524288;
export const SYMBOL_ENTRY_BYTES = 32;
export const REF_MAP = 0x26000000;
export const REF_MAP_BYTES = 0x10000000;
export const IDENTITIES = 0x36000000;
export const IDENTITIES_BYTES = 0x20000000;
/** By partition: chunks that wait for a block (core/layout/chunk-record.ts), where the shard kernel packs them. A block of 64 KiB whose chunks have 30 bytes fits. */
export const WAITING_CHUNKS = 0x56000000;
export const WAITING_CHUNKS_BYTES = 0x20000;
export const STREAM_RECORDS = 0x58000000;
/** Slots that fit between STREAM_RECORDS and 4 GiB at STREAM_RECORD_BYTES and STREAM_RING_BYTES each: the records first, then the rings. */
export const STREAM_SLOTS_MAX = 1660000;
export const STREAM_RINGS = 0x71546000; // STREAM_RECORDS + STREAM_SLOTS_MAX * STREAM_RECORD_BYTES
/** In the ref map, slots from here on stand for streams that are not in memory. */
export const COLD_SLOTS = 0x40000000;

// Control words: 32-bit, each on a cache line of its own (offsets from CONTROL). Only these are touched with atomics.
/** Bumped and notified by whoever gives this engine work. */
export const CONTROL_DOORBELL = 0;
/** Descriptors that the front has published (count, wraps at 2^32). */
export const CONTROL_BODIES_HEAD = 64;
/** Frames in the coordinator ring: bytes written by the engine, bytes read by the coordinator (both wrap at 2^32). */
export const CONTROL_COORDINATOR_WRITTEN = 128;
export const CONTROL_COORDINATOR_READ = 192;
/**
 * While the coordinator sleeps until word comes: 1 of the next frame, 2 of the next prompt one or of a ring that fills. 1 while the engine sleeps until there
 * is room, or nothing left, in the ring.
 */
export const CONTROL_COORDINATOR_FRAMES_AWAITED = 256;
export const CONTROL_COORDINATOR_SPACE_AWAITED = 512;
/** Where the last prompt frame ended in the ring, as CONTROL_COORDINATOR_WRITTEN was then. */
export const CONTROL_COORDINATOR_PROMPT_WRITTEN = 576;
/** Position words of the ring from ingest i into this engine: base + i * stride, then the read word one line further. */
export const CONTROL_INBOX = 4096;
export const CONTROL_INBOX_STRIDE = 128;
export const CONTROL_INBOX_READ = 64;

/** One 64-bit word: log position (segment * 2^32 + offset) behind the last block whose rows are all in the rings. */
export const CONTROL_PLACED = 320;

/** Counts up before and after entries are taken out of the shard's look-up table: odd while that goes on. */
export const CONTROL_TABLE_EDITS = 448;
/** Bits of the shard's look-up table, published by the engine for the others. */
export const CONTROL_TABLE_BITS = 384;

// Process-wide words (their own small SharedArrayBuffer, byte offsets).
/** The next stream ref; taken with one atomic add at first sight of an identity. */
export const PROCESS_NEXT_REF = 0;
/** Pairs that the Watchdog keeps a long baseline of. */
export const PROCESS_WATCHDOG_PAIRS = 4;
/** Number of pairs within the shares of their tenants, among these. */
export const PROCESS_PAIRS_WITHIN_SHARES = 8;
/** Streams of tenant i: base + i * 4; counted when an ingest defines one that its shard does not hold. */
export const PROCESS_TENANT_STREAMS = 64;
export const TENANTS_MAX = 10000;
/** Groups of series of which one replica is taken: buckets of eight, 16 bytes each (adapters/shared-memory/replica-groups.ts). 65,536 groups, 1 MiB. */
export const PROCESS_REPLICA_GROUPS = 40960;
export const REPLICA_BUCKETS = 8192;
/** Long baselines of tenant i: base + i * 4. */
export const PROCESS_TENANT_PAIRS = PROCESS_REPLICA_GROUPS + REPLICA_BUCKETS * 128;
/** Metrics of services whose first scope is known, among them those within the shares of their tenants, and those of tenant i: base + i * 4. */
export const PROCESS_SCOPES = 12;
export const PROCESS_SCOPES_WITHIN_SHARES = 16;
export const PROCESS_TENANT_SCOPES = PROCESS_TENANT_PAIRS + TENANTS_MAX * 4;
/** The first scope of each, 16 bytes (adapters/shared-memory/first-scopes.ts): 262,144 places, 4 MiB. */
export const PROCESS_SCOPE_PLACES = PROCESS_TENANT_SCOPES + TENANTS_MAX * 4;
export const SCOPE_PLACES = 262144;
export const PROCESS_LENGTH_BYTES = PROCESS_SCOPE_PLACES + SCOPE_PLACES * 16;

/** Series of the remote-write body at hand, as the ingest kernel's first pass found them (12 .. 16 MiB). */
export const SERIES_INDEX = 0xc00000;
export const SERIES_INDEX_BYTES = 0x400000;

/** Records of the JSON body at hand, as the ingest kernel's scan found them (5 .. 6 MiB). */
export const RECORD_INDEX = 0x500000;
export const RECORD_INDEX_BYTES = 0x100000;
