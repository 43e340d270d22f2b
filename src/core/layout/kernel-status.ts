// What kernel calls answer with. Read by both compilers: integer constants only.
// Zero and above: the call went as it should, and the number says what TypeScript does next. Below zero: the input is bad and nothing of it counts.

export const STATUS_OK = 0;
/** The body is at its end. */
export const STATUS_DONE = 1;
/** A series is not in the ingest table: resolve or skip it, then step again. */
export const STATUS_UNKNOWN_STREAM = 2;
/** No more rows may be staged: commit what is staged, then go on. */
export const STATUS_ROWS_FULL = 3;
/** The rejects area is full: take the rejects, reset them, step again. The sample was not consumed. */
export const STATUS_REJECTS_FULL = 4;
/** A series has samples but no labels (or too many bytes of scattered ones): skip it, then step again. */
export const STATUS_BAD_LABELS = 5;
/** The ingest table has no room: clear it and insert again; streams are then looked up anew. */
export const STATUS_TABLE_FULL = 6;
/** A JSON record is not in the form that the kernel reads: decode its bytes, then step again. */
export const STATUS_ODD_RECORD = 7;
/** A stream is to be defined, but its shard lives in another engine: ask it, defineSettle(), then step again. */
export const STATUS_ASK_OWNER = 8;
/** A stream is to be defined, but refs or new streams are used up: defineAllow(), then step again, or resolve or skip the series. */
export const STATUS_ALLOWANCE_SPENT = 9;
/** The definitions area is full: commit the unit, then step again. */
export const STATUS_DEFINITIONS_FULL = 10;
/** A series tells its type, help or unit for the first time, or others than before: take them, remoteWriteNoted(), then step again. */
export const STATUS_METADATA = 11;
/** A series comes from one of several replicas: remoteWriteReplica() says whether this body's samples are taken, then step again. */
export const STATUS_ASK_REPLICA = 12;

export const STATUS_BAD_SNAPPY = -1;
/** The decompressed body would not fit, or a body has more records than it may. */
export const STATUS_TOO_LARGE = -2;
export const STATUS_BAD_PROTOBUF = -3;
/** The body is no JSON, or not such that the kernel can say so. */
export const STATUS_ODD_BODY = -4;
/** An element of a JSON array is longer than was asked for. */
export const STATUS_LONG_ELEMENT = -5;
