// Counters that an engine or the coordinator writes and the front renders: f64 slots, one writer each. A slot is an aligned 8-byte store,
// which the processors we run on never tear; a reader that did see a torn one would show it for one scrape.
// Also the fixed bucket bounds of every histogram, so that a histogram is a run of slots: one per bound, then +Inf, sum, count.

/** Names of engine slots, in order. */
export const ENGINE_COUNTERS = [
  "samples",
  "samplesDuplicate",
  "samplesLate",
  "samplesLateCounter",
  "samplesReplaced",
  "staleMarkers",
  "counterResets",
  "streams",
  "refs",
  "bodies",
  "bodyBytes",
  "decompressedBytes",
  "rowsPlaced",
  "logBytes",
  "logBlocks",
  "logErrors",
  "commitSecondsTotal",
  "commitMaxSeconds",
  "identityBytes",
  "laneTableEntries",
  "inboxFillMax",
  "coordinatorRingFill",
  "overflowFrames",
  "excursions",
  "openings",
  "closings",
  "chunks",
  "chunkBytes",
  "checkpoints",
  "wakeups",
  "busySeconds",
  "streamsRefused",
  "rowsUnbound",
  "rowsInvalid",
  "checkpointBytes",
  "rowsReplayed",
  "streamsCold",
  "streamsEvicted",
  "streamsReturned",
  "streamsForgotten",
  "rowsParked",
  "rowsDropped",
  "samplesHistory",
  "samplesImported",
  "spansCounted",
  "spansRepeated",
  "spansLate",
  "spansDropped",
  "spansUnnamed",
  "spansHeld",
  "spansForgotten",
  "callsJoined",
  "callsDropped",
  "logsCounted",
  "logsRepeated",
  "logsLate",
  "logsDropped",
  "logTemplates",
  "distributions",
  "distributionBytes",
  "distributionsLate",
  "distributionsRefused",
  "bucketFamilies",
  "bucketFamiliesRefused",
  "bucketsLate",
  "derivedRefused",
  "samplesUnobserved",
  "samplesPassedOver",
  "replicaTakeovers",
  "replicasUntracked",
  "metadataLearned",
  "metadataDropped",
  "kindChanges",
  "otlpMetricsRequests",
  "otlpMetricsItems",
  "otlpMetricsRejected",
  "otlpTracesRequests",
  "otlpTracesItems",
  "otlpTracesRejected",
  "otlpLogsRequests",
  "otlpLogsItems",
  "otlpLogsRejected",
] as const;

/** Names of coordinator slots, in order. */
export const COORDINATOR_COUNTERS = [
  "commits",
  "commitSecondsTotal",
  "commitMaxSeconds",
  "commitErrors",
  "frames",
  "anomaliesStored",
  "anomaliesOpen",
  "anomaliesDropped",
  "recordsStored",
  "recordsDropped",
  "deadLetters",
  "deadLettersDropped",
  "blocksStored",
  "blockBytes",
  "checkpointsStored",
  "seriesMapBytes",
  "seriesUsedBytes",
  "controlMapBytes",
  "controlUsedBytes",
  "seriesDiskBytes",
  "controlDiskBytes",
  "logKeptBytes",
  "logSegments",
  "diskFreeBytes",
  "diskLimitBytes",
  "rollupsStored",
  "rollupBytes",
  "rollupSamples",
  "anomaliesExpired",
  "episodesExpired",
  "deadLettersExpired",
  "recordsExpired",
  "blocksExpired",
  "rollupsExpired",
  "callsExpired",
  "callsFolded",
  "callsOverflow",
  "oldestSampleSeconds",
  "oldestRollupSeconds",
  "oldestRecordSeconds",
  "queries",
  "metadataStored",
  "storeReadOnly",
  "deadLetterBytes",
  "replayJobs",
  "lettersReplayed",
  "lettersNotReplayed",
  "replayBackOffs",
  "servicesMapped",
  "pillarValues",
  "pillarValuesRefused",
  "vectorizerTicks",
  "vectorizerFailures",
  "vectorizerSeconds",
  "vectorizerTickSeconds",
  "vectorizerStreams",
] as const;

export type EngineCounter = (typeof ENGINE_COUNTERS)[number];
export type CoordinatorCounter = (typeof COORDINATOR_COUNTERS)[number];

/** Upper bounds in seconds of the latency histograms. */
export const LATENCY_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Record types of the contract, in order; a counter per type and outcome follows the engine's plain counters. */
export const RECORD_TYPES = ["metric", "log", "trace", "event", "profile", "slo"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** Reasons for which one record or sample is refused. */
export const VALIDATION_REASONS = [
  "invalid_value",
  "timestamp_too_old",
  "missing_service_id",
  "missing_metric_name",
  "missing_value",
  "missing_body",
  "missing_timestamp",
  "invalid_timestamp",
  "timestamp_in_future",
  "invalid_type",
  "invalid_attributes",
  "field_too_long",
  "series_limit_exceeded",
  "invalid_record",
  "invalid_json",
  "invalid_protobuf",
  "batch_too_large",
  "payload_too_large",
] as const;
export type ValidationReason = (typeof VALIDATION_REASONS)[number];

/** Upper bounds of svc_ingestion_batch_size, records. */
export const BATCH_BOUNDS = [1, 10, 100, 500, 1000, 2000, 5000, 10000] as const;

/** Slots of one engine: counters, accepted by type, rejected by type, rejected by reason, batch histogram. */
export const SLOT_ACCEPTED = ENGINE_COUNTERS.length;
export const SLOT_REJECTED = SLOT_ACCEPTED + RECORD_TYPES.length;
export const SLOT_REASONS = SLOT_REJECTED + RECORD_TYPES.length;
export const SLOT_BATCH = SLOT_REASONS + VALIDATION_REASONS.length;
export const ENGINE_SLOTS = SLOT_BATCH + BATCH_BOUNDS.length + 3;

/** Slots of the coordinator: counters, detection latency histogram. */
export const SLOT_LATENCY = COORDINATOR_COUNTERS.length;
export const COORDINATOR_SLOTS = SLOT_LATENCY + LATENCY_BOUNDS_SECONDS.length + 3;
