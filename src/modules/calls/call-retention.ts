// Merges sums of calls that a checkpoint has sealed into their minutes, and deletes minutes past their time. About 1 ms a partition with 1,000 edges.
import { MINUTE_CALLS_MAX } from "../../core/config/limits.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { type CallEdge, CallEdges, decodeCallEdges } from "../../domain/trace/call-edges.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { PARTITIONS_PER_STEP, type RetentionStep, yieldStep } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import type { StateWith } from "../state/stored-state.ts";
import { callMinuteKey, callSumsKey } from "./call-rows.ts";

/** Sums of one partition merged in one commit: one a checkpoint, and there is a round a minute. */
const SUMS_PER_STEP = 16;

interface Generations {
  /** Generation of each partition's checkpoint: sums of calls since earlier ones are final. */
  readonly generations: ReadonlyMap<number, number>;
}

/** Dependencies of the retention of calls. */
export interface CallMinutesDependencies {
  readonly state: StateWith<Generations>;
  readonly counters: CoordinatorCounters;
}

/** Merges what is final; edges of minutes before `beforeMs` are past their time. */
export function* mergeCalls({ state, counters }: CallMinutesDependencies, beforeMs: number): Generator<RetentionStep> {
  const { series, generations } = state;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    if (partition % PARTITIONS_PER_STEP === 0) yield yieldStep(series);
    for (;;) {
      const to = callSumsKey(partition, generations.get(partition) ?? 0);
      const sums = series.range("call_sums", { from: callSumsKey(partition, 0), to, limit: SUMS_PER_STEP });
      if (sums.length === 0) break;
      const edges = sums.flatMap(({ value }) => decodeCallEdges(value)).filter(({ minute }) => minute * MINUTE_MS >= beforeMs);
      const { operations, dropped } = minuteOperations(state, edges);
      operations.push(...sums.map(({ key }) => ({ table: "call_sums", key, value: undefined })));
      const apply = () => {
        counters.add("callsFolded", edges.length);
        counters.add("callsOverflow", dropped);
      };
      yield { store: series, operations, apply };
    }
  }
}

function minuteOperations({ series }: CallMinutesDependencies["state"], edges: readonly CallEdge[]) {
  const minutes = new Map<string, { readonly key: Uint8Array; readonly sums: CallEdges }>();
  for (const edge of edges) {
    const { tenant } = edge.callee;
    const name = `${edge.minute} ${tenant}`;
    let minute = minutes.get(name);
    if (minute === undefined) {
      const key = callMinuteKey(tenant, edge.minute);
      minute = { key, sums: new CallEdges(MINUTE_CALLS_MAX) };
      const stored = series.get("call_minutes", key);
      if (stored !== undefined) minute.sums.addEncoded(stored);
      minutes.set(name, minute);
    }
    minute.sums.addEdge(edge);
  }
  const operations: Array<RetentionStep["operations"][number]> = [];
  let dropped = 0;
  for (const { key, sums } of minutes.values()) {
    operations.push({ table: "call_minutes", key, value: sums.encode() });
    dropped += sums.dropped;
  }
  return { operations, dropped };
}

/** Deletes the minutes of all tenants before a time, `rowsPerStep` a commit. */
export function* expireCalls(
  { state, counters }: CallMinutesDependencies,
  beforeMs: number,
  rowsPerStep: number,
): Generator<RetentionStep> {
  const { series } = state;
  for (const tenant of scanTenants(series, "call_minutes")) {
    const range = {
      from: callMinuteKey(tenant, Number.NEGATIVE_INFINITY),
      to: callMinuteKey(tenant, beforeMs / MINUTE_MS),
      limit: rowsPerStep,
    };
    for (;;) {
      const entries = series.range("call_minutes", range);
      if (entries.length === 0) break;
      const operations = entries.map(({ key }) => ({ table: "call_minutes", key, value: undefined }));
      yield { store: series, operations, apply: () => counters.add("callsExpired", entries.length) };
    }
  }
}
