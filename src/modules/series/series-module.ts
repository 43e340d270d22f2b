// What the coordinator folds of series.
// Retention of blocks of samples and of roll-ups.
import type { CoordinatorCounter } from "../../core/layout/counters.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { type CoordinatorCounters, setOldest } from "../state/coordinator-counters.ts";
import type { NounModule } from "../state/noun-module.ts";
import { PARTITIONS_PER_STEP, type RetentionStep, type RetentionTerms, yieldStep } from "../state/retention-step.ts";
import type { StateWith } from "../state/stored-state.ts";
import { partitionKey } from "../state/tables.ts";
import { type BlockSpan, decodeSpan } from "./block-rows.ts";
import { type RollupDependencies, rollUp } from "./rollups/rollup-retention.ts";
import { decodeRollupSpan, type RollupSpan } from "./rollups/rollup-rows.ts";
import type { SeriesBooks } from "./series-context.ts";
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
      cold_services: {
        key: "tenant, service, first serial",
        value: "u32: how many of a batch's streams are the service's; u32: of them for queries alone, where there are such",
      },
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

interface Sources {
  readonly state: StateWith<Pick<SeriesBooks, "rollups">>;
  readonly counters: CoordinatorCounters;
}

/** Blocks of one partition that are past their time: the table of their spans, then that of their values. */
interface Expiry<S> {
  readonly tables: readonly [string, string];
  readonly counter: CoordinatorCounter;
  readonly partition: number;
  readonly decode: (key: Uint8Array, value: Uint8Array) => S;
  readonly isOld: (span: S) => boolean;
}

function* expireBlocks(sources: Sources, terms: RetentionTerms): Generator<RetentionStep> {
  yield* blocks(sources, terms, terms.rawRetainedFromMs, terms.retainedFromMs);
  yield* rollups(sources, terms, terms.retainedFromMs);
}

/** Blocks that are not rolled up yet stay, unless their hours would be too old as well. */
function* blocks(sources: Sources, terms: RetentionTerms, beforeMs: number, rollupsBeforeMs: number): Generator<RetentionStep> {
  const { rollups } = sources.state;
  let oldestMs = Number.POSITIVE_INFINITY;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const { firstBlock } = rollups.mark(partition);
    const isOld = (span: BlockSpan) => span.maxMs < (span.block < firstBlock ? beforeMs : Math.min(beforeMs, rollupsBeforeMs));
    const retained = yield* expire(sources, terms, {
      tables: ["block_spans", "blocks"],
      counter: "blocksExpired",
      partition,
      decode: decodeSpan,
      isOld,
    });
    oldestMs = Math.min(oldestMs, retained?.minMs ?? oldestMs);
  }
  setOldest(sources.counters, "oldestSampleSeconds", oldestMs);
}

function* rollups(sources: Sources, terms: RetentionTerms, beforeMs: number): Generator<RetentionStep> {
  const beforeHour = Math.floor(beforeMs / HOUR_MS);
  const isOld = (span: RollupSpan) => span.lastHour < beforeHour;
  let oldestHour = Number.POSITIVE_INFINITY;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const tables = ["rollup_spans", "rollups"] as const;
    const retained = yield* expire(sources, terms, { tables, counter: "rollupsExpired", partition, decode: decodeRollupSpan, isOld });
    oldestHour = Math.min(oldestHour, retained?.firstHour ?? oldestHour);
  }
  setOldest(sources.counters, "oldestRollupSeconds", oldestHour * HOUR_MS);
}

/** Both kinds of blocks are numbered as time goes, so the first that is young enough ends its partition; it is returned. */
function* expire<S>(
  sources: Sources,
  terms: RetentionTerms,
  { tables, counter, partition, decode, isOld }: Expiry<S>,
): Generator<RetentionStep, S | undefined> {
  const { series } = sources.state;
  const oldest = (limit: number) => series.range(tables[0], { from: partitionKey(partition), to: partitionKey(partition + 1), limit });
  if (partition % PARTITIONS_PER_STEP === 0) yield yieldStep(series);
  for (;;) {
    const [first] = oldest(1);
    if (first === undefined) return undefined;
    const span = decode(first.key, first.value);
    if (!isOld(span)) return span;
    const entries = oldest(terms.blocksPerStep);
    const young = entries.findIndex(({ key, value }) => !isOld(decode(key, value)));
    const old = young < 0 ? entries : entries.slice(0, young);
    const operations = old.flatMap(({ key }) => tables.map((table) => ({ table, key, value: undefined })));
    yield { store: series, operations, apply: () => sources.counters.add(counter, old.length) };
  }
}
