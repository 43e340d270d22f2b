// Histograms and summaries in one engine's shard: points that come as messages, and families of classic buckets that come as streams.
import type { EngineMemory, ProcessWords } from "../../../adapters/shared-memory/engine-memory.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { EngineShares } from "../report/engine-shares.ts";
import { DerivedSeries } from "../shard/derived-series.ts";
import type { Shard } from "../shard/shard.ts";
import { BucketFamilies } from "./bucket-families.ts";
import { DistributionHandler } from "./distribution-handler.ts";

export interface DistributionsOptions {
  readonly seriesLimit: number;
  /** STREAM_IDLE_HOURS in ms. */
  readonly idleMs: number;
  /** OTEL_TEMPORALITY_NORMALIZE. */
  readonly normalize: boolean;
}

export interface DistributionsDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly processWords: ProcessWords;
  readonly counters: EngineCounters;
  readonly tenantIndex: (tenant: string) => number;
  readonly shard: Shard;
  readonly shares: EngineShares;
}

/** Gives a shard the handlers of histograms and summaries; the families are to be settled after rows have been applied. */
export function addDistributions(options: DistributionsOptions, dependencies: DistributionsDependencies): BucketFamilies {
  const { shard, kernel, counters, shares } = dependencies;
  const series = new DerivedSeries(dependencies);
  const families = new BucketFamilies(options, { kernel, series, counters, shares: shares.ledger("bucket_families") });
  const ofPoints = { series: shares.ledger("histograms"), bytes: shares.ledger("histogram_bytes") };
  shard.addHandler(new DistributionHandler(options, { series, counters, shares: ofPoints }));
  shard.addHandler(families);
  shard.collectBucketsWith(() => families.collect());
  return families;
}
