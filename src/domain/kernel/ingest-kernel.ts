// The ingest's half of the kernel as TypeScript sees it, and the parser for the label bytes of a stream that the kernel does not know yet.
// Statuses are those of core/layout/kernel-status.ts. Addresses and counts are below 2^31, so that they arrive unsigned.
import { WireReader } from "../codec/wire-reader.ts";

/** The functions that the ingest exports. All state is in the kernel; one body at a time. */
export interface IngestExports {
  /** Seeds of the ingest table (random per start) and of identities (fixed per data folder), two words each. */
  setSeeds(keyLow: bigint, keyHigh: bigint, identityLow: bigint, identityHigh: bigint): void;
  /** Address of the 16-byte identity hash of a span; valid until the next call. */
  identityHash(pointer: number, bytes: number): number;
  /** Decompressed bytes, STATUS_BAD_SNAPPY or STATUS_TOO_LARGE. Both areas need BODY_PADDING_BYTES behind them. */
  snappyDecompress(pointer: number, bytes: number, out: number, capacity: number): number;
  /**
   * Checks the whole body and sets the walk to its start: number of samples, or STATUS_BAD_PROTOBUF and nothing was staged. Whole ms with base <= min <= max < base + 2^32;
   * maxRows * ROW_BYTES <= STAGING_BYTES. The body must not change until the walk is done.
   */
  remoteWriteBegin(pointer: number, bytes: number, tenant: number, baseMs: number, minMs: number, maxMs: number, maxRows: number): number;
  /** The same for a body of remote-write 2.0, or STATUS_TOO_LARGE for more than SYMBOLS_MAX symbols. */
  remoteWrite2Begin(pointer: number, bytes: number, tenant: number, baseMs: number, minMs: number, maxMs: number, maxRows: number): number;
  /** Counts of the body that was begun last; all three are passed over by the walk. */
  metadataCount(): number;
  histogramCount(): number;
  exemplarCount(): number;
  /** Counts of the 2.0 body that was begun last. */
  histogramCount2(): number;
  exemplarCount2(): number;
  symbolCount(): number;
  /** Where the bytes of a symbol lie; its number must be below symbolCount(). */
  symbolPointer(number: number): number;
  symbolBytes(number: number): number;
  /** Samples of the body so far that were a NaN, and that were passed over for another replica's. */
  remoteWriteUnobserved(): number;
  remoteWriteSkipped(): number;
  /** Row offsets count from this time from now on: for the unit of work that goes on with the body. */
  remoteWriteRebase(baseMs: number): void;
  /**
   * Notes at RETAINED_PARSE where the walk stands, behind a unit of work, so that other bodies may be walked before it goes on: where the index from SERIES_INDEX on
   * ends. remoteWriteGoOn() takes it up once that, the symbols, the body and RETAINED_PARSE are as they were.
   */
  remoteWriteSuspend(): number;
  remoteWriteGoOn(): void;
  /** STATUS_DONE, _UNKNOWN_STREAM, _ROWS_FULL, _REJECTS_FULL, _BAD_LABELS, _ASK_OWNER, _ALLOWANCE_SPENT, _DEFINITIONS_FULL, _METADATA or _ASK_REPLICA. */
  remoteWriteStep(): number;
  /** After STATUS_METADATA: the type as the protocol numbers it, and numbers of symbols, perhaps of none; then remoteWriteNoted(). */
  metadataType(): number;
  metadataHelp(): number;
  metadataUnit(): number;
  remoteWriteNoted(): void;
  /** After STATUS_ASK_REPLICA: the source that remoteWriteResolve() named; then whether this body's samples of it are taken. */
  replicaSource(): number;
  remoteWriteReplica(isTaken: number): void;
  /** Where the label bytes of the series that a step stopped at begin; see parseLabelSpan(). */
  unknownPointer(): number;
  unknownBytes(): number;
  /** STATUS_OK or STATUS_TABLE_FULL (keyTableClear(), then resolve again). `source` tells replicas apart, below REPLICA_SOURCES_MAX; 0 = one sender. */
  remoteWriteResolve(ref: number, destination: number, partition: number, source?: number): number;
  /** Names of series whose kind metadata say otherwise than their suffix; 0 when there are SERIES_KINDS_MAX. BODY_PADDING_BYTES must follow the name. */
  seriesKindsClear(): void;
  seriesKindsAdd(name: number, bytes: number, tenant: number, counts: number, isContested: number): number;
  /** Which engine this is, of how many, and which flags (FLAG_*) its definitions may have. */
  defineSetup(engine: number, engines: number, flags: number): void;
  /** The tenant of the series to come: bytes at TENANT_HEAD (0: every new series is STATUS_UNKNOWN_STREAM), and what serviceSeed() says of it. */
  defineTenant(headBytes: number, serviceSeed: number): void;
  /** Gives the kernel a run of refs for new streams; those it still had are lost. */
  defineRefs(first: number, count: number): void;
  defineRefsLeft(): number;
  /** Sets how many new streams the tenant at hand may have; answers how many it still might. */
  defineAllow(streams: number): number;
  /** After STATUS_ASK_OWNER: whether the owner's shard holds the stream with the hash at definedHash(). STATUS_OK, or _ALLOWANCE_SPENT as from a step. */
  defineSettle(isKnown: number): number;
  /** Prepares the definition of a stream by its identity (BODY_PADDING_BYTES follow): STATUS_OK, _ASK_OWNER or _DEFINITIONS_FULL. */
  definePrepare(identity: number, bytes: number, tenant: number, partition: number, flags: number): number;
  /** Whether this engine's shard holds the stream of the definition that was prepared last with STATUS_OK. */
  definedIsKnown(): number;
  /** Engine that owns it. */
  definedDestination(): number;
  /** Address of its 16-byte identity hash. */
  definedHash(): number;
  /** Ends that definition; one that is not known counts as a new stream. */
  defineFinish(ref: number, isKnown: number): void;
  /** Bytes of definitions at DEFINITIONS. */
  definitionsBytes(): number;
  definitionsReset(): void;
  /** Number of samples that are lost by skipping the series at hand. */
  remoteWriteSkipSeries(): number;
  /** 1 = found, 0 = unknown; BODY_PADDING_BYTES must follow the span. */
  keyLookup(pointer: number, bytes: number, tenant: number): number;
  /** Enters the key that was looked up last: STATUS_OK or STATUS_TABLE_FULL. */
  keyInsert(ref: number, destination: number, partition: number): number;
  /** 1 when the counter found or inserted last began to count at another time (ms) than the table knew; it knows then. */
  keyStartMovedMs(startMs: number): number;
  /** Sets how many elements the arrays of the OTLP bodies to come may have; a check that finds more gives up, and none are left then. */
  otlpElementsMax(elements: number): void;
  otlpElementsLeft(): number;
  /** Checks the form of an OTLP body of logs in protobuf: STATUS_BAD_PROTOBUF, or another status. */
  otlpRequestCheck(pointer: number, bytes: number): number;
  /**
   * Checks an OTLP metrics body (`json` 1: in JSON, 0: in protobuf) and sets the walk over its number points to its start: their number, STATUS_BAD_PROTOBUF, or STATUS_ODD_BODY for one that
   * is to be decoded whole in TypeScript. Times as for remoteWriteBegin(); a point without one gets `arrivalMs`. `convert` 0: cumulative sums are plain values.
   */
  otlpMetricsBegin(
    pointer: number,
    bytes: number,
    json: number,
    tenant: number,
    baseMs: number,
    minMs: number,
    maxMs: number,
    arrivalMs: number,
    convert: number,
    maxRows: number,
  ): number;
  /** Points of histograms and summaries in the body that was begun last; the walk passes over them. */
  otlpDistributions(): number;
  /** STATUS_DONE, _UNKNOWN_STREAM, _ODD_RECORD (a point that cannot be stored) or _ROWS_FULL. Of the second and third OTLP_POINT says the point. */
  otlpMetricsStep(): number;
  /** Enters the stream and stages its point: STATUS_OK or STATUS_TABLE_FULL (keyTableClear(), then resolve again). */
  otlpMetricsResolve(ref: number, destination: number, partition: number): number;
  otlpMetricsSkip(): void;
  /** As remoteWriteSuspend() and remoteWriteGoOn(); OTLP_POINT is to be stored too, and the body may lie `moved` bytes further then. */
  otlpMetricsSuspend(): number;
  otlpMetricsGoOn(moved: number): void;
  /**
   * Checks an OTLP traces body in protobuf and sets the walk over its spans to its start: STATUS_OK, STATUS_BAD_PROTOBUF, or STATUS_ODD_BODY for one that is to be decoded
   * whole in TypeScript. `seed` is serviceSeed() of its tenant; spans that end before `minMs` or after `maxMs` are odd.
   */
  otlpTracesBegin(pointer: number, bytes: number, seed: number, minMs: number, maxMs: number): number;
  /** Fills SPAN_ROWS with the next spans and answers how many, 0 at the end. Numbers of texts are good until the next step. */
  otlpTracesStep(): number;
  /** As remoteWriteSuspend() and remoteWriteGoOn(), without an index: it goes on ahead of the last step, which is to be done again. */
  otlpTracesSuspend(): void;
  otlpTracesGoOn(moved: number): void;
  /** Number of the first text that is kept: those below are forgotten, none is ever another text. */
  spanTextsFirst(): number;
  spanTextPointer(number: number): number;
  spanTextBytes(number: number): number;
  keyTableClear(): void;
  keyTableEntries(): number;
  /** Bytes of label texts that are kept, of KEY_TEXTS_BYTES. */
  keyTextBytes(): number;
  foundRef(): number;
  foundDestination(): number;
  foundPartition(): number;
  /** STATUS_OK or STATUS_ROWS_FULL. `offset` is milliseconds after the frame's base. */
  stageRow(destination: number, ref: number, offset: number, value: number): number;
  /** A start marker (core/layout/row-frame.ts) for the cumulative value of the row behind it, and a stale marker. Statuses as of stageRow(). */
  stageStart(destination: number, ref: number, offset: number, startMs: number): number;
  stageStale(destination: number, ref: number, offset: number): number;
  stagedRows(): number;
  /** Bytes at STAGING + destination * STAGING_BYTES. */
  stagedBytes(destination: number): number;
  /** Empties the staging of the first `engines` destinations. */
  stagingReset(engines: number): void;
  /** Entries of REJECT_BYTES at REJECTS. */
  rejectsCount(): number;
  rejectsReset(): void;
  /** Packs rows to `out`, which has PACKED_ROW_BYTES_MAX bytes for each; answers how many bytes they take. */
  packRows(pointer: number, rows: number, out: number): number;
  /** Unpacks `bytes` to at most `most` rows at `out` and answers how many there were; `most` + 1 when they do not fit or are cut off. */
  unpackRows(pointer: number, bytes: number, out: number, most: number): number;
  /**
   * Copies rows of an earlier log to `out` with refs of this start, less those that are other engines' or covered (core/layout/replayed-refs.ts). Answers how
   * many it has dealt with: fewer than given before a row of which something is not known. `out` may not lie within the rows.
   */
  translateRows(pointer: number, rows: number, out: number): number;
  /** Rows that the last translateRows() copied. */
  translatedRows(): number;
  /** Deepest nesting of [ and { outside strings. */
  jsonDepth(pointer: number, bytes: number): number;
  /**
   * Checks a JSON body (`form` 0: one record, 1: an array of them, 2: those of such an array from one to another, without brackets) and sets the steps to its
   * start: number of records, or STATUS_ODD_BODY or _TOO_LARGE (more than `recordsMax`) and nothing was staged. Times are ms; the kernel stages records
   * from `minMs` to `maxMs` only. The body must not change until the last step.
   */
  jsonRecordsBegin(
    pointer: number,
    bytes: number,
    form: number,
    tenant: number,
    baseMs: number,
    minMs: number,
    maxMs: number,
    recordsMax: number,
    depthMax: number,
  ): number;
  /** Where the record begins at which a body was found to be odd. */
  jsonFailedAt(): number;
  /** Stages records: STATUS_DONE, or _ODD_RECORD or _UNKNOWN_STREAM for one that is to be decoded from its bytes (keyInsert() then enters its spelling). */
  jsonRecordsStep(): number;
  /** Where the record lies that the last step stopped at, and its place in the body. */
  jsonRecordPointer(): number;
  jsonRecordBytes(): number;
  jsonRecordIndex(): number;
  /** Where the next record begins (0: there is none), and where the last one ends. */
  jsonRecordNext(): number;
  jsonRecordsEnd(): number;
  /**
   * Passes whole elements of an array, from the one at `pointer` on, of at most `runBytes` together; the first may have `elementBytes`, and brackets `depth` levels.
   * STATUS_OK, _LONG_ELEMENT or _ODD_BODY; the run then has so many elements and this end, and the next element (or the closing bracket) this place.
   */
  jsonRun(pointer: number, runBytes: number, elementBytes: number, depth: number): number;
  jsonRunEnd(): number;
  jsonRunElements(): number;
  /** Elements of the run that are no objects. */
  jsonRunOthers(): number;
  jsonRunNext(): number;
  /** Objects in arrays, at any depth of the run. */
  jsonRunObjects(): number;
  /** Behind the value at `pointer`; 0 when there is none that ends within `bytes`. */
  jsonValueEnd(pointer: number, bytes: number, depth: number): number;
  /** The first byte from `pointer` on that is no white space. */
  jsonSpaceEnd(pointer: number): number;
}

/**
 * Labels of a series, in the order they were sent, from the bytes at unknownPointer(); fields between them that are no labels are passed over.
 * Undefined when a text is not UTF-8 (or, which the kernel rules out, the bytes are no protobuf). Limits and duplicates are for the caller to check.
 */
export function parseLabelSpan(span: Uint8Array): Array<[name: string, value: string]> | undefined {
  const reader = new WireReader(Buffer.from(span)); // a copy, as the span may lie in shared memory
  const labels: Array<[string, string]> = [];
  while (reader.next(span.length)) {
    if (reader.field !== 1) continue;
    const label = readLabel(reader);
    if (label === undefined) return undefined;
    labels.push(label);
  }
  return reader.failed ? undefined : labels;
}

/** Name and value of one label; absent ones are empty, of repeated ones the last counts. */
function readLabel(reader: WireReader): [string, string] | undefined {
  const end = reader.to;
  const label: [string, string] = ["", ""];
  if (!reader.enter()) return undefined;
  while (reader.next(end)) {
    if (reader.field > 2) continue;
    const text = reader.strictText();
    if (text === undefined) return undefined;
    label[reader.field - 1] = text;
  }
  return reader.failed ? undefined : label;
}
