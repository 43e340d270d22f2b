// What a coordinator is configured with, and the world around it.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import type { TrainingResult } from "../../domain/detection/multivariate/service-training.ts";
import type { TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import type { Computation, ComputationResult } from "../../domain/prediction/computation.ts";
import type { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import type { BackupRunner, EndedBackup } from "../../modules/backup/backup-runner.ts";
import type { EngineLink } from "../../modules/engines/engine-link.ts";
import type { NotificationOptions } from "../../modules/notification/routes.ts";
import type { DetectionOptions } from "../../modules/queries/query-context.ts";
import type { CoordinatorSharesOptions } from "../../modules/state/coordinator-shares.ts";
import type { LogFloor } from "../../modules/state/log-coverage.ts";
import type { DataFaultsDependencies } from "../../modules/status/data-faults.ts";
import type { DiskMeasure } from "../../modules/status/disk-usage.ts";
import type { ControlCommitterDependencies } from "./commits/control-committer.ts";

/** Settings, and bounds that a test may narrow. */
export interface CoordinatorOptions extends DetectionOptions {
  readonly version: string;
  /** WATCHDOG_Z_SCORE_THRESHOLD, WATCHDOG_MIN_SAMPLES and WATCHDOG_WINDOW. */
  readonly zThreshold: number;
  readonly samplesMin: number;
  /** WATCHDOG_CONFIRMATION; on where it is not given. */
  readonly confirmation?: boolean;
  /** WATCHDOG_RCA_COOLDOWN_MINUTES and ALERT_DEDUP_MAX_AGE_MINUTES; the contract's defaults where they are not given. */
  readonly rcaCooldownMinutes?: number;
  readonly dedupMaxAgeMinutes?: number;
  readonly window: number;
  /** LOG_FIELD_EXCLUSIONS; none where they are not given. */
  readonly exclusions?: FieldExclusions;
  /** RETENTION_DAYS and RETENTION_RAW_DAYS in ms. */
  readonly retentionMs: number;
  readonly rawRetentionMs: number;
  /** AUDIT_RETENTION_DAYS in ms; a year where it is not given. */
  readonly auditRetentionMs?: number;
  readonly auditRowsMax?: number;
  /** DISK_LIMIT_GIB in bytes; none where it is not given. */
  readonly diskLimitBytes?: number;
  /** VECTORIZER_INTERVAL_SECONDS in ms; no pillar is scored where it is not given. */
  readonly vectorizerIntervalMs?: number;
  /** No cycle of the Watchdog runs where it is not given. */
  readonly watchdogIntervalMs?: number;
  /** WATCHDOG_WARMUP_MINUTES; as it is by default where it is not given. */
  readonly warmUpMinutes?: number;
  /** GROUP_WAIT_SECONDS and REPEAT_MINUTES in ms; nothing waits or repeats where they are not given. */
  readonly groupWaitMs?: number;
  readonly repeatMs?: number;
  /** REPLICA_LABELS: further labels that tell the servers of a pair apart. */
  readonly replicaLabels?: string;
  readonly anomaliesMax?: number;
  readonly alertsMax?: number;
  readonly episodesMax?: number;
  readonly deadLetterBytesMax?: number;
  readonly sharedLimits?: CoordinatorSharesOptions["sharedLimits"];
  /** Notifiers without their secrets; nobody is informed where it is not given. */
  readonly notification?: NotificationOptions;
  /** DRILL_INTERVAL_HOURS in ms; no drill runs by itself where it is not given. */
  readonly drillIntervalMs?: number;
  /** Time for which frames for `series` may gather; not at all where it is not given. */
  readonly seriesGatherMs?: number;
  /** Whether main words summaries (LLM_BASE_URL); by rule where it is not given. */
  readonly phrasesSummaries?: boolean;
  /** Whether INGEST_AUTH asks senders for a credential; not where it is not given. */
  readonly requiresSenders?: boolean;
  /** RUNBOOK_FOUR_EYES; true where it is not given. */
  readonly runbookFourEyes?: boolean;
  /** RULES_TENANT; `default` where it is not given. */
  readonly rulesTenant?: string;
}

/** The world around the coordinator. */
export interface CoordinatorDependencies
  extends Pick<ControlCommitterDependencies & DataFaultsDependencies, "hasSubscribers" | "faultKeeper" | "setAsideKeeper"> {
  readonly controlStore: KeyValueStore;
  readonly seriesStore: KeyValueStore;
  readonly engines: readonly EngineLink[];
  /** Begins with one slot per name of COORDINATOR_COUNTERS. */
  readonly counters: Float64Array;
  nowMs(): number;
  monotonicMs(): number;
  emit(message: CoordinatorMessage): void;
  observeLatencySeconds(seconds: number): void;
  /** Makes backups of the folder; none where it is not given. */
  makeBackups?(ended: (backup: EndedBackup) => void): BackupRunner;
  deleteLogSegments(floor: LogFloor): void | Promise<void>;
  measureDisk(): DiskMeasure;
  randomBytes(count: number): Uint8Array;
  /** Resolves after a turn of the event loop. */
  yieldToLoop(): Promise<void>;
  /** Resolves after so many milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Has whoever steps do so: an edit was a step of its own, and it leaves more. */
  wake?(): void;
  /** Trains a service's model in another thread; where it is not given none is trained. */
  train?(input: TrainingInput): Promise<TrainingResult>;
  /** Computes forecasts and causes in another thread; where it is not given, in this one. */
  compute?(computation: Computation): Promise<ComputationResult>;
  /** Why a URL of a tenant may not be asked for; where it is not given names are not resolved. */
  forbiddenTarget?(url: string): Promise<string | null>;
}
