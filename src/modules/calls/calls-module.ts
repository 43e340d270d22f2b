/**
 * What the coordinator folds of calls between services.
 * Merges sums of calls that a checkpoint has sealed into their minutes, and deletes minutes past their time. About 1 ms a partition with 1,000 edges.
 *
 * GET /api/v1/call-graph: calls between services that traces have shown, by caller and callee, or by minute too. What partitions have reported since their last
 * checkpoint counts as well. At most a day is read, and CALL_EDGES_MAX edges are answered, those with most calls: `complete` is false where there was more.
 */
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { CALL_EDGES_MAX, CALL_MINUTES_READ_MAX, MINUTE_CALLS_MAX } from "../../core/config/limits.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { type CallEdge, CallEdges, decodeCallEdges, serviceText } from "../../domain/trace/call-edges.ts";
import type { QueryRequest, Using } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { NounModule } from "../state/noun-module.ts";
import { PARTITIONS_PER_STEP, type RetentionStep, type RetentionTerms, yieldStep } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import type { StateWith } from "../state/stored-state.ts";
import { callMinuteKey, callSumsKey, readCalls } from "./stored-calls.ts";

const DEFAULT_SPAN_MS = 3_600_000;

/** Sums of one partition merged in one commit: one a checkpoint, and there is a round a minute. */
const SUMS_PER_STEP = 16;

export const CALLS = {
  tables: {
    series: {
      call_sums: { key: "partition, since", value: "call-rows.ts: calls between services since a checkpoint of the partition" },
      call_minutes: { key: "tenant, minute", value: "call-rows.ts: calls between services in a minute" },
    },
  },
  expire: (sources: CallMinutesDependencies, terms: RetentionTerms) => expireCalls(sources, terms.retainedFromMs, terms.rowsPerStep),
  gather: (sources: CallMinutesDependencies, terms: RetentionTerms) => mergeCalls(sources, terms.retainedFromMs),
  handlers: {
    callGraph,
  },
} as const satisfies NounModule;

interface Generations {
  /** Generation of each partition's checkpoint: sums of calls since earlier ones are final. */
  readonly generations: ReadonlyMap<number, number>;
}

/** Dependencies of the retention of calls. */
interface CallMinutesDependencies {
  readonly state: StateWith<Generations>;
  readonly counters: CoordinatorCounters;
}

/** Merges what is final; edges of minutes before `beforeMs` are past their time. */
function* mergeCalls({ state, counters }: CallMinutesDependencies, beforeMs: number): Generator<RetentionStep> {
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
function* expireCalls({ state, counters }: CallMinutesDependencies, beforeMs: number, rowsPerStep: number): Generator<RetentionStep> {
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

/** Calls of one edge over the range, or over one minute of it. */
interface CallSum {
  readonly edge: CallEdge;
  calls: number;
  errors: number;
  microseconds: number;
}

/** Minutes since 1970, `to` excluded. */
interface Minutes {
  readonly from: number;
  readonly to: number;
}

/** The minutes that a query asks for; without `since` the last hour, at most a day. */
export function callMinutes(
  context: CallsContext,
  query: { readonly since?: number | undefined; readonly until?: number | undefined },
): Outcome<Minutes> {
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const toMs = Number.isFinite(range.value.toMs) ? range.value.toMs : context.nowMs() + MINUTE_MS;
  const fromMs = Number.isFinite(range.value.fromMs) ? range.value.fromMs : toMs - DEFAULT_SPAN_MS;
  const minutes = { from: Math.floor(fromMs / MINUTE_MS), to: Math.ceil(toMs / MINUTE_MS) };
  if (minutes.to - minutes.from > CALL_MINUTES_READ_MAX + 1) {
    return refused(
      "invalid_parameter",
      `since and until may be ${CALL_MINUTES_READ_MAX / 60} h apart here; ask for a part of the time`,
      "since",
    );
  }
  return done(minutes);
}

interface CallFilter {
  readonly serviceId?: string | undefined;
  readonly environment?: string | undefined;
  readonly byMinute: boolean;
}

/** Edges with most calls first. */
export async function sumCalls(
  context: CallsContext,
  tenant: string,
  minutes: Minutes,
  { serviceId, environment, byMinute }: CallFilter,
): Promise<CallSum[]> {
  const sums = new Map<string, CallSum>();
  const take = (edge: CallEdge) => {
    const { caller, callee, minute } = edge;
    if (minute < minutes.from || minute >= minutes.to || callee.tenant !== tenant) return;
    if (serviceId !== undefined && serviceId !== caller.serviceId && serviceId !== callee.serviceId) return;
    if (environment !== undefined && environment !== callee.environment) return;
    add(sums, `${byMinute ? minute : ""}${serviceText(caller)}${serviceText(callee)}`, edge);
  };
  await readCalls(context, tenant, minutes, take);
  return [...sums.values()].sort(compareSums);
}

/** The graph of a range of time. */
async function callGraph(context: CallsContext, { principal, query }: QueryRequest<"callGraph">): Promise<Outcome<unknown>> {
  const minutes = callMinutes(context, query);
  if (!minutes.ok) return minutes;
  const byMinute = query.resolution === "1m";
  const { service_id: serviceId, environment } = query;
  const edges = await sumCalls(context, principal.tenant, minutes.value, { serviceId, environment, byMinute });
  return done({
    edges: edges.slice(0, CALL_EDGES_MAX).map((sum) => edgeView(sum, byMinute)),
    since: formatRfc3339(minutes.value.from * MINUTE_MS),
    until: formatRfc3339(minutes.value.to * MINUTE_MS),
    complete: edges.length <= CALL_EDGES_MAX,
  });
}

function add(sums: Map<string, CallSum>, key: string, edge: CallEdge): void {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { edge, calls: edge.calls, errors: edge.errors, microseconds: edge.microseconds });
  else {
    sum.calls += edge.calls;
    sum.errors += edge.errors;
    sum.microseconds += edge.microseconds;
  }
}

/** Most calls first, then by time and names. */
function compareSums(a: CallSum, b: CallSum): number {
  if (a.calls !== b.calls) return b.calls - a.calls;
  if (a.edge.minute !== b.edge.minute) return a.edge.minute - b.edge.minute;
  const [left, right] = [serviceText(a.edge.caller) + serviceText(a.edge.callee), serviceText(b.edge.caller) + serviceText(b.edge.callee)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** An edge as clients see it. */
export function edgeView({ edge, calls, errors, microseconds }: CallSum, byMinute: boolean) {
  return {
    caller: edge.caller.serviceId,
    callee: edge.callee.serviceId,
    environment: edge.callee.environment,
    ...(byMinute ? { minute: formatRfc3339(edge.minute * MINUTE_MS) } : {}),
    calls,
    errors,
    duration_ms: microseconds / 1000,
  };
}

// What the handlers of the call graph use.

export type CallsContext = Using<"nowMs" | "yieldToLoop">;
