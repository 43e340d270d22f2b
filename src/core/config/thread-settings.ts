// What threads are given of the configuration: slices under the names of load-config.ts, without secrets, and their units and names in the code, made once.
import { DAY_MS, HOUR_MS } from "../time/durations.ts";
import { GIB } from "./byte-units.ts";
import type { Config } from "./load-config.ts";

const DETECTION_SETTINGS = [
  "WATCHDOG_Z_SCORE_THRESHOLD",
  "WATCHDOG_MIN_SAMPLES",
  "WATCHDOG_CONFIRMATION",
  "WATCHDOG_WINDOW",
  "WATCHDOG_INTERVAL_SECONDS",
  "DETECTION_TIMEZONE",
  "RETENTION_DAYS",
  "LOG_FIELD_EXCLUSIONS",
] as const satisfies readonly (keyof Config)[];

const ENGINE_SETTINGS = [
  ...DETECTION_SETTINGS,
  "SERIES_LIMIT",
  "OTEL_TEMPORALITY_NORMALIZE",
  "OTEL_SERVICE_NAMESPACE",
  "REPLICA_LABELS",
  "WATCHDOG_PAIRS_MAX",
  "WATCHDOG_SERVICES_MAX",
  "STREAM_IDLE_HOURS",
] as const satisfies readonly (keyof Config)[];

const COORDINATOR_SETTINGS = [
  ...DETECTION_SETTINGS,
  "WATCHDOG_RCA_COOLDOWN_MINUTES",
  "ALERT_DEDUP_MAX_AGE_MINUTES",
  "GROUP_WAIT_SECONDS",
  "REPLICA_LABELS",
  "REPEAT_MINUTES",
  "WATCHDOG_WARMUP_MINUTES",
  "RETENTION_RAW_DAYS",
  "AUDIT_RETENTION_DAYS",
  "DISK_LIMIT_GIB",
  "STORE_CHECK_WAIT_GIB",
  "BACKUP_DIR",
  "BACKUP_KEEP",
  "BACKUP_MIB_PER_SECOND",
  "BACKUP_LOG_GIB",
  "VECTORIZER_INTERVAL_SECONDS",
  "SATURATION_DETECTOR_ENABLED",
  "ML_DEGRADATION_SLOPE_THRESHOLD",
  "RUNBOOK_FOUR_EYES",
  "WEBHOOK_ALLOW_PRIVATE",
  "DRILL_INTERVAL_HOURS",
  "INGEST_AUTH",
  "RULES_TENANT",
] as const satisfies readonly (keyof Config)[];

type DetectionSlice = Pick<Config, (typeof DETECTION_SETTINGS)[number]>;
export type EngineSlice = Pick<Config, (typeof ENGINE_SETTINGS)[number]>;
export type CoordinatorSlice = Pick<Config, (typeof COORDINATOR_SETTINGS)[number]>;

function sliceOf<Name extends keyof Config>(config: Config, names: readonly Name[]): Pick<Config, Name> {
  return Object.fromEntries(names.map((name) => [name, config[name]])) as Pick<Config, Name>;
}

export function engineSlice(config: Config): EngineSlice {
  return sliceOf(config, ENGINE_SETTINGS);
}

export function coordinatorSlice(config: Config): CoordinatorSlice {
  return sliceOf(config, COORDINATOR_SETTINGS);
}

/** Detection settings of engines and coordinator. Times are milliseconds. */
function detectionSettings(slice: DetectionSlice) {
  return {
    zThreshold: slice.WATCHDOG_Z_SCORE_THRESHOLD,
    samplesMin: slice.WATCHDOG_MIN_SAMPLES,
    confirmation: slice.WATCHDOG_CONFIRMATION === "on",
    window: slice.WATCHDOG_WINDOW,
    watchdogIntervalMs: slice.WATCHDOG_INTERVAL_SECONDS * 1000,
    timeZone: slice.DETECTION_TIMEZONE,
    retentionMs: slice.RETENTION_DAYS * DAY_MS,
    fieldExclusions: slice.LOG_FIELD_EXCLUSIONS,
  };
}

/** An engine's options of the configuration. */
export function engineSettings(slice: EngineSlice) {
  return {
    ...detectionSettings(slice),
    seriesLimit: slice.SERIES_LIMIT,
    prefixesServices: slice.OTEL_SERVICE_NAMESPACE === "prefix",
    replicaLabels: slice.REPLICA_LABELS,
    normalizeTemporality: slice.OTEL_TEMPORALITY_NORMALIZE === "true",
    pairsMax: slice.WATCHDOG_PAIRS_MAX,
    servicesMax: slice.WATCHDOG_SERVICES_MAX,
    idleMs: slice.STREAM_IDLE_HOURS * HOUR_MS,
  };
}

/** The coordinator's options of the configuration. Sizes are bytes. */
export function coordinatorSettings(slice: CoordinatorSlice) {
  return {
    ...detectionSettings(slice),
    rcaCooldownMinutes: slice.WATCHDOG_RCA_COOLDOWN_MINUTES,
    dedupMaxAgeMinutes: slice.ALERT_DEDUP_MAX_AGE_MINUTES,
    warmUpMinutes: slice.WATCHDOG_WARMUP_MINUTES,
    groupWaitMs: slice.GROUP_WAIT_SECONDS * 1000,
    replicaLabels: slice.REPLICA_LABELS,
    repeatMs: slice.REPEAT_MINUTES * 60_000,
    rawRetentionMs: slice.RETENTION_RAW_DAYS * DAY_MS,
    auditRetentionMs: slice.AUDIT_RETENTION_DAYS * DAY_MS,
    vectorizerIntervalMs: slice.VECTORIZER_INTERVAL_SECONDS * 1000,
    saturationEnabled: slice.SATURATION_DETECTOR_ENABLED === "true",
    degradationSlope: slice.ML_DEGRADATION_SLOPE_THRESHOLD,
    runbookFourEyes: slice.RUNBOOK_FOUR_EYES === "true",
    drillIntervalMs: slice.DRILL_INTERVAL_HOURS * HOUR_MS,
    requiresSenders: slice.INGEST_AUTH === "required",
    rulesTenant: slice.RULES_TENANT,
    ...(slice.DISK_LIMIT_GIB > 0 && { diskLimitBytes: slice.DISK_LIMIT_GIB * GIB }),
  };
}

/** Bounds and number of query workers, of the configuration. Sizes are bytes. */
export function querySettings(config: Config, engines: number) {
  return {
    dataDir: config.DATA_DIR,
    engines,
    samplesMax: config.PROMQL_MAX_SAMPLES,
    timeoutMs: config.PROMQL_TIMEOUT_SECONDS * 1_000,
    memoryBytesMax: config.PROMQL_MEMORY_MIB * 2 ** 20,
    workers: config.PROMQL_WORKERS,
  };
}

/** Settings of the data folder that the coordinator's thread uses, beside what the coordinator is made with. Sizes are bytes. */
export function folderSettings(slice: CoordinatorSlice) {
  return {
    storeCheckWaitBytes: slice.STORE_CHECK_WAIT_GIB * GIB,
    archiveBytesMax: slice.BACKUP_LOG_GIB * GIB,
    backup: { directory: slice.BACKUP_DIR, keep: slice.BACKUP_KEEP, mibPerSecond: slice.BACKUP_MIB_PER_SECOND },
    allowsPrivate: slice.WEBHOOK_ALLOW_PRIVATE === "true",
  };
}
