// Spans in the list of records: those of one second after another, newest first, because blocks hold a second each in no order. Blocks of other services cost
// a look at their head; a span of a trace that is not asked for a comparison of its id.

import { SPAN_BLOCKS_READ_MAX, SPANS_READ_MAX } from "../../core/config/limits.ts";
import { SECOND_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import { readSpanBlockHead, spansOfBlock } from "../../domain/trace/span-block.ts";
import { spanRecord, spanRecordId, spanTimeMs } from "../../domain/trace/span-record.ts";
import type { SeriesContext } from "../series/series-context.ts";
import { tenantTimeBound } from "../state/tables.ts";
import { compareRows, type ListPosition, type RecordFilter, type RecordListRow, type ScannedRows } from "./record-list.ts";

const BLOCKS_PER_READ = 64;
/** Above every id but itself. */
const ID_END = "f".repeat(32);

/** Spans behind a position: the first `limit` that match, and how many do, within what one query reads. */
export async function scanSpans(
  context: SeriesContext,
  filter: RecordFilter,
  position: ListPosition | undefined,
  limit: number,
): Promise<ScannedRows> {
  const rows: RecordListRow[] = [];
  const read = { blocks: 0, spans: 0 };
  let matches = 0;
  const start = position === undefined ? filter.range.toMs : Math.min(filter.range.toMs, position.timeMs + 1);
  for (let before = start; ; ) {
    const second = newestSecond(context, filter, before);
    if (second === undefined) return { rows, matches, endedAt: undefined };
    const found = await readSecond(context, filter, second, position, read);
    for (const row of found) {
      matches++;
      if (rows.length < limit) rows.push(row);
    }
    const isEnough = position !== undefined && rows.length >= limit;
    if (isEnough || read.blocks >= SPAN_BLOCKS_READ_MAX || read.spans >= SPANS_READ_MAX) {
      // Everything of this second has been seen, and nothing before it.
      return { rows, matches, endedAt: { timeMs: second * SECOND_MS - 1, id: ID_END } };
    }
    before = second * SECOND_MS;
  }
}

/** The newest second before a time that has blocks, and lies in the range. */
function newestSecond({ state }: SeriesContext, { tenant, range }: RecordFilter, beforeMs: number): number | undefined {
  const from = tenantTimeBound(tenant, Math.floor(range.fromMs / SECOND_MS) * SECOND_MS);
  const to = tenantTimeBound(tenant, beforeMs);
  const [entry] = state.series.range("span_blocks", { from, to, reverse: true, limit: 1 });
  if (entry === undefined) return undefined;
  const reader = new KeyReader(entry.key);
  reader.text();
  return reader.time() / SECOND_MS;
}

async function readSecond(
  { state, yieldToLoop }: SeriesContext,
  filter: RecordFilter,
  second: number,
  position: ListPosition | undefined,
  read: { blocks: number; spans: number },
): Promise<RecordListRow[]> {
  const rows: RecordListRow[] = [];
  let from = tenantTimeBound(filter.tenant, second * SECOND_MS);
  const to = tenantTimeBound(filter.tenant, (second + 1) * SECOND_MS);
  for (;;) {
    const entries = state.series.range("span_blocks", { from, to, limit: BLOCKS_PER_READ });
    for (const { value } of entries) takeBlock(value, filter, position, rows, read);
    read.blocks += entries.length;
    const last = entries.at(-1);
    if (last === undefined || entries.length < BLOCKS_PER_READ) break;
    from = Uint8Array.from([...last.key, 0]);
    await yieldToLoop();
  }
  rows.sort(compareRows);
  // A span that was sent again lies in two blocks.
  return rows.filter((row, i) => i === 0 || compareRows(row, rows[i - 1] as RecordListRow) !== 0);
}

function takeBlock(
  block: Uint8Array,
  { serviceId, environment, range, traceId }: RecordFilter,
  position: ListPosition | undefined,
  rows: RecordListRow[],
  read: { spans: number },
): void {
  const head = readSpanBlockHead(block);
  if (head.serviceId !== (serviceId ?? head.serviceId) || head.environment !== (environment ?? head.environment)) return;
  read.spans += head.spans;
  for (const span of spansOfBlock(block, head)) {
    if (traceId !== undefined && span.traceId !== traceId) continue;
    const timeMs = spanTimeMs(span);
    const id = spanRecordId(span);
    const received = { record_id: id, received_at: formatRfc3339(head.receivedMs) };
    const row = { timeMs, id, view: () => ({ ...spanRecord(span, head), environment: head.environment, ...received }) };
    if (timeMs < range.fromMs || timeMs >= range.toMs || (position !== undefined && compareRows(row, position) <= 0)) continue;
    rows.push(row);
  }
}
