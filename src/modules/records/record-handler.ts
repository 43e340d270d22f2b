/**
 * GET /api/v1/records: stored records, spans (span-records.ts) and metric samples (metric-records.ts), newest first, then by descending id.
 *
 * A page looks at RECORDS_SCANNED_MAX stored rows at most. When filters leave fewer than `limit` of them the page is shorter and its token goes
 * on behind the last row looked at; a page may even be empty. `total` is counted once, for the first page, within the same bound:
 * `total_relation` is "gte" where there may be more, else "eq".
 */

import { openPage, type PagePosition } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { RECORDS_SCANNED_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import type { SeriesContext } from "../series/series-context.ts";
import { ID_BYTES, idText, tenantTimeBound, tenantTimeKey } from "../state/tables.ts";
import { metricRows } from "./metric-records.ts";
import { type ListPosition, mergeRows, NO_ROWS, type RecordFilter, type RecordListRow, type ScannedRows } from "./record-list.ts";
import { decodeRecordRow, rowMatches, serviceBytes } from "./record-row.ts";
import { scanSpans } from "./span-records.ts";

const ROWS_PER_READ = 1_000;

interface ListTotal {
  readonly total: number;
  readonly isExact: boolean;
}

/** A page of records. */
export async function listRecords(context: SeriesContext, request: QueryRequest<"records">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const { limit } = query;
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const asked = openPage(context.state, request, "records");
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const { service_id: serviceId, environment, type, trace_id } = query;
  const traceId = trace_id?.toLowerCase();
  const filter: RecordFilter = { tenant: principal.tenant, serviceId, environment, type, traceId, range: range.value };
  const position = after && positionOf(after);
  const wantsMetrics = (type === undefined || type === "metric") && trace_id === undefined;
  const metrics = wantsMetrics ? await metricRows(context, filter) : { rows: [], complete: true };
  const stored = query.type === "metric" ? NO_ROWS : await scanRecords(context, filter, position, limit + 1);
  const spans = type === undefined || type === "trace" ? await scanSpans(context, filter, position, limit + 1) : NO_ROWS;
  const sampled = { rows: metrics.rows, matches: metrics.rows.length, endedAt: undefined };
  const page = mergeRows([stored, spans, sampled], position, limit);
  const total = after === undefined ? firstTotal([stored, spans, sampled], metrics.complete) : totalOf(after);
  return done({
    records: page.rows.map((row) => row.view()),
    total: total.total,
    total_relation: total.isExact ? "eq" : "gte",
    page_token: asked.value.tokenOf(page.next && [page.next.timeMs, page.next.id, total.total, total.isExact]),
  });
}

function positionOf(position: PagePosition): ListPosition {
  return { timeMs: position[0] as number, id: position[1] as string };
}

function totalOf(position: PagePosition): ListTotal {
  return { total: position[2] as number, isExact: position[3] as boolean };
}

function firstTotal(sources: readonly ScannedRows[], isComplete: boolean): ListTotal {
  const total = sources.reduce((sum, { matches }) => sum + matches, 0);
  return { total, isExact: isComplete && sources.every(({ endedAt }) => endedAt === undefined) };
}

/** Scans on behind the page as far as the bound goes, because the first page counts all matches. */
async function scanRecords(
  context: SeriesContext,
  filter: RecordFilter,
  position: ListPosition | undefined,
  limit: number,
): Promise<ScannedRows> {
  const service = filter.serviceId === undefined ? undefined : serviceBytes(filter.serviceId);
  const rows: RecordListRow[] = [];
  let matches = 0;
  let last = position;
  for (let scanned = 0; scanned < RECORDS_SCANNED_MAX; ) {
    const entries = readRows(context, filter, last);
    for (const { key, value } of entries) {
      if (!rowMatches(value, filter.type, service) || !isWanted(value, filter)) continue;
      matches++;
      if (rows.length < limit) rows.push(storedRow(keyPosition(key), value));
    }
    const end = entries.at(-1);
    if (end !== undefined) last = keyPosition(end.key);
    scanned += entries.length;
    if (entries.length < ROWS_PER_READ) return { rows, matches, endedAt: undefined };
    if (position !== undefined && rows.length >= limit) return { rows, matches, endedAt: last };
    await context.yieldToLoop();
  }
  return { rows, matches, endedAt: last };
}

/** Only where an environment or a trace is asked for, rows are decoded for it. */
function isWanted(value: Uint8Array, { environment, traceId }: RecordFilter): boolean {
  if (environment === undefined && traceId === undefined) return true;
  const row = decodeRecordRow(value);
  if (row.environment !== (environment ?? row.environment)) return false;
  const input = row.record.trace_id;
  return traceId === undefined || (typeof input === "string" && input.toLowerCase() === traceId);
}

function readRows({ state }: SeriesContext, { tenant, range }: RecordFilter, before: ListPosition | undefined) {
  const from = tenantTimeBound(tenant, range.fromMs);
  const to = before === undefined ? tenantTimeBound(tenant, range.toMs) : tenantTimeKey(tenant, before.timeMs, before.id);
  return state.series.range("records", { from, to, reverse: true, limit: ROWS_PER_READ });
}

function keyPosition(key: Uint8Array): ListPosition {
  const reader = new KeyReader(key);
  reader.text();
  return { timeMs: reader.time(), id: idText(reader.fixed(ID_BYTES)) };
}

function storedRow({ timeMs, id }: ListPosition, value: Uint8Array): RecordListRow {
  const view = () => {
    const { environment, receivedMs, record } = decodeRecordRow(value);
    return { ...record, timestamp: formatRfc3339(timeMs), environment, record_id: id, received_at: formatRfc3339(receivedMs) };
  };
  return { timeMs, id, view };
}
