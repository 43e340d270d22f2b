// The decoders of one engine, over what they share: one for each way in.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import type { MetadataBook } from "../../../domain/series/metadata-book.ts";
import { withReplicaLabels } from "../../../domain/series/replica-labels.ts";
import { DistributionIntake } from "../distributions/distribution-intake.ts";
import { HistoryDecoder } from "../history/history-decoder.ts";
import { ReplayDecoder } from "../history/replay-decoder.ts";
import { JsonDecoder } from "../json/json-decoder.ts";
import { LogIntake } from "../logs/log-intake.ts";
import { OtlpDecoder } from "../otlp/otlp-decoder.ts";
import type { DistributionTaker } from "../remote-write/histogram-intake.ts";
import { MetadataIntake } from "../remote-write/metadata-intake.ts";
import { RemoteWriteDecoder } from "../remote-write/remote-write-decoder.ts";
import { ReplicaSources } from "../remote-write/replica-sources.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import { SpanIntake } from "../spans/span-intake.ts";
import type { BodyDecoder } from "../unit/body-decoder.ts";
import { LabelIntake } from "../unit/label-intake.ts";
import { LevelIntake } from "../unit/level-intake.ts";
import { MetricDescriptions } from "../unit/metric-descriptions.ts";
import type { MetricScopes } from "../unit/metric-scopes.ts";
import { StreamDefiner } from "../unit/stream-definer.ts";

export interface BodyDecoderOptions {
  readonly engine: number;
  readonly engines: number;
  readonly seriesLimit: number;
  /** OTEL_TEMPORALITY_NORMALIZE. */
  readonly normalizeTemporality?: boolean;
  /** LOG_FIELD_EXCLUSIONS. */
  readonly fieldExclusions?: string;
  /** OTEL_SERVICE_NAMESPACE is prefix. */
  readonly prefixesServices?: boolean;
  /** REPLICA_LABELS. */
  readonly replicaLabels?: string;
}

export interface BodyDecoderDependencies {
  readonly memory: EngineMemory;
  readonly memories: readonly EngineMemory[];
  readonly processSlots: ProcessSlots;
  readonly kernel: IngestExports;
  readonly counters: EngineCounters;
  readonly metadata: MetadataBook;
  readonly scopes: MetricScopes;
  readonly wallMs: () => number;
  readonly tenantName: (index: number) => string;
  readonly tenantIndex: (name: string) => number;
  readonly requestId: (admission: number) => string;
}

/** Decoders of bodies that others may overtake: each has one body, and then the next. */
export type DecoderKind = "json" | "remoteWrite" | "otlp";

/** Dependencies of an ingest's decoders. */
export interface BodyDecoders {
  readonly exclusions: FieldExclusions;
  readonly replay: ReplayDecoder;
  readonly history: HistoryDecoder;
  readonly levels: LevelIntake;
  readonly labels: LabelIntake;
  readonly metadata: MetadataBook;
  readonly scopes: MetricScopes;
  readonly make: Readonly<Record<DecoderKind, () => BodyDecoder>>;
}

export function makeBodyDecoders(options: BodyDecoderOptions, dependencies: BodyDecoderDependencies): BodyDecoders {
  const { processSlots, tenantIndex, wallMs } = dependencies;
  const { normalizeTemporality: convertsCounters = true, fieldExclusions = "", prefixesServices = false } = options;
  const replicaLabels = withReplicaLabels(options.replicaLabels ?? "");
  const definer = new StreamDefiner({ ...options, convertsCounters }, dependencies);
  const exclusions = new FieldExclusions(fieldExclusions);
  const labels = new LabelIntake(exclusions);
  const decoder = { ...dependencies, definer, exclusions, labels };
  const logs = new LogIntake(exclusions);
  const makeJson = () => new JsonDecoder({ ...decoder, logs });
  const descriptions = new MetricDescriptions(dependencies.metadata, dependencies.counters);
  const intake = new MetadataIntake({ ...decoder, descriptions });
  const sources = new ReplicaSources(processSlots.replicas);
  const distributions = new DistributionIntake(definer);
  const takeDistribution: DistributionTaker = (tenant, point, unit) => {
    const problem = distributions.add(unit, { tenant: tenantIndex(tenant), tenantName: tenant, wallMs: wallMs() }, point);
    return problem === undefined ? undefined : { field: null, ...problem };
  };
  const spans = new SpanIntake(exclusions);
  return {
    exclusions,
    labels,
    replay: new ReplayDecoder({ ...decoder, json: makeJson() }),
    history: new HistoryDecoder({ ...decoder, replicaLabels }),
    levels: new LevelIntake(decoder),
    metadata: dependencies.metadata,
    scopes: dependencies.scopes,
    make: {
      json: makeJson,
      remoteWrite: () => new RemoteWriteDecoder({ ...decoder, takeDistribution, intake, sources, replicaLabels }),
      otlp: () => new OtlpDecoder({ convertsCounters, prefixesServices }, { ...decoder, logs, descriptions, spans }),
    },
  };
}
