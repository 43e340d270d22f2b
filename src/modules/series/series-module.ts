// What the coordinator folds of series.
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import { expireBlocks } from "./block-retention.ts";
import { type RollupDependencies, rollUp } from "./rollups/rollup-retention.ts";
import { seriesData } from "./series-data-handler.ts";
import { listSeries } from "./series-handler.ts";

export const SERIES = {
  tables: {
    series: {
      blocks: { key: "partition, block", value: "chunk block" },
      block_spans: { key: "partition, block", value: "times and size of the block, so that 64 KiB need not be read to skip it" },
      rollups: { key: "partition, roll-up", value: "roll-up block" },
      rollup_spans: { key: "partition, roll-up", value: "hours and streams of the roll-up, so that it need not be read to skip it" },
      rollup_marks: { key: "partition", value: "how far the blocks are rolled up, and which roll-ups count" },
      cold_streams: { key: "partition, first serial", value: "cold-batch.ts: streams that left memory, up to the next key's serial" },
      cold_services: { key: "tenant, service, first serial", value: "u32: how many of a batch's streams are the service's" },
      metric_metadata: { key: "tenant, metric name, perhaps sender", value: "MetricMetadataEnvelope" },
      metric_scopes: { key: "tenant, hash of service and metric", value: "MetricScopeEnvelope" },
    },
  },
  expire: expireBlocks,
  gather: (sources: RollupDependencies, terms: RetentionTerms) => rollUp(sources, terms),
  handlers: {
    series: listSeries,
    seriesData,
  },
} as const satisfies NounModule;
