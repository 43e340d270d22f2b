// GET /api/v1/audit, newest first. A page looks at RECORDS_SCANNED_MAX rows at most: it may then be shorter than `limit`, and its token goes on. `total` is
// counted once, for the first page; `total_relation` is "gte" where the bound ended the count.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { RECORDS_SCANNED_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import { ROWS_PER_READ } from "../state/scan.ts";
import { tenantTimeBound, tenantTimeKey } from "../state/tables.ts";
import type { AccessContext } from "./access-context.ts";
import { AUDIT_ENTRY, type AuditEntry } from "./audit-log.ts";

/** A page of the tenant's rows. */
export async function listAudit(context: AccessContext, request: QueryRequest<"audit">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const { limit } = query;
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const { tenant } = principal;
  const asked = openPage(context.state, request, "audit");
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const { fromMs, toMs } = range.value;
  const to = after === undefined ? tenantTimeBound(tenant, toMs) : keyOf(tenant, after);
  const isFirst = after === undefined;
  const { rows, matches, endedAt } = await readRows(context, tenantTimeBound(tenant, fromMs), to, query, {
    limit: limit + 1,
    countsAll: isFirst,
  });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : endedAt;
  const total = isFirst ? matches : (after[2] as number);
  const isExact = isFirst ? endedAt === undefined : (after[3] as boolean);
  return done({
    entries: page.map(entryView),
    total,
    total_relation: isExact ? "eq" : "gte",
    page_token: asked.value.tokenOf(last && [last.atMs, last.id, total, isExact]),
  });
}

function keyOf(tenant: string, [atMs, id]: readonly unknown[]): Uint8Array {
  return tenantTimeKey(tenant, atMs as number, id as string);
}

type AuditFilter = Pick<QueryRequest<"audit">["query"], "actor" | "action" | "object">;

/** Rows that match, and how many do: up to the last row wanted, or with `countsAll` up to the bound. */
async function readRows(
  { state, yieldToLoop }: AccessContext,
  from: Uint8Array,
  before: Uint8Array,
  { actor, action, object }: AuditFilter,
  { limit, countsAll }: { readonly limit: number; readonly countsAll: boolean },
): Promise<{ rows: AuditEntry[]; matches: number; endedAt: AuditEntry | undefined }> {
  const rows: AuditEntry[] = [];
  let matches = 0;
  let to = before;
  for (let scanned = 0; ; ) {
    const entries = state.control.range("audit", { from, to, reverse: true, limit: ROWS_PER_READ });
    let last: AuditEntry | undefined;
    for (const { value } of entries) {
      last = AUDIT_ENTRY.decode(value);
      if (actor !== undefined && last.actor !== actor) continue;
      if (action !== undefined && last.action !== action) continue;
      if (object !== undefined && last.object !== object) continue;
      matches++;
      if (rows.length < limit) rows.push(last);
      if (rows.length === limit && !countsAll) return { rows, matches, endedAt: undefined };
    }
    scanned += entries.length;
    if (entries.length < ROWS_PER_READ) return { rows, matches, endedAt: undefined };
    if (scanned >= RECORDS_SCANNED_MAX) return { rows, matches, endedAt: last };
    to = entries.at(-1)?.key ?? to;
    await yieldToLoop();
  }
}

function entryView({ id, atMs, actor, role, action, object, before, after, requestId, address }: AuditEntry) {
  return {
    audit_id: id,
    at: formatRfc3339(atMs),
    actor,
    role,
    action,
    object,
    before,
    after,
    request_id: requestId,
    source_address: address ?? null,
  };
}
