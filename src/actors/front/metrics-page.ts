// `GET /metrics`: what the contract names (section 4.1 rule 3) and what an operator of the engine watches. Read from shared counters; nobody is asked.
import type { HistogramSample, MetricFamily, MetricSample } from "../../api/metrics-text.ts";
import {
  BATCH_BOUNDS,
  COORDINATOR_COUNTERS,
  COORDINATOR_SHARED_LIMITS,
  type CoordinatorCounter,
  ENGINE_COUNTERS,
  ENGINE_SHARED_LIMITS,
  type EngineCounter,
  LATENCY_BOUNDS_SECONDS,
  RECORD_TYPES,
  SLOT_ACCEPTED,
  SLOT_BATCH,
  SLOT_COORDINATOR_SHARES,
  SLOT_ENGINE_SHARES,
  SLOT_LATENCY,
  SLOT_REASONS,
  SLOT_REJECTED,
  VALIDATION_REASONS,
} from "../../core/layout/counters.ts";
import { OTLP_SIGNALS } from "../../core/protocol/otlp-kind.ts";
import type { RefusedBodies } from "./refused-bodies.ts";
import type { RequestHistogram } from "./request-histogram.ts";

/** What the page is made of. */
export interface MetricsSources {
  readonly engines: ReadonlyArray<Float64Array>;
  readonly coordinator: Float64Array;
  readonly requests: RequestHistogram;
  readonly refusedBodies: RefusedBodies;
  /** Gauges of the front and the process: name, help, value. */
  readonly gauges: ReadonlyArray<readonly [name: string, help: string, value: number]>;
  /** Counters of the front. */
  readonly counters: ReadonlyArray<readonly [name: string, help: string, value: number]>;
  /** Requests answered 429, by the plan of their tenant, or "key". */
  readonly limited: ReadonlyMap<string, number>;
  /** Places of limits that tenants share in the front which were refused. */
  readonly sharesRefused: ReadonlyArray<readonly [limit: string, refused: number]>;
  /** Fill of each engine's body ring and bodies waiting. */
  readonly ports: ReadonlyArray<{ readonly ringFill: number; readonly waiting: number }>;
}

const ENGINE_FAMILIES: ReadonlyArray<readonly [EngineCounter, "counter" | "gauge", string, string]> = [
  ["samples", "counter", "vedette_samples_total", "Samples scored"],
  ["samplesDuplicate", "counter", "vedette_samples_duplicate_total", "Samples that repeated one already held"],
  ["samplesLate", "counter", "vedette_samples_late_total", "Samples older than the newest of their stream: stored, not scored"],
  [
    "samplesLateCounter",
    "counter",
    "vedette_samples_late_cumulative_total",
    "Cumulative samples older than the newest: covered by the later delta",
  ],
  ["samplesHistory", "counter", "vedette_samples_history_total", "Samples of history stored behind the newest of their stream: not scored"],
  ["samplesImported", "counter", "vedette_samples_imported_total", "Samples that imports have brought"],
  ["samplesReplaced", "counter", "vedette_samples_replaced_total", "Samples that replaced the newest of their stream"],
  ["staleMarkers", "counter", "vedette_stale_markers_total", "Stale markers taken"],
  ["counterResets", "counter", "vedette_cumulative_resets_total", "Resets of cumulative counters"],
  [
    "samplesUnobserved",
    "counter",
    "vedette_samples_unobserved_total",
    "Remote-write samples of a summary's quantile that were a NaN: no observation, not stored",
  ],
  [
    "samplesPassedOver",
    "counter",
    "vedette_samples_replica_passed_over_total",
    "Remote-write samples of a replica while another replica's were taken",
  ],
  ["replicaTakeovers", "counter", "vedette_replica_takeovers_total", "Times a replica's samples were taken after another fell silent"],
  [
    "replicasUntracked",
    "counter",
    "vedette_replicas_untracked_total",
    "Times samples of a replica were taken for want of room to remember it",
  ],
  [
    "metadataLearned",
    "counter",
    "vedette_metric_metadata_learned_total",
    "Types, units and helps of metrics that were new or other than before",
  ],
  ["metadataDropped", "counter", "vedette_metric_metadata_dropped_total", "Metadata of metrics turned away for want of room"],
  [
    "kindChanges",
    "counter",
    "vedette_stream_kind_changes_total",
    "Streams that began anew because their sender said that they count, or do not",
  ],
  ["rowsUnbound", "counter", "vedette_rows_without_stream_total", "Rows of streams that this engine had no room for"],
  ["rowsInvalid", "counter", "vedette_rows_invalid_total", "Rows that were no finite value"],
  ["rowsPlaced", "counter", "vedette_rows_placed_total", "Rows handed to shards"],
  ["excursions", "counter", "vedette_excursions_total", "Samples over the threshold that were not declared"],
  ["openings", "counter", "vedette_episodes_opened_total", "Episodes opened"],
  ["closings", "counter", "vedette_episodes_closed_total", "Episodes closed"],
  ["streams", "gauge", "vedette_streams", "Streams in memory"],
  ["streamsCold", "gauge", "vedette_streams_evicted", "Streams in the store only, for want of samples"],
  ["streamsEvicted", "counter", "vedette_stream_evictions_total", "Streams that left memory"],
  ["streamsReturned", "counter", "vedette_stream_returns_total", "Streams that came back into memory"],
  ["streamsForgotten", "counter", "vedette_streams_forgotten_total", "Streams out of memory that were dropped with their last samples"],
  ["rowsParked", "gauge", "vedette_rows_parked", "Rows that wait for a stream on its way back into memory"],
  ["rowsDropped", "counter", "vedette_rows_dropped_total", "Rows of streams that could not come back into memory for want of room"],
  ["spansCounted", "counter", "vedette_spans_counted_total", "Spans counted into windows"],
  ["spansRepeated", "counter", "vedette_spans_repeated_total", "Spans that repeated one of a window"],
  ["spansLate", "counter", "vedette_spans_late_total", "Spans of windows that were closed before"],
  ["spansDropped", "counter", "vedette_spans_dropped_total", "Spans that found no room among services, operations and windows"],
  ["spansUnnamed", "counter", "vedette_spans_other_operation_total", "Spans counted as operation other: their service has too many names"],
  ["spansHeld", "gauge", "vedette_spans_held", "Spans held to join callers and callees"],
  ["spansForgotten", "counter", "vedette_spans_forgotten_total", "Spans that had to go before 5 minutes, for want of room"],
  ["callsJoined", "counter", "vedette_calls_joined_total", "Calls between services found in traces"],
  ["callsDropped", "counter", "vedette_calls_dropped_total", "Calls not counted because too many pairs of services call each other"],
  ["logsCounted", "counter", "vedette_logs_counted_total", "Logs counted into windows"],
  ["logsRepeated", "counter", "vedette_logs_repeated_total", "Logs that repeated one of a window"],
  ["logsLate", "counter", "vedette_logs_late_total", "Logs of windows that were closed before"],
  ["logsDropped", "counter", "vedette_logs_dropped_total", "Logs that found no room among services and windows"],
  ["logTemplates", "gauge", "vedette_log_templates", "Templates of logs held"],
  ["servicesMonitored", "gauge", "vedette_services_monitored", "Services, by environment, whose metrics are judged together"],
  ["serviceModelBytes", "gauge", "vedette_service_model_bytes", "Bytes of their models, states and plans"],
  ["distributions", "gauge", "vedette_distributions", "Series of histogram and summary points whose newest points are kept"],
  ["distributionBytes", "gauge", "vedette_distribution_bytes", "Bytes of the points that are kept of them"],
  [
    "distributionsLate",
    "counter",
    "vedette_distributions_late_total",
    "Cumulative histogram points that came too late to find their place",
  ],
  ["distributionsRefused", "counter", "vedette_distributions_refused_total", "Points of new histogram series for which there was no room"],
  ["bucketFamilies", "gauge", "vedette_bucket_families", "Families of classic histogram buckets that are evaluated together"],
  ["bucketFamiliesRefused", "counter", "vedette_bucket_families_refused_total", "Bucket streams for whose family there was no room"],
  ["bucketsLate", "counter", "vedette_buckets_late_total", "Bucket samples that came too late for their family"],
  [
    "derivedRefused",
    "counter",
    "vedette_derived_refused_total",
    "Derived values without a stream, because the tenant has as many as SERIES_LIMIT allows",
  ],
  ["streamsRefused", "counter", "vedette_streams_refused_total", "New streams turned away"],
  ["refs", "gauge", "vedette_stream_refs", "Stream refs bound since the start"],
  ["laneTableEntries", "gauge", "vedette_lane_table_entries", "Streams in the lane's look-up table"],
  [
    "laneTextBytes",
    "gauge",
    "vedette_lane_text_bytes",
    "Label bytes that remote-write series are compared with before they are hashed; at most 24 MiB",
  ],
  ["identityBytes", "gauge", "vedette_identity_bytes", "Bytes of stream identities"],
  ["bodies", "counter", "vedette_bodies_total", "Request bodies taken"],
  ["bodyBytes", "counter", "vedette_body_bytes_total", "Bytes of request bodies taken"],
  ["decompressedBytes", "counter", "vedette_decompressed_bytes_total", "Bytes after decompression"],
  ["logBytes", "counter", "vedette_log_bytes_total", "Bytes appended to the log"],
  ["logBlocks", "counter", "vedette_log_commits_total", "Blocks committed to the log"],
  ["logErrors", "counter", "vedette_log_errors_total", "Commits that the log refused"],
  ["commitSecondsTotal", "counter", "vedette_log_commit_seconds_total", "Time in log commits"],
  ["commitMaxSeconds", "gauge", "vedette_log_commit_max_seconds", "Longest log commit since the start"],
  ["inboxFillMax", "gauge", "vedette_inbox_fill_ratio", "Fill of the fullest ring to another engine"],
  ["coordinatorRingFill", "gauge", "vedette_coordinator_ring_fill_ratio", "Fill of the ring to the coordinator"],
  ["overflowFrames", "gauge", "vedette_coordinator_overflow_frames", "Frames waiting for room in the ring to the coordinator"],
  ["chunks", "counter", "vedette_chunks_total", "Chunks packed"],
  ["chunkBytes", "counter", "vedette_chunk_bytes_total", "Bytes of chunks packed"],
  ["checkpoints", "counter", "vedette_checkpoints_total", "Partition checkpoints taken"],
  ["checkpointBytes", "counter", "vedette_checkpoint_bytes_total", "Bytes of stream states in the checkpoints taken"],
  ["rowsReplayed", "gauge", "vedette_rows_replayed", "Rows of earlier logs that this start applied"],
  ["arrivalServices", "gauge", "vedette_arrival_services", "Services whose arrivals are watched, one for each environment"],
  ["saturationSeries", "gauge", "vedette_saturation_series", "Bounded series watched for running full"],
  ["watchdogPairs", "gauge", "vedette_watchdog_pairs", "Streams with a long baseline; at most WATCHDOG_PAIRS_MAX"],
  ["wakeups", "counter", "vedette_engine_wakeups_total", "Times a thread of engines woke"],
  ["busySeconds", "counter", "vedette_engine_busy_seconds_total", "Time engines were busy"],
];

const COORDINATOR_FAMILIES: ReadonlyArray<readonly [CoordinatorCounter, "counter" | "gauge", string, string]> = [
  ["deadLetters", "gauge", "svc_dlq_depth", "Dead letters held"],
  ["deadLetterBytes", "gauge", "vedette_dead_letter_bytes", "Bytes of dead letters held"],
  ["replayJobs", "gauge", "vedette_dead_letter_replays", "Replays of dead letters that are not done"],
  ["lettersReplayed", "counter", "vedette_dead_letters_replayed_total", "Dead letters whose records have entered after all"],
  ["lettersNotReplayed", "counter", "vedette_dead_letters_refused_again_total", "Dead letters that a replay refused again"],
  ["replayBackOffs", "counter", "vedette_dead_letter_replay_backoffs_total", "Times a replay waited because engines were behind"],
  ["servicesMapped", "gauge", "vedette_service_map_entries", "Services in the pillar maps of all tenants"],
  ["pillarValues", "gauge", "vedette_pillar_values", "Values of pillars that are kept"],
  ["pillarValuesRefused", "counter", "vedette_pillar_values_refused_total", "Places of services in pillar values beyond those that may be"],
  ["vectorizerTicks", "counter", "vedette_vectorizer_ticks_total", "Ticks of the vectorizer that came to their end"],
  ["vectorizerFailures", "counter", "vedette_vectorizer_failures_total", "Ticks that an engine or the store ended"],
  ["vectorizerSeconds", "counter", "vedette_vectorizer_work_seconds_total", "What all threads worked for the vectorizer"],
  ["vectorizerTickSeconds", "gauge", "vedette_vectorizer_tick_seconds", "From the beginning of the last tick to its end, rests included"],
  ["watchdogCycles", "counter", "vedette_watchdog_cycles_total", "Cycles of the Watchdog that came to their end"],
  ["watchdogFailures", "counter", "vedette_watchdog_failures_total", "Cycles that an engine or the store ended"],
  ["watchdogSeconds", "counter", "vedette_watchdog_work_seconds_total", "What all threads worked for the Watchdog"],
  ["watchdogCycleSeconds", "gauge", "vedette_watchdog_cycle_seconds", "From the beginning of the last cycle to its end, rests included"],
  ["servicesWaiting", "gauge", "vedette_watchdog_services_waiting", "Services that wait for their models to be looked for or trained"],
  ["modelsLoaded", "counter", "vedette_service_models_loaded_total", "Models of services that the store had"],
  ["modelsTrained", "counter", "vedette_service_models_trained_total", "Models of services that were trained"],
  ["trainingFailures", "counter", "vedette_service_training_failures_total", "Trainings that failed, and are tried again later"],
  [
    "trainingSeconds",
    "counter",
    "vedette_service_training_seconds_total",
    "From the beginning of trainings to their end, in a thread of its own",
  ],
  ["servicesStale", "gauge", "vedette_services_stale", "Services that are silent for longer than they ever are"],
  ["silences", "gauge", "vedette_silences", "Silences and maintenance windows, expired ones too"],
  ["inhibitions", "gauge", "vedette_inhibitions", "Inhibition rules that people have made"],
  ["sloWindows", "gauge", "vedette_slo_windows", "SLOs whose burn is watched"],
  ["sloWindowsRefused", "counter", "vedette_slo_records_unwatched_total", "SLO records beyond the SLOs that may be watched"],
  ["cascadesOpen", "gauge", "vedette_cascades_open", "Cascades that are not over"],
  ["saturationFiresOpen", "gauge", "vedette_saturation_fires_open", "Findings of saturation that are not over"],
  ["saturationFolds", "counter", "vedette_saturation_folds_total", "Bounded series whose stored past was read"],
  ["vectorizerStreams", "gauge", "vedette_vectorizer_streams", "Streams that the last tick looked at"],
  ["commits", "counter", "vedette_store_commits_total", "Transactions committed to the store"],
  ["commitSecondsTotal", "counter", "vedette_store_commit_seconds_total", "Time in store commits"],
  ["commitMaxSeconds", "gauge", "vedette_store_commit_max_seconds", "Longest store commit since the start"],
  ["commitErrors", "counter", "vedette_store_commit_errors_total", "Store commits that failed and were repeated"],
  ["frames", "counter", "vedette_coordinator_frames_total", "Frames taken from engines"],
  ["anomaliesStored", "counter", "vedette_anomalies_stored_total", "Anomalies stored"],
  ["anomaliesOpen", "gauge", "vedette_anomalies_open", "Anomalies not resolved"],
  ["anomaliesDropped", "counter", "vedette_anomalies_dropped_total", "Anomalies dropped by number"],
  ["alertsFiring", "gauge", "vedette_alerts_firing", "Alerts that fire"],
  ["alertsOpened", "counter", "vedette_alerts_opened_total", "Alerts opened"],
  ["alertsDropped", "counter", "vedette_alerts_dropped_total", "Alerts dropped by number"],
  ["alertsExpired", "counter", "vedette_alerts_expired_total", "Alerts deleted by retention"],
  ["pagesDecided", "counter", "vedette_pages_total", "Decisions that people are told"],
  ["pagesHeldBack", "counter", "vedette_pages_held_back_total", "Decisions by which a gate held a finding back"],
  ["rcaTriggered", "counter", "vedette_rca_triggered_total", "Anomalies that triggered root-cause analysis"],
  ["rcaJoined", "counter", "vedette_rca_joined_total", "Of them, anomalies that joined an incident under way"],
  ["rcaRefused", "counter", "vedette_rca_refused_total", "Of them, anomalies for which there was no room"],
  ["rcaIncidents", "gauge", "vedette_rca_incidents", "Incidents that are looked at"],
  ["rcaRevisions", "counter", "vedette_rca_revisions_total", "Revisions of reports stored"],
  ["rcaNotEnough", "counter", "vedette_rca_not_enough_total", "Of them, revisions without enough evidence for a cause"],
  ["rcaFailures", "counter", "vedette_rca_failures_total", "Looks at incidents that an engine or the store did not answer"],
  ["rcaSeconds", "counter", "vedette_rca_seconds_total", "Time that looks at incidents took, waiting included"],
  ["rcaReports", "gauge", "vedette_rca_reports", "Reports stored"],
  ["rcaReportsExpired", "counter", "vedette_rca_reports_expired_total", "Reports deleted by age or number"],
  ["ledgerRows", "gauge", "vedette_ledger_rows", "Rows of the ledger of decisions"],
  ["ledgerRowsDropped", "counter", "vedette_ledger_rows_dropped_total", "Rows of the ledger deleted by age or number"],
  ["recordsStored", "counter", "vedette_records_stored_total", "Records stored"],
  ["recordsDropped", "counter", "vedette_records_dropped_total", "Records dropped by age"],
  ["blocksStored", "counter", "vedette_blocks_stored_total", "Chunk blocks stored"],
  ["blockBytes", "counter", "vedette_block_bytes_total", "Bytes of chunk blocks stored"],
  ["checkpointsStored", "counter", "vedette_checkpoints_stored_total", "Checkpoints stored"],
  ["rollupsStored", "counter", "vedette_rollups_stored_total", "Roll-up blocks stored"],
  ["rollupBytes", "counter", "vedette_rollup_bytes_total", "Bytes of roll-up blocks stored"],
  ["rollupSamples", "counter", "vedette_rollup_samples_total", "Samples rolled up into hours"],
  ["logKeptBytes", "gauge", "vedette_log_kept_bytes", "Bytes of log segments kept until checkpoints cover them"],
  ["logSegments", "gauge", "vedette_log_segments", "Log segments kept"],
  ["diskFreeBytes", "gauge", "vedette_disk_free_bytes", "Bytes free on the file system of the data folder"],
  [
    "diskLimitBytes",
    "gauge",
    "vedette_disk_limit_bytes",
    "DISK_LIMIT_GIB in bytes, 0 for none: used bytes of the stores and the log kept are held against it",
  ],
  ["oldestSampleSeconds", "gauge", "vedette_oldest_sample_timestamp_seconds", "Time of the oldest sample in a stored block, 0 for none"],
  ["oldestRollupSeconds", "gauge", "vedette_oldest_rollup_timestamp_seconds", "Time of the oldest hour rolled up, 0 for none"],
  ["oldestRecordSeconds", "gauge", "vedette_oldest_record_timestamp_seconds", "Time of the oldest record, 0 for none"],
  ["callsFolded", "counter", "vedette_calls_folded_total", "Sums of calls merged into their minutes"],
  ["callsOverflow", "counter", "vedette_calls_overflow_total", "Calls of minutes that hold as many pairs of services as they may"],
  ["queries", "counter", "vedette_queries_total", "Queries answered"],
  ["auditRows", "gauge", "vedette_audit_rows", "Rows of the audit log"],
  [
    "auditRowsDropped",
    "counter",
    "vedette_audit_rows_dropped_total",
    "Rows of the audit log that went before their time, for want of room",
  ],
  ["serviceLabels", "gauge", "vedette_service_labels", "Labels of services, one for each key and source"],
  ["labelsRefused", "counter", "vedette_service_labels_refused_total", "Labels of telemetry without room, or changed too often"],
  ["saturationLimits", "gauge", "vedette_saturation_limits", "Declared saturation limits"],
  ["watchdogPlaces", "gauge", "vedette_watchdog_overrides", "Tenants, services and metrics with settings of their own"],
  ["metadataStored", "gauge", "vedette_metric_metadata", "Metrics whose type, unit and help are stored"],
  [
    "dataFaults",
    "gauge",
    "vedette_data_faults",
    "Faults of the data folder that no operator has acknowledged: something that was stored cannot be read",
  ],
  ["storesUnchecked", "gauge", "vedette_stores_unchecked", "1 while a large store is still being looked through for damage"],
  [
    "storeReadOnly",
    "gauge",
    "vedette_store_read_only",
    "1 while writes are refused: the store cannot be written, or DISK_LIMIT_GIB is passed",
  ],
];

/** Dead letters that went, by the bound. */
const LETTERS_LOST: ReadonlyArray<readonly [bound: string, counter: CoordinatorCounter]> = [
  ["size", "deadLettersDropped"],
  ["age", "deadLettersExpired"],
];

/** What retention deletes, by the value of the label `what`. */
const EXPIRED: ReadonlyArray<readonly [what: string, counter: CoordinatorCounter]> = [
  ["anomalies", "anomaliesExpired"],
  ["episodes", "episodesExpired"],
  ["dead_letters", "deadLettersExpired"],
  ["records", "recordsExpired"],
  ["sample_blocks", "blocksExpired"],
  ["rollup_blocks", "rollupsExpired"],
  ["call_minutes", "callsExpired"],
  ["audit_rows", "auditRowsExpired"],
];

/** Sizes of a store: map, entries, file. */
const STORE_SIZES = [
  ["MapBytes", "vedette_store_map_bytes", "Address space mapped for a store; grows by itself"],
  ["UsedBytes", "vedette_store_used_bytes", "Bytes of pages that hold entries of a store"],
  ["DiskBytes", "vedette_store_disk_bytes", "Bytes that a store's file takes on disk: it does not shrink, free pages are used again"],
] as const;

function storeFamilies({ coordinator }: MetricsSources): MetricFamily[] {
  const slot = (counter: CoordinatorCounter) => coordinator[COORDINATOR_COUNTERS.indexOf(counter)] as number;
  const stores = ["series", "control"] as const;
  const sizes = STORE_SIZES.map(([size, name, help]): MetricFamily => {
    return { name, help, type: "gauge", samples: stores.map((store) => ({ labels: { store }, value: slot(`${store}${size}`) })) };
  });
  const fills = stores
    .filter((store) => slot(`${store}MapBytes`) > 0)
    .map((store): MetricSample => ({ labels: { store }, value: slot(`${store}UsedBytes`) / slot(`${store}MapBytes`) }));
  return [
    ...sizes,
    { name: "vedette_store_map_fill_ratio", help: "Used share of a store's map", type: "gauge", samples: fills },
    {
      name: "vedette_dead_letters_dropped_total",
      help: "Dead letters dropped: because of their age, or before it because of the bytes of all",
      type: "counter",
      samples: LETTERS_LOST.map(([bound, counter]) => ({ labels: { bound }, value: slot(counter) })),
    },
    {
      name: "vedette_retention_deleted_total",
      help: "What retention deleted because of its age, or of its number for episodes",
      type: "counter",
      samples: EXPIRED.map(([what, counter]) => ({ labels: { what }, value: slot(counter) })),
    },
  ];
}

/** Of each signal: requests, items in them, items of them that were refused. */
const OTLP_FAMILIES = [
  [
    "vedette_otlp_requests_total",
    "OTLP requests decoded, or refused by the decoder",
    ["otlpMetricsRequests", "otlpTracesRequests", "otlpLogsRequests"],
  ],
  [
    "vedette_otlp_items_total",
    "Data points, spans and log records in OTLP requests",
    ["otlpMetricsItems", "otlpTracesItems", "otlpLogsItems"],
  ],
  [
    "vedette_otlp_rejected_items_total",
    "Those of them that were refused",
    ["otlpMetricsRejected", "otlpTracesRejected", "otlpLogsRejected"],
  ],
] as const satisfies ReadonlyArray<readonly [string, string, readonly [EngineCounter, EngineCounter, EngineCounter]]>;

function otlpFamilies({ engines }: MetricsSources): MetricFamily[] {
  return OTLP_FAMILIES.map(([name, help, counters]): MetricFamily => {
    const samples = OTLP_SIGNALS.map((signal, place): MetricSample => {
      return { labels: { signal }, value: sumOf(engines, ENGINE_COUNTERS.indexOf(counters[place] as EngineCounter)) };
    });
    return { name, help, type: "counter", samples };
  });
}

function engineFamily(sources: MetricsSources, [counter, type, name, help]: (typeof ENGINE_FAMILIES)[number]): MetricFamily {
  const place = ENGINE_COUNTERS.indexOf(counter);
  const samples = sources.engines.map(
    (slots, engine): MetricSample => ({ labels: { engine: String(engine) }, value: slots[place] as number }),
  );
  return { name, help, type, samples };
}

function sumOf(engines: MetricsSources["engines"], slot: number): number {
  return engines.reduce((sum, slots) => sum + (slots[slot] as number), 0);
}

function ingestionFamilies({ engines, refusedBodies }: MetricsSources): MetricFamily[] {
  const events = RECORD_TYPES.flatMap((type, place): MetricSample[] => [
    { labels: { type, status: "accepted" }, value: sumOf(engines, SLOT_ACCEPTED + place) },
    { labels: { type, status: "rejected" }, value: sumOf(engines, SLOT_REJECTED + place) },
  ]);
  const reasons = VALIDATION_REASONS.map((reason, place): MetricSample => {
    return { labels: { reason }, value: sumOf(engines, SLOT_REASONS + place) + refusedBodies.of(reason) };
  });
  const buckets = BATCH_BOUNDS.length + 1;
  const batch: HistogramSample = {
    bounds: BATCH_BOUNDS,
    counts: Array.from({ length: buckets }, (_, bucket) => sumOf(engines, SLOT_BATCH + bucket)),
    sum: sumOf(engines, SLOT_BATCH + buckets),
  };
  return [
    { name: "svc_ingestion_events_total", help: "Telemetry records by type and outcome", type: "counter", samples: events },
    { name: "svc_ingestion_batch_size", help: "Records per request", type: "histogram", samples: [batch] },
    {
      name: "svc_validation_failures_total",
      help: "Records refused, and bodies refused as a whole, by reason",
      type: "counter",
      samples: reasons,
    },
  ];
}

function histogramFrom(slots: Float64Array, start: number, labels?: Record<string, string>): HistogramSample {
  const buckets = LATENCY_BOUNDS_SECONDS.length + 1;
  const counts = slots.subarray(start, start + buckets);
  return { bounds: LATENCY_BOUNDS_SECONDS, counts, sum: slots[start + buckets] as number, ...(labels === undefined ? {} : { labels }) };
}

/** By limit: those of all engines, of the coordinator, and of the front. */
function refusedPlaces({ engines, coordinator, sharesRefused }: MetricsSources): Array<readonly [limit: string, refused: number]> {
  return [
    ...ENGINE_SHARED_LIMITS.map((limit, place) => [limit, sumOf(engines, SLOT_ENGINE_SHARES + place)] as const),
    ...COORDINATOR_SHARED_LIMITS.map((limit, place) => [limit, coordinator[SLOT_COORDINATOR_SHARES + place] as number] as const),
    ...sharesRefused,
  ];
}

/** All families, in the order of the page. */
export function metricFamilies(sources: MetricsSources): MetricFamily[] {
  const requests = [...sources.requests.entries()].map(([endpoint, slots]) => histogramFrom(slots, 0, { endpoint }));
  const port = (value: (one: MetricsSources["ports"][number]) => number) =>
    sources.ports.map((one, engine): MetricSample => ({ labels: { engine: String(engine) }, value: value(one) }));
  return [
    ...ingestionFamilies(sources),
    ...otlpFamilies(sources),
    { name: "svc_http_request_duration_seconds", help: "Requests from headers read to answer given", type: "histogram", samples: requests },
    {
      name: "svc_detection_latency_seconds",
      help: "From the arrival of the bytes to the stored anomaly",
      type: "histogram",
      samples: [histogramFrom(sources.coordinator, SLOT_LATENCY)],
    },
    ...ENGINE_FAMILIES.map((family) => engineFamily(sources, family)),
    { name: "vedette_body_ring_fill_ratio", help: "Fill of an engine's body ring", type: "gauge", samples: port((one) => one.ringFill) },
    { name: "vedette_bodies_waiting", help: "Bodies waiting for their answer", type: "gauge", samples: port((one) => one.waiting) },
    ...COORDINATOR_FAMILIES.map(([counter, type, name, help]): MetricFamily => {
      return { name, help, type, samples: [{ value: sources.coordinator[COORDINATOR_COUNTERS.indexOf(counter)] as number }] };
    }),
    ...storeFamilies(sources),
    ...sources.gauges.map(([name, help, value]): MetricFamily => ({ name, help, type: "gauge", samples: [{ value }] })),
    {
      name: "vedette_rate_limited_total",
      help: "Requests answered 429, by the plan that allows no more, or key: the rate of their API key",
      type: "counter",
      samples: [...sources.limited].map(([by, value]): MetricSample => ({ labels: { by }, value })),
    },
    {
      name: "vedette_shared_places_refused_total",
      help: "Places of a limit that all tenants share that a tenant was refused, each as often as it was asked for",
      type: "counter",
      samples: refusedPlaces(sources).map(([limit, value]): MetricSample => ({ labels: { limit }, value })),
    },
    ...sources.counters.map(([name, help, value]): MetricFamily => ({ name, help, type: "counter", samples: [{ value }] })),
  ];
}
