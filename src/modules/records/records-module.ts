// What the coordinator folds of records.
import { KeyReader } from "../../domain/codec/key.ts";
import { readSpanBlockHead } from "../../domain/trace/span-block.ts";
import { type CoordinatorCounters, setOldest } from "../state/coordinator-counters.ts";
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import type { StateWith } from "../state/stored-state.ts";
import { tenantTimeBound } from "../state/tables.ts";
import { listRecords } from "./record-handler.ts";

export const RECORDS = {
  tables: {
    series: {
      records: { key: "tenant, time, id", value: "record-row.ts" },
      span_blocks: { key: "tenant, second, block id", value: "span-block.ts (domain/trace): spans of a service that ended in that second" },
    },
  },
  expire: expireRecords,
  handlers: {
    records: listRecords,
  },
} as const satisfies NounModule;

interface Sources {
  readonly state: StateWith;
  readonly counters: CoordinatorCounters;
}

function* expireRecords(sources: Sources, terms: RetentionTerms): Generator<RetentionStep> {
  yield* records(sources, terms, terms.retainedFromMs);
}

function* records(sources: Sources, terms: RetentionTerms, beforeMs: number): Generator<RetentionStep> {
  const { series } = sources.state;
  let oldestMs = Number.POSITIVE_INFINITY;
  yield* spanBlocks(sources, terms, beforeMs);
  for (const tenant of scanTenants(series, "records")) {
    const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
    const range = { from, to: tenantTimeBound(tenant, beforeMs), limit: terms.rowsPerStep };
    for (;;) {
      const entries = series.range("records", range);
      if (entries.length === 0) break;
      const operations = entries.map(({ key }) => ({ table: "records", key, value: undefined }));
      yield { store: series, operations, apply: () => sources.counters.add("recordsExpired", entries.length) };
    }
    const [first] = series.range("records", { from, to: tenantTimeBound(tenant, Number.POSITIVE_INFINITY), limit: 1 });
    if (first !== undefined) oldestMs = Math.min(oldestMs, recordTime(first.key));
  }
  setOldest(sources.counters, "oldestRecordSeconds", oldestMs);
}

function* spanBlocks(sources: Sources, terms: RetentionTerms, beforeMs: number): Generator<RetentionStep> {
  const { series } = sources.state;
  for (const tenant of scanTenants(series, "span_blocks")) {
    const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
    for (;;) {
      const entries = series.range("span_blocks", { from, to: tenantTimeBound(tenant, beforeMs), limit: terms.blocksPerStep });
      if (entries.length === 0) break;
      const spans = entries.reduce((sum, { value }) => sum + readSpanBlockHead(value).spans, 0);
      const operations = entries.map(({ key }) => ({ table: "span_blocks", key, value: undefined }));
      yield { store: series, operations, apply: () => sources.counters.add("recordsExpired", spans) };
    }
  }
}

/** Time of a key of (tenant, time, id). */
function recordTime(key: Uint8Array): number {
  const reader = new KeyReader(key);
  reader.text();
  return reader.time();
}
