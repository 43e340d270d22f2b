// Maxima of one request body on its way from gzip to records, so that none holds a thread that others wait for; the sizes of bodies and records are in limits.ts.
import { BODY_PADDING_BYTES, SMALL_DECOMPRESSED_BYTES } from "../layout/memory-map.ts";
import {
  ATTRIBUTES_MAX,
  BODY_BYTES_MAX,
  DECOMPRESSED_BYTES_MAX,
  LOG_BODY_BYTES_MAX,
  NAME_BYTES_MAX,
  SMALL_BODY_BYTES_MAX,
  VALUE_BYTES_MAX,
} from "./limits.ts";

/**
 * Bytes of bodies that have begun to come and are not whole, on all ports: 28 of the largest. A tenant's share is what one address needs for one of the largest:
 * a third of what is open to it, and memory runs an eighth ahead of what has come.
 */
export const BODY_BYTES_ARRIVING_MAX = 512 * 1024 * 1024;
export const BODY_BYTES_ARRIVING_SHARE = 64 * 1024 * 1024;

/**
 * A body may inflate to so many bytes whatever was sent, and beyond to so many times that. Deflate makes 258 bytes of two bits, 1,030 times what is sent; telemetry
 * has a time in each record, 4 bytes or more: a log of 8.8 KB that is the same as the one before but for that takes 34 bits' matches and is 260 times
 * smaller, the most of what was measured (ADR 83). What clients sent here is 1.3 to 6 times smaller, long batches of them 13 to 155 times.
 */
export const INFLATED_RATIO_BYTES_FREE = 4 * 1024 * 1024;
export const INFLATED_RATIO_MAX = 300;
/**
 * The same for zstd, which finds repeats of any length: logs of 8 KB that are the same but for their time are up to 2,680 times smaller (level 19), JSON
 * records 142 times. Its blocks of one byte would make 32,768 times what is sent.
 */
export const ZSTD_RATIO_MAX = 3_000;
/** Bytes that a decoder of zstd may look back, as a power of two: 8 MiB, which RFC 9659 asks of senders; INFLATING_MAX of them at a time. */
export const ZSTD_WINDOW_LOG_MAX = 23;
/** Blocks of a frame of zstd, of 128 KiB at most each: 512 make the largest body, the rest is for senders that flush. */
export const ZSTD_BLOCKS_MAX = 65_536;
/** Bodies that are inflated at a time, in all (the thread pool has four threads) and of one tenant. */
export const INFLATING_MAX = 4;
export const INFLATING_PER_TENANT_MAX = 2;
/** No further one begins while so many bytes have been inflated and not handed over: with those that are under way 3 x 64 MiB more at most. */
export const INFLATING_BYTES_MAX = 64 * 1024 * 1024;
/** Bodies that are inflated or wait for it, and bytes of them as sent; a tenant has half of each at most. Collectors send gzip as a rule, 8 to 100 KiB at a time. */
export const INFLATIONS_WAITING_MAX = 256;
export const INFLATION_BYTES_WAITING_MAX = 64 * 1024 * 1024;
/** Bytes of an inflated body that the main thread copies in one slice: 0.5 ms where the pages are new. */
export const COPIED_BYTES_PER_SLICE = 1024 * 1024;

/** Body of a request that writes one object: names of 1 KiB, a note of 1,024 characters. An endpoint that takes more says so in its declaration. */
export const OBJECT_BODY_BYTES_MAX = 16 * 1024;
/** Body of a replay: REPLAY_IDS_MAX ids of 48 characters, with quotes and space. */
export const REPLAY_REQUEST_BYTES_MAX = 128 * 1024;
/** Body of a silence: LABEL_MATCHERS_MAX matchers with a name and a value of 1 KiB each, and as much again for escapes. */
export const SILENCE_BODY_BYTES_MAX = 128 * 1024;
/** Bodies of rules, and of a backtest, which has hundreds of them: their lists and texts are bounded by the schema, 4 MiB whoever writes them. */
export const RULES_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Body of one group of rules of Prometheus' kind: RULES_PER_GROUP_MAX of half a KiB, as public ones have; odd YAML of this length is read in two seconds. */
export const RULE_GROUP_BODY_BYTES_MAX = 512 * 1024;

/** Text of JSON that JSON.parse is given at a time, in whole elements of its arrays: 2 ms at 30 MB/s, which is also as much as the kernel refuses and JSON.parse explains. */
export const JSON_PARSED_BYTES_MAX = 64 * 1024;
/** Characters of one text of a body that the coordinator parses, which JSON.parse reads at once: 4 ms where it is all escapes. A catalog's API has its definition in one. */
export const JSON_TEXT_CHARACTERS_MAX = 1024 * 1024;
/** Values of such a body: so many, and one for every eight characters of it. A member of one letter and a digit has six characters, an alert has ten values in 300. */
export const JSON_VALUES_FREE = 65_536;
export const JSON_VALUE_CHARACTERS_MIN = 8;
/** Entries of a list and members of an object that are always counted through: what a schema allows less of it names itself, and says how many there are. */
export const JSON_COUNTED_MIN = 64;
/** Members of an object of any names, and entries of a list of anything, where their schema says no bound: labels of an alert, attributes of a record. */
export const JSON_COUNTED_ANY = 1_024;
/**
 * A longer element is parsed by itself: 40 ms. It is as long as the limits of a record, log or span allow it to be, 128 attributes of 9 KiB and a text of
 * 8 KiB; a longer one is refused unread.
 */
export const JSON_ELEMENT_BYTES_MAX = 1280 * 1024;
/**
 * Characters, as JSON, of all attributes of a log, event or span, and of a resource, which is stored with each of its records; what is beyond is dropped. A record then has
 * 160 KiB of them at most, a page of 1,000 records 160 MB; what senders send has 1 to 4 KiB.
 */
export const RECORD_ATTRIBUTES_BYTES_MAX = 128 * 1024;
export const RESOURCE_ATTRIBUTES_BYTES_MAX = 32 * 1024;
/** Text of JSON that the kernel checks in one turn, 2 ns a byte at worst; no element of a body may be longer than that. */
export const JSON_SCANNED_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Objects in the arrays of an OTLP request (resources, items, points, attributes): so many, and one for every eight bytes of the body. A log of a time alone has
 * 11 bytes in protobuf, an attribute 33 in JSON; {} has two or three.
 */
export const OTLP_ELEMENTS_FREE = 65_536;
export const OTLP_ELEMENT_BYTES_MIN = 8;

/** Text that is decoded item by item for one unit, 40 us a KiB at worst, so 5 ms; an item costs as much as so many bytes besides its own. */
export const WORK_TEXT_BYTES_MAX = 128 * 1024;
export const ITEM_TEXT_BYTES = 128;
/** Additional cost of what is new, here and in its shard: a stream, and a service whose logs or spans are counted. */
export const NEW_STREAM_TEXT_BYTES = 512;
export const NEW_SOURCE_TEXT_BYTES = 768;

/**
 * Bodies of the ring that take several units of one engine and are overtaken meanwhile, and bytes of what is kept of them: 0.5 MiB of JSON or OTLP each, 11 MiB and
 * the index of its series of remote-write, if the sender means harm. A tenant has half of both at most; beyond, the rest of a body is refused with 503.
 */
export const BODIES_ASIDE_MAX = 64;
export const ASIDE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Contents of one body's logs and events whose equals are numbered, 60 B each, so 1 MB a body and 64 MB with all that are set aside; a collector sends 8,192 at
 * a time, a batch of JSON has 10,000. Of a body with more the further ones are known by their places in it.
 */
export const EQUAL_RECORDS_KNOWN_MAX = 16_384;
/** A body of logs that may be a part of a burst: some 30 to 100 lines, where an SDK sends 512 at a time and what comes by hand is shorter. */
export const BURST_BODY_BYTES_MIN = 4096;
/** Requests with an Idempotency-Key and logs without a time whose arrival an engine remembers, 0.3 KB each, and how long: a repeat has the time of the first. */
export const KEYED_ARRIVALS_MAX = 10_000;
export const KEYED_ARRIVAL_MS_MAX = 3600 * 1000;
/** Dead letters of one body about samples that are NaN or infinite, 0.5 KB each; those beyond are counted without one. */
export const NOT_FINITE_LETTERS_MAX = 1_000;

const ties: Array<[boolean, string]> = [
  [
    (SMALL_BODY_BYTES_MAX * 64) / 3 + 2 * BODY_PADDING_BYTES <= SMALL_DECOMPRESSED_BYTES,
    "a body of the ring is 64/3 times as long decompressed at most: snappy copies 64 bytes for three",
  ],
  [
    ATTRIBUTES_MAX * (NAME_BYTES_MAX + VALUE_BYTES_MAX) + LOG_BODY_BYTES_MAX <= JSON_ELEMENT_BYTES_MAX,
    "an item that keeps to its limits may be parsed",
  ],
  [
    JSON_PARSED_BYTES_MAX <= JSON_ELEMENT_BYTES_MAX && JSON_ELEMENT_BYTES_MAX <= JSON_SCANNED_BYTES_MAX,
    "what may be parsed may be scanned",
  ],
  [BODY_BYTES_ARRIVING_SHARE / 3 >= (BODY_BYTES_MAX * 9) / 8, "a body of the largest kind fits into its tenant's share"],
  [INFLATED_RATIO_BYTES_FREE <= DECOMPRESSED_BYTES_MAX, "the ratio counts below the largest body"],
];
for (const [holds, what] of ties) if (!holds) throw new Error(`body-limits.ts: it must hold that ${what}`);

/** Bytes of large bodies that may wait for an engine's one large place, of all tenants; each is held whole. */
export const LARGE_BODIES_WAITING_BYTES_MAX = 256 * 1024 * 1024;

/** Of one tenant: half of them, so that a second one finds room beside it; tenants take turns. */
export const LARGE_BODIES_BYTES_PER_TENANT_MAX = LARGE_BODIES_WAITING_BYTES_MAX / 2;

/** Large bodies of one tenant that may wait: of half a megabyte and more each, so that their turns end within what a sender waits. */
export const LARGE_BODIES_PER_TENANT_MAX = 8;

/** News of episodes that an engine tells at once of a unit of work, each some 0.1 ms; of more it tells between others' bodies, for so long at a time, or a hundredth of their age. */
export const OWED_REPORTED_AT_ONCE = 8;
export const OWED_REPORTED_MS = 1;
/** Those that wait in an engine, 300 bytes each: for one more another is told. */
export const OWED_EPISODES_MAX = 4_096;
/** After so long all are told, and whatever has waited for that has its turn. */
export const OWED_WAIT_MS_MAX = 3_000;
