// Every maximum that is not a setting, with its arithmetic. A limit an operator may want to move is a setting in load-config.ts instead.
import {
  BODY_RING_BYTES,
  COORDINATOR_RING_BYTES,
  ENGINES_MAX,
  INBOX_BYTES,
  KEY_TABLE,
  KEY_TABLE_BYTES,
  LARGE_BODY_BYTES,
  PACKED_ROWS_BYTES,
  PARTITIONS,
  REPLAYED_REFS,
  REPLAYED_REFS_MAX,
  STAGING_BYTES,
} from "../layout/memory-map.ts";
import { REPLAYED_REF_BYTES } from "../layout/replayed-refs.ts";
import { FRAME_HEADER_BYTES, PACKED_ROW_BYTES_MAX, ROW_BYTES } from "../layout/row-frame.ts";

/** Largest request body as it arrives. Prometheus sends 10-100 KiB, collectors up to 4 MiB. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;
/** Largest body after decompression. */
export const DECOMPRESSED_BYTES_MAX = LARGE_BODY_BYTES;
/** Records in one JSON batch (contract, section 8). */
export const BATCH_RECORDS_MAX = 10_000;
/** Bytes of a service, metric, attribute or label name. */
export const NAME_BYTES_MAX = 1024;
/** Bytes of one attribute or label value. */
export const VALUE_BYTES_MAX = 8 * 1024;
/** Attributes of one record, labels of one series: the limit that OpenTelemetry's SDKs have of themselves. */
export const ATTRIBUTES_MAX = 128;
/** Bytes of a log or event body. */
export const LOG_BODY_BYTES_MAX = 8 * 1024;
/** Bytes of one stream's identity as stored: 128 attributes fit with short values; longer ones are refused as invalid_attributes. */
export const IDENTITY_BYTES_MAX = 16 * 1024;
/** Depth of brackets in a JSON body: attributes nest a few levels, and JSON.stringify recurses. */
export const JSON_DEPTH_MAX = 64;
/** Bytes of an Idempotency-Key header. */
export const IDEMPOTENCY_KEY_BYTES_MAX = 255;
/** Bytes of a secret of the settings: a PEM file with an RSA key of 16,384 bits has 13 KB. */
export const SECRET_BYTES_MAX = 64 * 1024;

/** Contract: older samples are refused. */
export const TIMESTAMP_AGE_MS_MAX = 24 * 3600 * 1000;
/** timestamp_in_future beyond this. */
export const TIMESTAMP_FUTURE_MS_MAX = 10 * 60 * 1000;
/** A late sample this close behind the newest still enters the ring. */
export const LATE_IN_RING_MS_MAX = 5 * 60 * 1000;

/** Months before this one whose accepted events are kept, for bills: 36 x 10,000 tenants x 60 B. */
export const USAGE_MONTHS_RETAINED = 36;
/** API keys with a rate of their own whose buckets are remembered, 100 B each; a second after its last request a key needs none. */
export const KEY_BUCKETS_MAX = 100_000;
/** Native histograms of one body, at 3 us. */
export const HISTOGRAMS_PER_BODY_MAX = 10_000;
/** Rows one unit of work may stage: a 64 MiB body then never holds the engine for more than a few milliseconds. */
export const WORK_ROWS_MAX = 20_000;
/** Body bytes an engine takes in one wake-up before it turns to its other roles. */
export const WORK_BODY_BYTES_MAX = 512 * 1024;
/** Refs that an ingest takes from the process's counter at a time: one atomic operation for so many new streams. */
export const REFS_AHEAD = 4_096;
/** New streams that an ingest counts for a tenant ahead of defining them; what a unit does not use is given back at its end. */
export const NEW_STREAMS_AHEAD_MAX = 4_096;
/** Bodies larger than this go through the one place for large bodies; the small ring stays hot in cache. */
export const SMALL_BODY_BYTES_MAX = 512 * 1024;
/** Rows of one frame in a ring ingest -> shard: 4,000 x 16 B = 64 KB, so sixteen fit. */
export const FRAME_ROWS_MAX = 4_000;
/** Bodies one engine may have waiting: the front answers 503 beyond. 2 MiB of single records of 300 B are 6,000. */
export const BODIES_WAITING_MAX = 6_000;
/**
 * Bytes of bodies that wait in the front for room in one engine's ring, copied: twice the ring, so that some 12 senders of 512 KiB each get their turn, which
 * comes within 0.1 s where an engine takes 60 MB/s (spans).
 */
export const BODIES_WAITING_BYTES_MAX = 4 * 1024 * 1024;
/** Frames an engine keeps for the coordinator when its ring is full; beyond, the engine takes no new body. */
export const OVERFLOW_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Bytes of a block of one partition's chunks: LMDB is 20-40 times cheaper a byte with values of this size. Sixteen of its pages less the 24 bytes
 * that it puts before a value; a byte more would take a seventeenth page.
 */
export const BLOCK_BYTES = 16 * 4096 - 24;
/** Bytes of log, rows counted unpacked, after which every partition has been checkpointed once; a large state takes longer, see CHECKPOINT_LOG_SHARE. */
export const CHECKPOINT_CYCLE_LOG_BYTES = 256 * 1024 * 1024;
/**
 * Bytes of log, rows counted unpacked (16 B), for each byte of checkpoints: half of what is logged at most is written again. A round then takes at most
 * 256 MiB + 2 x the state, and so much log is kept, before packing, with one segment of each ingest: 0.9 GB at 1,000,000 streams of 310 B, or 55 million rows, of
 * which a start applies half on average. At 4 the start of 1,000,000 streams after kill -9 took twice as long; at 1 little would be gained from the log.
 */
export const CHECKPOINT_LOG_SHARE = 2;
/** Bytes of one part of a partition's state: about 350 streams and 2 ms of the engine; one fragment of its ring to the coordinator. */
export const CHECKPOINT_PART_BYTES = 128 * 1024;
/** Streams that leave memory in one step of the engine, about 2 ms, and with one checkpoint of a partition: some 1 MB of the frame that carries them. */
export const EVICTIONS_PER_STEP_MAX = 256;
export const EVICTIONS_PER_CHECKPOINT_MAX = 2_048;
/** Streams looked at in one step for whether they are idle: 8,192 cache misses are about 1 ms. */
export const SLOTS_PER_CHECK_MAX = 8_192;
/** Rows that may wait for streams on their way back: 2 MiB; beyond, the engine takes no body and reads no ring. */
export const PARKED_ROWS_MAX = 100_000;
/** Bytes of streams that left memory in one stored value. */
export const COLD_BATCH_BYTES = 64 * 1024;
/** Bytes of streams in one message to an engine. */
export const RETURNED_BYTES_MAX = 1024 * 1024;
/** Bytes that may wait for the coordinator while a checkpoint goes on: its parts never fill the ring, so verdicts pass. */
export const CHECKPOINT_WAITING_BYTES_MAX = 1024 * 1024;
/** Parts of stored states that an engine asks for ahead of what it has restored: 1 MiB covers the coordinator's answer. */
export const STATE_PARTS_WANTED_MAX = 8;

/** Series of histogram and summary points that one engine keeps the newest points of; with five streams each they are a sixth of its streams. */
export const DISTRIBUTIONS_MAX = 50_000;
/** Bytes of all those points: 50,000 x 8 points of 300 bytes. */
export const DISTRIBUTION_BYTES_MAX = 128 * 1024 * 1024;
/** Newest points kept of one such series, and of one family of classic buckets: a point that comes among them finds its place. */
export const POINTS_RETAINED_MAX = 8;
/** Bytes of them; the newest is kept however large it is. */
export const POINTS_RETAINED_BYTES_MAX = 2 * 1024;
/** Families of classic histogram buckets in one engine: with 15 buckets each all of its streams. */
export const BUCKET_FAMILIES_MAX = 100_000;
/** Buckets of one family; clients have some 15. */
export const FAMILY_BUCKETS_MAX = 512;
/** Times of a family within one unit of work, before those that are not kept are dropped: more than a sender sends of one series at once. */
export const FAMILY_ROWS_MAX = 1_024;
/** A family whose buckets have not all come is evaluated after this. */
export const FAMILY_WAIT_MS_MAX = 30_000;
/** Bytes of a piece of what a message handler keeps in a checkpoint. */
export const STATE_PIECE_BYTES_MAX = 64 * 1024;

/** Anomalies kept per tenant and in memory as an index (280 B each); the oldest is dropped and counted. */
export const ANOMALIES_MAX = 200_000;
/** Alerts kept per tenant, and in memory as an index (200 B each): the longest resolved is dropped and counted. */
export const ALERTS_MAX = 20_000;
/** Rows of the ledger per tenant, 0.15 KB each: the oldest go first. */
export const LEDGER_ROWS_MAX = 500_000;
/** Opinions on anomalies of one service within two weeks: a dozen of one kind reach the bounds of what they do. */
export const OPINIONS_PER_SERVICE_MAX = 64;
/** Services with opinions, over all tenants: 8 KB each at most. */
export const OPINION_SERVICES_MAX = 10_000;
/** Characters of a note by hand. */
export const NOTE_CHARACTERS_MAX = 1024;
/** Decisions that one alert is reported with, and rows of the ledger that are looked at for them: 5,000 at 5 us, in turns of 500. */
export const ALERT_DECISIONS_MAX = 200;
export const LEDGER_SCANNED_MAX = 5_000;
/** Alerts asked again for what holds them back in one commit, as retention's rows. */
export const ALERTS_ASKED_PER_STEP = 250;
/** Resolved alerts kept whole, 1.5 KB each, since they fire again within their dedup age as the same alert; others open a new one. */
export const ALERTS_RESOLVED_RETAINED_MAX = 10_000;
/** Anomalies that an alert names, 60 B each in a row that is written with each of them, and changes that it tells: further ones are counted, the oldest changes go. */
export const ALERT_MEMBERS_MAX = 50;
export const ALERT_HISTORY_MAX = 50;
/** Detectors and metrics that fired last on one service, 150 B each: one more than a finding's own suffices to raise both; and services with any: 12 MB at most. */
export const SIGNALS_PER_SERVICE_MAX = 4;
export const SIGNAL_SERVICES_MAX = 20_000;
/** Metrics of a service whose departures hold at the moment, 100 B each: two confirm each other, and one that needs no other stays among them. */
export const CONFIRMATIONS_PER_SERVICE_MAX = 4;
/** Pairs whose last analysis is remembered for their cooldown: 200 B each; the longest ago is forgotten first. */
export const RCA_PAIRS_MAX = 50_000;
/** Rows of anomalies kept in memory, at 0.2 KB: those of the last second at the most that is stored in one. */
export const ANOMALIES_RECENT_MAX = 1_000;
/** Verdict frames committed in one transaction: a commit of 50 takes 5 ms at p99, of 500 12 ms. */
export const ANOMALIES_PER_COMMIT_MAX = 50;
/** Rows of the ledger that wait for other rows of `series`, and how long: a commit of their own after each verdict would be half of what verdicts commit. */
export const LEDGER_ROWS_GATHERED_MAX = 50;
export const LEDGER_GATHER_MS_MAX = 50;
/** Rows of any list (contract: anomalies page). */
export const PAGE_ROWS_MAX = 1_000;
export const PAGE_ROWS_DEFAULT = 50;
/** Dead letters: age and bytes. */
export const DEAD_LETTER_AGE_MS_MAX = 7 * 24 * 3600 * 1000;
export const DEAD_LETTER_BYTES_MAX = 1024 * 1024 * 1024;
/** Letters that were replayed or deleted, remembered for as long as letters are kept so that none enters twice: 100 B each. */
export const DEAD_LETTER_ENDS_MAX = 2_000_000;
/** Letters of a replay that go to an engine at once: taken by it in some 2 ms, and out of the queue in one transaction of as much. */
export const REPLAY_BODY_DEAD_LETTERS = 250;
/** Bytes of them, and of a batch, which is read at once and whose bodies go one after another; a single larger letter goes alone. */
export const REPLAY_BODY_BYTES = 256 * 1024;
export const REPLAY_BATCH_BYTES = 1024 * 1024;
/** Age of a replay's oldest history rows, bound: dead letters are kept for seven days and were at most a day late; a day to spare. */
export const REPLAY_HISTORY_LEAD_MS = 9 * 24 * 3600 * 1000;
/** Letters looked at in one step for those that a selection takes, and of a batch at most: 1,000 at 4 us. */
export const REPLAY_SCAN_ROWS = 1_000;
/** Letters a second over all jobs, and the share of the time that batches may take: a million in under two minutes beside live telemetry. */
export const REPLAY_DEAD_LETTERS_PER_SECOND_MAX = 10_000;
export const REPLAY_BUSY_SHARE = 0.5;
/** Bodies that may wait for every engine before a replay waits too. */
export const REPLAY_BODIES_WAITING_MAX = 32;
/** An engine's answer to a body that the server sends itself: it comes behind those that wait. */
export const OWN_BODY_ANSWER_MS_MAX = 15_000;
/** Milliseconds that a replay waits for engines that are behind: doubled from the first to the last. */
export const REPLAY_RETRY_MS_FIRST = 50;
export const REPLAY_RETRY_MS_MAX = 5_000;
/** A verdict of live telemetry that took longer makes a replay wait, 50 ms and doubled up to this: a machine that is full still moves 250 letters a second. */
export const REPLAY_LATENCY_MS_MAX = 50;
export const REPLAY_YIELD_MS_MAX = 1_000;
/** Replays of a tenant that are not done; further ones get 429. */
export const REPLAY_JOBS_MAX = 4;
/** Replays of a tenant that are remembered with their outcome. */
export const REPLAY_JOBS_RETAINED_MAX = 100;
/** Ids that one replay may name; a filter selects any number. */
export const REPLAY_IDS_MAX = 1_000;
/** Body of one request of an import: 10,000 samples at most, 100 bytes each as a rule, which an engine reads in 15 ms, and 400 where their labels are long. */
export const IMPORT_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** The same of remote-write behind snappy, which halves labels as a rule, and hardly ever quarters them. */
export const IMPORT_DECOMPRESSED_BYTES_MAX = 16 * 1024 * 1024;
/** Bodies that may wait for every engine before an import gets 503: live telemetry goes first. */
export const IMPORT_BODIES_WAITING_MAX = 32;
/** Age of the oldest sample of an import. */
export const IMPORT_AGE_MS_MAX = 3653 * 24 * 3600 * 1000;
/** Problems that one answer, or one run of `vedette import`, shows; the others are counted. */
export const IMPORT_PROBLEMS_SHOWN = 100;
/** Characters of one line of CSV: 64 attributes of ordinary length are far below. */
export const IMPORT_LINE_LENGTH_MAX = 128 * 1024;
/** Samples of one file on the command line: 16 bytes each, and as much again while its arrays grow. */
export const IMPORT_FILE_SAMPLES_MAX = 20_000_000;
/** Bytes of one file of JSON, which is read at once; V8 has no longer text than 512 MiB. */
export const IMPORT_JSON_BYTES_MAX = 256 * 1024 * 1024;
/** Samples of one request of `vedette import`: some 2 ms of an engine. */
export const IMPORT_REQUEST_SAMPLES = 1_000;
/** Queries waiting for the coordinator; beyond, 503. */
export const QUERIES_WAITING_MAX = 1_000;
/** Work of a query or a change in the coordinator before others have their turn: a step of it takes up to 5 ms more, so that no turn takes 20 ms. */
export const SLICE_MS = 5;
/** Milliseconds that a query waits for its turns in all, while other tenants have theirs; beyond, 503: its tenant asks for more than its share of the time. */
export const QUERY_WAIT_MS_MAX = 5_000;
/** Credentials remembered as genuine: 10,000 senders, 500 B each. */
export const CREDENTIALS_CACHED_MAX = 10_000;
/** Requests that may wait for the check of a token that is new here, 0.1 ms each, or 5 s where keys have to be fetched; beyond, 503. */
export const AUTHENTICATIONS_WAITING_MAX = 256;
/** API keys and users of one tenant: 300 B each in memory, twice. */
export const KEYS_PER_TENANT_MAX = 1_000;
export const USERS_PER_TENANT_MAX = 10_000;
/** Milliseconds between two looks at an identity provider's keys for one that a token names: a flood of forged tokens asks it twice a minute. */
export const JWKS_COOLDOWN_MS = 30_000;
/** Open event streams. */
export const EVENT_STREAMS_MAX = 1_000;
/** Bytes an event stream may lag before events are dropped for it and counted. */
export const EVENT_STREAM_LAG_BYTES_MAX = 1024 * 1024;
/** Milliseconds of drain on shutdown before open connections are closed. */
export const DRAIN_MS_MAX = 5_000;

/** Parameters of one query string; no endpoint has more than ten. */
export const QUERY_PARAMETERS_MAX = 64;
/** Points of one answer of /series/data: 10,000 are about 1.3 MB of JSON and 10 ms. */
export const SERIES_POINTS_MAX = 10_000;
export const SERIES_POINTS_DEFAULT = 1_000;
/** Stored blocks one query reads: 256 x 64 KiB = 16 MiB, about 10 ms of checksums; the answer says `complete: false` beyond. */
export const SERIES_DATA_BLOCKS_MAX = 256;
/** Samples one query gathers: 100,000 in a map are about 15 ms and 10 MB. */
export const SERIES_DATA_SAMPLES_MAX = 100_000;
/** Stored records one query looks at: 20,000 at 7 us, in turns of a thousand; the page ends early beyond, and its token goes on. */
export const RECORDS_SCANNED_MAX = 20_000;
/** Blocks and spans one page of records reads before it ends early, at the end of a second: 2,000 heads are 10 ms, 50,000 spans 100 ms, in turns of 64 blocks. */
export const SPAN_BLOCKS_READ_MAX = 2_000;
export const SPANS_READ_MAX = 50_000;
/** Series whose samples one page of records merges: 50 engine queries of about 50 us. */
export const RECORD_SERIES_MAX = 50;
/** Frames taken from one engine's ring at a time: a transaction of records needs a thousand; the ring itself holds 8 MiB, so about that much waits. */
export const FRAMES_TAKEN_MAX = 1_000;
/** Payload bytes of one transaction (one frame may be larger): LMDB writes 4 MiB in about 10 ms. */
export const TRANSACTION_BYTES_MAX = 4 * 1024 * 1024;
/** Records of one transaction: 1,000 at 10-20 us. */
export const RECORDS_PER_COMMIT_MAX = 1_000;
/** Places of records that a dead letter takes: it is written with what was sent and counted by kind, 25 to 40 us. */
export const DEAD_LETTER_PLACES = 4;
/** Milliseconds after a commit in which further frames are gathered for the next: an anomaly is to be seen within 100 ms, and a commit takes 1 to 5 ms of all threads for one frame as for ten. */
export const COMMIT_GATHER_MS_MIN = 2;
export const COMMIT_GATHER_MS_MAX = 20;
/** Milliseconds in which frames gather that nobody waits for, those for `series` and ends of episodes: a commit costs about the same for one block as for ten. At 450 blocks/s they are 45. */
export const SERIES_GATHER_MS_MAX = 100;
/** Bytes that may gather, of all engines: half a transaction, so that the frames of a full one are there when the commit before ends. */
export const SERIES_GATHERED_BYTES_MAX = TRANSACTION_BYTES_MAX / 2;
/** Part of a ring from which on the coordinator is informed of frames that it does not await: 2 MiB, as much as may gather. */
export const RING_FILL_REPORTED = 1 / 4;
/** Episodes remembered so that a replay changes nothing; 1,000,000 x 200 B of disk, the oldest forgotten first. */
export const EPISODES_MAX = 1_000_000;
/** Rows that one step of retention deletes: 250 at 2-5 us stay below the 5 ms of a commit, and their pages within the reserve of a full disk. */
export const RETENTION_ROWS_PER_STEP = 250;
/** Blocks of samples that one step of retention deletes: 64 x 17 pages are about 1 ms of commit. */
export const RETENTION_BLOCKS_PER_STEP = 64;
/**
 * Rows and blocks that a step of retention deletes at most on a full disk: an idle store keeps room for 64 leaves. As many steps in one go as are as many rows
 * as otherwise: a store that refuses what comes is stepped every five seconds.
 */
export const FULL_DISK_ROWS_PER_STEP = 8;
export const FULL_DISK_STEPS = Math.ceil(RETENTION_ROWS_PER_STEP / FULL_DISK_ROWS_PER_STEP);
/** A partition is rolled up into hours this often: seven hours of a stream then lie together, about 16 bytes each, against 520 of samples every 10 s. */
export const ROLLUP_INTERVAL_MS = 6 * 3600 * 1000;
/** Pairs of stream and hour that one fold holds, 40 bytes each; beyond, the partition is rolled up in several. One block more may come on top. */
export const ROLLUP_ENTRIES_MAX = 131_072;
/** Bytes of a roll-up block: some 300 streams x 7 hours, encoded in about 1 ms. */
export const ROLLUP_BLOCK_BYTES = 32 * 1024;
/** Roll-ups of one commit: 256 KiB take about 1 ms. */
export const ROLLUP_COMMIT_BYTES = 256 * 1024;
/** Roll-up blocks one query reads: 30 days are 120, 32 KiB each. */
export const ROLLUP_BLOCKS_READ_MAX = 2_048;
/** Milliseconds between rounds of retention. */
export const RETENTION_INTERVAL_MS = 60_000;
/** Milliseconds between attempts to write to a store that is full or failing: doubled from the first to the last. */
export const STORE_RETRY_MS_FIRST = 100;
export const STORE_RETRY_MS_MAX = 5_000;
/** Reasons, and topics, that dead letters of one tenant are counted by; further ones count as "other". */
export const DEAD_LETTER_GROUPS_MAX = 64;
/** Runs of places that a letter names of the records that it stands for: every second record of a batch makes 5,000 of 12 bytes; further ones are counted only. */
export const DEAD_LETTER_PLACES_MAX = 1_000;
/** Characters of different letters that a body holds back for their equals: 1,000 of 1 KB. */
export const DEAD_LETTERS_BUFFERED_BYTES_MAX = 1024 * 1024;
/** Rows of a series' first page that stand for a tenant's metrics in /records without service_id. */
export const RECORD_SUMMARIES_MAX = 1_000;

/** Services whose spans, or logs, one engine folds into windows; further ones are counted as dropped. A service takes 1-4 KiB besides its windows. */
export const AGGREGATED_SERVICES_MAX = 20_000;
/** Operations times open windows of one engine: 0.3-1 KiB each, so at most about 100 MB; two windows are open at a time, of up to 50,000 operations. */
export const AGGREGATE_CELLS_MAX = 100_000;
/** Ids of one engine that open windows remember: 16 B each. A service at 300,000 spans/s has 4,500,000 in the 15 s that its windows are open. */
export const WINDOW_IDS_MAX = 8_000_000;
/** Memory of closed windows' ids that waits for the next ones, in one engine: what 15 s of 100,000 spans/s take at least. */
export const WINDOW_IDS_RETAINED_BYTES_MAX = 32 * 1024 * 1024;
/** Partitions that traces hash to, the first of all: fewer make fewer, fuller messages, and as many as engines at most share them evenly. */
export const TRACE_PARTITIONS = 64;
/** Spans of one partition of traces that are held for 5 minutes: 24 B each, and 36 while their parent has not come, so all hold 4,194,304 in 96 to 240 MiB, 14,000 spans/s; beyond, less long. A power of two. */
export const JOIN_SPANS_MAX = 65_536;
/** Services of an engine that its index finds by bytes, without making a text: 160 B each. Beyond, all are forgotten and found by their texts once more. */
export const INDEXED_SERVICES_RETAINED_MAX = 100_000;
/** Services that one engine joins traces of, since its start; spans of further ones are not joined: 200,000 x 100 B. */
export const JOIN_SERVICES_MAX = 200_000;
/** From the arrival of one of two spans of a call to that of the other. */
export const JOIN_MS_MAX = 5 * 60 * 1000;
/** Pairs of services and minutes of one partition of traces between two checkpoints: 8,192 x 200 B, and 64 KiB as sent. */
export const PARTITION_CALLS_MAX = 8_192;
/** Pairs of services in one minute of the call graph: 10,000 x 20 B as stored. */
export const MINUTE_CALLS_MAX = 10_000;
/** Edges of one answer. */
export const CALL_EDGES_MAX = 10_000;
/** Minutes of the call graph one query reads: a day. */
export const CALL_MINUTES_READ_MAX = 1_440;
/** Bytes of a piece of what a message handler keeps (actors/engine/shard/message-handler.ts). */
export const HANDLER_PIECE_BYTES = 48 * 1024;

/** Rows of the audit log over all tenants; the oldest of the tenant with most goes first. About 0.5 KB each, and at most AUDIT_VIEW_BYTES_MAX before and after. */
export const AUDIT_ROWS_MAX = 1_000_000;
export const AUDIT_VIEW_BYTES_MAX = 16 * 1024;
/** Streams whose newest values one slice of a walk over services looks at: 256 at about 1 us, so that no body waits for more than 0.3 ms. */
export const STREAMS_PER_SLICE = 256;
/** Streams of one service that stand for it, evenly spread: their medians change little with more. */
export const SERVICE_STREAMS_INSPECTED_MAX = 4_096;
/** A single stream counts no further out in its service's behaviour: a mean of services would follow one broken gauge alone. */
export const BEHAVIOUR_Z_MAX = 10;

/** Values of all pillars and tenants: 1.5 KiB each with their seven days; places of services in further ones are counted and not scored. */
export const PILLAR_VALUES_MAX = 50_000;
/** A change of the map takes effect this soon (contract, section 8); a tick that ends later is behind. */
export const SERVICE_MAP_CHANGE_MS_MAX = 60_000;
/** A value's history is stored this often; so many in one tick, in commits of so many rows of 100 to 900 bytes, as retention's. */
export const PILLAR_HISTORY_STORE_MS = 10 * 60_000;
export const PILLAR_HISTORIES_PER_STEP = 3_000;
export const PILLAR_HISTORIES_PER_COMMIT = 250;

/** The share of a thread that a tick may take, and its longest rest between two pieces of work, where other work made one seem long. */
export const VECTORIZER_BUSY_SHARE = 0.2;
export const VECTORIZER_REST_MS_MAX = 20;

/** Pairs whose long baselines make one page of 74 KB: a partition of few streams wastes little, and a row of the store holds as many. */
export const LONG_BASELINE_PAGE_PAIRS = 16;
/** Values that a pass gives to long baselines in one visit of a service, at 4 us, and streams that it looks at without new values, at 0.1 us. */
export const LONG_BASELINE_VALUES_PER_VISIT = 64;
export const LONG_BASELINE_STREAMS_PER_VISIT = 512;
/** A page of states that has changed is stored this often: what a crash takes of it comes again from the streams' newest 120 values. */
export const DETECTOR_STATE_STORE_MS = 10 * 60_000;
/** Partitions whose stored pages an engine asks for at once. History waits until all have come, so they should come soon. */
export const DETECTOR_STATE_PARTITIONS_ASKED_MAX = 16;
/** Bytes of one answer with stored states. */
export const DETECTOR_STATES_ANSWER_BYTES = 1024 * 1024;
/** Cycles after which stored long baselines whose streams have not shown are given up: they left memory meanwhile. */
export const LONG_BASELINE_UNCLAIMED_CYCLES = 5;
/** Services whose last deployment an engine remembers, 150 B each; the oldest is forgotten first. */
export const DEPLOYMENTS_REMEMBERED_MAX = 20_000;
/** Pairs whose accepted level an engine remembers, 300 B each; those of the service that was named longest ago are forgotten first. */
export const ACCEPTED_LEVELS_REMEMBERED_MAX = 20_000;
/** Alerts of cycle detectors that are closed in one transaction because no engine reports them any more. */
export const OPEN_CLOSED_PER_CYCLE = 1_000;
/** Streams that an engine gives a changed threshold between two bodies: some 20 us, 0.5 ms where metrics have settings of their own. */
export const PROFILE_SLOTS_PER_STEP = 256;
/** Places (tenant, service, metric) with settings of the Watchdog of their own, of a tenant and of all: 0.5 KiB each in every engine. */
export const WATCHDOG_PLACES_PER_TENANT_MAX = 5_000;
export const WATCHDOG_PLACES_MAX = 50_000;
/** UTF-8 bytes of such a place's service and metric together: its key holds both. */
export const WATCHDOG_NAMES_BYTES_MAX = 1_600;

/** Bounded series that are watched for running full, over all engines, 1.5 KiB each, and those of which breaches are kept that samples no longer show: up to 1.3 KiB. */
export const SATURATION_SERIES_MAX = 50_000;
export const SATURATION_BREACHED_MAX = 50_000;
/** Series whose stored past one slice asks for, and streams that stand for a roll-up's past. */
export const SATURATION_WANTED_PER_SLICE = 64;
export const SATURATION_ROLLUP_STREAMS_MAX = 64;
/** Stored pasts of an engine's series that are folded after one pass: the others follow in later ones. */
export const SATURATION_AGGREGATES_PER_CYCLE = 2_000;
/** Streams whose samples are folded together out of a partition's blocks: 120 KiB each while it lasts. */
export const SATURATION_STREAMS_PER_AGGREGATE = 64;
/** Ended findings of a tenant that are kept, about 1 KiB each. */
export const SATURATION_FIRES_ENDED_MAX = 500;
/** Services, one for each environment, whose arrivals are watched, over all engines: 0.5 KiB each, and of those that are silent at times up to 1 KiB more. */
export const ARRIVAL_SERVICES_MAX = 100_000;
/** Silences of a service that are remembered, 16 bytes each: three weeks of a service that falls silent three times a day. */
export const SILENCES_REMEMBERED_MAX = 64;
/** SLOs whose burn is watched, of all tenants: 35 KiB each. */
export const SLO_WINDOWS_MAX = 2_000;
/** SLOs of a tenant that coverage names for values that are no ratios, 150 B each. */
export const SLOS_OUTSIDE_MAX = 100;
/** Open anomalies, and pairs of services that call each other, of one tenant and environment that are looked at for cascades. */
export const CASCADE_ONSETS_MAX = 2_000;
export const CASCADE_EDGES_MAX = 20_000;
/** A ping of the dead-man's switch that takes longer has failed. */
export const HEARTBEAT_MS_MAX = 10_000;
/** Silences of a tenant and of all: each is asked about each alert. Matchers of one, and characters of its comment. */
export const SILENCES_PER_TENANT_MAX = 1_000;
export const SILENCES_MAX = 20_000;
export const LABEL_MATCHERS_MAX = 32;
export const SILENCE_COMMENT_CHARACTERS_MAX = 1_000;
/** Inhibition rules of a tenant and of all: each is asked about each alert that changes. Labels that must be equal. */
export const INHIBITIONS_PER_TENANT_MAX = 100;
export const INHIBITIONS_MAX = 5_000;
export const INHIBITION_EQUAL_MAX = 16;
/** Decisions of one answer of the ledger, and streams of a pair that are judged again. */
export const LEDGER_ANSWER_ROWS_MAX = 500;
export const LEDGER_STREAMS_MAX = 16;
/** Samples of a stream that its long baselines are made again from, two weeks of minutes: 60 ms in slices; of a service for its model, and its streams. */
export const LEDGER_HISTORY_SAMPLES_MAX = 20_000;
export const LEDGER_SERVICE_SAMPLES_MAX = 100_000;
export const LEDGER_SERVICE_STREAMS_MAX = 256;
/** Open anomalies that engines are informed of before a pass, as confirming ones. */
export const CORROBORATIONS_MAX = 20_000;

/** Metrics of a service that are judged together: the covariance of 64 takes 0.1 s for 4,320 vectors, and more are seldom of one cause. */
export const SERVICE_METRICS_MAX = 64;
/** Streams behind the metrics of one service and environment: each metric takes an equal share of the first by identity, so that training reads the same. */
export const SERVICE_VECTOR_STREAMS_MAX = 512;
/** A metric that sent nothing for so long has no value in a vector; until then its last one stands. */
export const SERVICE_VALUE_AGE_MS_MAX = 5 * 60_000;
/** Streams whose names are read in one visit of a service, at 3 us. */
export const SERVICE_NAMES_PER_VISIT = 48;
/** Metrics of a service are chosen anew at most this often: each new choice needs a new model. */
export const SERVICE_COLUMNS_RETAINED_MS = 3600 * 1000;
/** Vectors of a first model, and of any: a week of minutes, as long as raw samples are kept by default (RETENTION_RAW_DAYS); 64 metrics train in some 1.5 s. */
export const SERVICE_VECTORS_MIN = 256;
export const SERVICE_VECTORS_MAX = 10_080;
/** Samples that one training reads: of 64 metrics 10,080 vectors and some more; where streams are many, history is shorter. */
export const SERVICE_TRAINING_SAMPLES_MAX = 700_000;
/** Bytes of the stored chunks that one training reads: 700,000 samples of 16 bytes, the most that a chunk has, and what stands around each chunk. History is shorter beyond. */
export const TRAINING_CHUNK_BYTES_MAX = 14 * 1024 * 1024;
/** A model is trained anew when its history has doubled, and this often: what is strange for two days is the new normal. 10,000 services take 3 % of a core. */
export const SERVICE_MODEL_AGE_MS_MAX = 2 * 24 * 3600 * 1000;
/** Cycles after which a service asks again for what it was not given. */
export const SERVICE_ASKS_AGAIN_CYCLES = 10;
/** Services that wait for the coordinator to look for their models, or for a training: 200 B each. Those that find no place ask again. */
export const SERVICES_WAITING_MAX = 20_000;
/** A detector's state is stored this often, and when an alert opens or ends. */
export const SERVICE_STATE_STORE_MS = 10 * 60_000;
/** Megabytes of heap of the thread that trains: 4,320 vectors of 64 metrics with their features take 10. */
export const TRAINING_HEAP_MB_MAX = 256;
/** The thread that trains ends when it had nothing to do for so long. */
export const TRAINING_IDLE_MS = 30_000;
/** A training that takes longer is given up, with its thread; the longest on a machine that is full takes some seconds. */
export const TRAINING_MS_MAX = 60_000;

/** Bytes of what looks like a block and is none whose checksums a search behind damage may take: sixteen full segments, some 0.5 s. */
export const LOG_SEARCH_BYTES_MAX = 1024 * 1024 * 1024;
/** Bytes of damaged logs that are kept aside. */
export const DAMAGED_BYTES_RETAINED_MAX = 256 * 1024 * 1024;

/** Faults of the data folder that are kept, 500 bytes each: the file is replaced as a whole. */
export const DATA_FAULTS_MAX = 100;

const ties: Array<[boolean, string]> = [
  [WORK_ROWS_MAX * PACKED_ROW_BYTES_MAX + ENGINES_MAX * 16 <= PACKED_ROWS_BYTES, "a unit of work fits the area of packed rows"],
  [WORK_ROWS_MAX * ROW_BYTES <= STAGING_BYTES, "a unit of work fits the staging area of one destination"],
  [(FRAME_ROWS_MAX * ROW_BYTES + FRAME_HEADER_BYTES) * 8 <= INBOX_BYTES, "eight frames fit a ring between engines"],
  [
    REPLAYED_REFS >= KEY_TABLE && REPLAYED_REFS + REPLAYED_REFS_MAX * REPLAYED_REF_BYTES <= KEY_TABLE + KEY_TABLE_BYTES,
    "refs of earlier logs fit where the key table will be",
  ],
  [BODY_BYTES_MAX <= LARGE_BODY_BYTES, "a large body fits its place"],
  [SMALL_BODY_BYTES_MAX * 2 <= BODY_RING_BYTES, "two small bodies fit the body ring"],
  [BLOCK_BYTES * 4 <= COORDINATOR_RING_BYTES, "blocks fit the coordinator ring"],
  [SERIES_POINTS_MAX <= SERIES_DATA_SAMPLES_MAX, "the points of an answer fit the samples of a query"],
  [TRACE_PARTITIONS <= PARTITIONS && TRACE_PARTITIONS >= ENGINES_MAX, "every engine has a partition of traces"],
  [RECORDS_SCANNED_MAX >= PAGE_ROWS_MAX, "a page of records fits what a query looks at"],
];
for (const [holds, what] of ties) if (!holds) throw new Error(`limits.ts: it must hold that ${what}`);

/** Streams that one answer on coverage looks at, over all engines: some 0.5 s of their time, in slices. */
export const COVERAGE_STREAMS_MAX = 100_000;
/** Streams of a slice, about 1 ms: each has its name read. */
export const COVERAGE_STREAMS_PER_SLICE = 256;
/** Attribute keys whose distinct values are counted, 1 KiB each; further ones are left out. */
export const COVERAGE_KEYS_MAX = 1_000;
/** Rows of a list of contributors, and metrics of a service, in one answer. */
export const COVERAGE_TOP_ROWS = 20;
export const COVERAGE_METRICS_MAX = 1_000;

/** Lines of the server's own log: 200 are 40 KB and 1.5 ms of the main thread; a fault that each request hits cannot fill the disk. */
export const LOG_LINES_PER_SECOND_MAX = 200;
/** WATCHDOG_WARMUP_MINUTES where it is not given (contract 1.1.9). */
export const WATCHDOG_WARMUP_MINUTES_DEFAULT = 8;
