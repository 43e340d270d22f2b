// The decoders of one lane, and the sinks that they share.
import type { EngineMemory, ProcessWords } from "../../adapters/runtime/engine-memory.ts";
import type { LaneExports } from "../../domain/kernel/lane-kernel.ts";
import type { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import { DistributionSink } from "./distributions/distribution-sink.ts";
import type { EngineCounters } from "./engine-counters.ts";
import { HistoryDecoder } from "./history/history-decoder.ts";
import { ReplayDecoder } from "./history/replay-decoder.ts";
import { JsonDecoder } from "./json-decoder.ts";
import { LogSink } from "./logs/log-sink.ts";
import { OtlpDecoder } from "./otlp/otlp-decoder.ts";
import type { DistributionTaker } from "./remote-write/histogram-intake.ts";
import type { MetadataBook } from "./remote-write/metadata-book.ts";
import { RemoteWriteDecoder } from "./remote-write-decoder.ts";
import { SpanSink } from "./spans/span-sink.ts";
import { StreamDefiner } from "./stream-definer.ts";

export interface LaneDecodersOptions {
  readonly engine: number;
  readonly engines: number;
  readonly seriesLimit: number;
  /** OTEL_TEMPORALITY_NORMALIZE. */
  readonly convertsCounters: boolean;
}

export interface LaneDecodersDependencies {
  readonly memory: EngineMemory;
  readonly memories: readonly EngineMemory[];
  readonly kernel: LaneExports;
  readonly processWords: ProcessWords;
  readonly counters: EngineCounters;
  readonly exclusions: FieldExclusions;
  readonly metadata: MetadataBook;
  readonly wallMs: () => number;
  readonly tenantName: (index: number) => string;
  readonly tenantIndex: (name: string) => number;
  readonly requestId: (admission: number) => string;
}

/** A decoder for each way in. */
export interface LaneDecoders {
  readonly json: JsonDecoder;
  readonly remoteWrite: RemoteWriteDecoder;
  readonly otlp: OtlpDecoder;
  readonly replay: ReplayDecoder;
  readonly history: HistoryDecoder;
}

/** Makes the decoders of a lane. */
export function laneDecoders(options: LaneDecodersOptions, dependencies: LaneDecodersDependencies): LaneDecoders {
  const { convertsCounters } = options;
  const { memory, memories, kernel, processWords, counters, exclusions, metadata, wallMs, tenantName, tenantIndex, requestId } =
    dependencies;
  const definer = new StreamDefiner(options, { memory, memories, processWords, kernel });
  const decoder = { memory, kernel, definer, counters, exclusions, tenantName, requestId };
  const distributions = new DistributionSink(definer);
  const takeDistribution: DistributionTaker = (tenant, point, unit) => {
    const problem = distributions.add(unit, { tenant: tenantIndex(tenant), tenantName: tenant, wallMs: wallMs() }, point);
    return problem === undefined ? undefined : { field: null, ...problem };
  };
  const logs = new LogSink();
  const json = new JsonDecoder({ ...decoder, logs });
  return {
    json,
    replay: new ReplayDecoder({ ...decoder, json }),
    history: new HistoryDecoder(decoder),
    remoteWrite: new RemoteWriteDecoder({ ...decoder, tenantIndex, takeDistribution, replicaGroups: processWords.replicas, metadata }),
    otlp: new OtlpDecoder({ convertsCounters }, { ...decoder, logs, spans: new SpanSink() }),
  };
}
