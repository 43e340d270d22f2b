// What an engine is made with, and the world around it.
import type { LogWriter } from "../../adapters/log/log-writer.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import type { EngineMemory, ProcessSlots } from "../../adapters/shared-memory/engine-memory.ts";
import type { EngineSharedLimit } from "../../core/layout/counters.ts";
import type { LogMark, MetricMetadataEnvelope, MetricScopeEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { CrashNote } from "../../core/protocol/crash-note.ts";
import type { LogFlaw } from "../../core/protocol/data-fault.ts";
import type {
  EngineCommand,
  EngineReply,
  EngineReport,
  EngineRequest,
  SettingsUpdate,
  StoredCheckpoint,
} from "../../core/protocol/engine-control.ts";
import type { IngestExports } from "../../domain/kernel/ingest-kernel.ts";
import type { ShardExports } from "../../domain/kernel/shard-kernel.ts";
import type { ReplayBlock } from "./recovery/recovery.ts";

/** Settings, what is stored, and bounds that a test may narrow. */
export interface EngineOptions {
  readonly engine: number;
  readonly engines: number;
  readonly epoch: number;
  readonly seriesLimit: number;
  /** Whether cumulative histograms and counters of every way in become deltas (OTEL_TEMPORALITY_NORMALIZE); default: they do. */
  readonly normalizeTemporality?: boolean;
  readonly zThreshold: number;
  readonly rcaCooldownMinutes?: number;
  readonly dedupMaxAgeMinutes?: number;
  readonly samplesMin: number;
  /** WATCHDOG_CONFIRMATION; on where it is not given. */
  readonly confirmation?: boolean;
  readonly window: number;
  readonly tenants: readonly string[];
  /** Seeds of the ingest table, then of identities. */
  readonly seeds: readonly [bigint, bigint, bigint, bigint];
  readonly checkpoints: readonly StoredCheckpoint[];
  /** STREAM_IDLE_HOURS and RETENTION_DAYS in ms. */
  readonly idleMs: number;
  readonly retentionMs: number;
  /** WATCHDOG_SERVICES_MAX and WATCHDOG_INTERVAL_SECONDS in ms; by default no services are judged. */
  readonly servicesMax?: number;
  readonly watchdogIntervalMs?: number;
  readonly logMarks: readonly LogMark[];
  /** What threads have thrown over, and is left out of the logs; nothing where it is not given. */
  readonly leaveOut?: readonly CrashNote[];
  /** OTEL_SERVICE_NAMESPACE is prefix: services of OTLP are named with their namespace. */
  readonly prefixesServices?: boolean;
  /** REPLICA_LABELS: further labels that tell replicas apart. */
  readonly replicaLabels?: string;
  /** LOG_FIELD_EXCLUSIONS. */
  readonly fieldExclusions?: string;
  /** DETECTION_TIMEZONE and WATCHDOG_PAIRS_MAX; UTC and the default where they are not given. */
  readonly timeZone?: string;
  readonly pairsMax?: number;
  /** Places of limits that tenants share, which a test may narrow. */
  readonly sharedLimits?: Partial<Readonly<Record<EngineSharedLimit, number>>>;
  /** Stored types, units and helps. */
  readonly metadata?: readonly MetricMetadataEnvelope[];
  /** Stored first scopes of metrics. */
  readonly metricScopes?: readonly MetricScopeEnvelope[];
  /** Stored settings of the Watchdog. */
  readonly watchdogSettings?: SettingsUpdate;
  /** BLOCK_BYTES, CHECKPOINT_CYCLE_LOG_BYTES, CHECKPOINT_LOG_SHARE and CHECKPOINT_PART_BYTES, which a test may narrow. */
  readonly blockBytes?: number;
  readonly checkpointLogShare?: number;
  readonly checkpointPartBytes?: number;
  readonly checkpointCycleBytes?: number;
}

/** The world around an engine. */
export interface EngineDependencies {
  readonly memories: readonly EngineMemory[];
  readonly kernel: IngestExports & ShardExports;
  readonly processSlots: ProcessSlots;
  readonly log: LogWriter;
  /** The blocks of all earlier epochs in order of admission. */
  readonly replay: Iterator<ReplayBlock, readonly LogFlaw[]>;
  readonly clock: Clock;
  readonly report: (report: EngineReport) => void;
  /** Tells the coordinator that its ring has frames. */
  readonly ringCoordinator: () => void;
  readonly takeCommand: () => EngineCommand | undefined;
  readonly takeRequest: () => EngineRequest | undefined;
  /** To the coordinator. */
  readonly reply: (reply: EngineReply, moved?: readonly ArrayBuffer[]) => void;
}
