/**
 * GET /api/v1/call-graph: calls between services that traces have shown, by caller and callee, or by minute too. What partitions have told since their last
 * checkpoint counts as well. At most a day is read, and CALL_EDGES_MAX edges are answered, those with most calls: `complete` is false where there was more.
 */
import { done, type Outcome, refused } from "../../../api/refusal.ts";
import { formatRfc3339 } from "../../../core/base/rfc3339.ts";
import { CALL_EDGES_MAX, CALL_MINUTES_READ_MAX } from "../../../core/config/limits.ts";
import { type CallEdge, serviceText } from "../../../domain/trace/call-edges.ts";
import type { QueryContext, QueryRequest } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import { readCalls } from "./stored-calls.ts";

const MINUTE_MS = 60_000;
const DEFAULT_SPAN_MS = 3_600_000;

interface Sum {
  readonly edge: CallEdge;
  calls: number;
  errors: number;
  microseconds: number;
}

/** The graph of a range of time; without `since` the last hour. */
export async function callGraph(context: QueryContext, { principal, query }: QueryRequest<"callGraph">): Promise<Outcome<unknown>> {
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
  const byMinute = query.resolution === "1m";
  const sums = new Map<string, Sum>();
  const take = (edge: CallEdge) => {
    const { caller, callee, minute } = edge;
    if (minute < minutes.from || minute >= minutes.to || callee.tenant !== principal.tenant) return;
    if (query.service_id !== undefined && query.service_id !== caller.serviceId && query.service_id !== callee.serviceId) return;
    if (query.environment !== undefined && query.environment !== callee.environment) return;
    add(sums, `${byMinute ? minute : ""}${serviceText(caller)}${serviceText(callee)}`, edge);
  };
  await readCalls(context, principal.tenant, minutes, take);
  const edges = [...sums.values()].sort(compareSums);
  return done({
    edges: edges.slice(0, CALL_EDGES_MAX).map((sum) => view(sum, byMinute)),
    since: formatRfc3339(minutes.from * MINUTE_MS),
    until: formatRfc3339(minutes.to * MINUTE_MS),
    complete: edges.length <= CALL_EDGES_MAX,
  });
}

function add(sums: Map<string, Sum>, key: string, edge: CallEdge): void {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { edge, calls: edge.calls, errors: edge.errors, microseconds: edge.microseconds });
  else {
    sum.calls += edge.calls;
    sum.errors += edge.errors;
    sum.microseconds += edge.microseconds;
  }
}

/** Most calls first, then by time and names. */
function compareSums(a: Sum, b: Sum): number {
  if (a.calls !== b.calls) return b.calls - a.calls;
  if (a.edge.minute !== b.edge.minute) return a.edge.minute - b.edge.minute;
  const [left, right] = [serviceText(a.edge.caller) + serviceText(a.edge.callee), serviceText(b.edge.caller) + serviceText(b.edge.callee)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function view({ edge, calls, errors, microseconds }: Sum, byMinute: boolean) {
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
