// What the sources of a list of records share: its order, filters, and how far a source has been read.
import type { RecordType } from "../../core/layout/counters.ts";
import type { TimeRange } from "../queries/time-range.ts";

/** A row of the list: its place (time, id) and what is sent. */
export interface RecordListRow {
  readonly timeMs: number;
  readonly id: string;
  view(): Readonly<Record<string, unknown>>;
}

/** Place in the list: the page holds what comes behind it. */
export interface ListPosition {
  readonly timeMs: number;
  readonly id: string;
}

export interface RecordFilter {
  readonly tenant: string;
  readonly serviceId: string | undefined;
  readonly environment: string | undefined;
  readonly type: RecordType | undefined;
  readonly traceId: string | undefined;
  readonly range: TimeRange;
}

/** Rows of a source behind a position: the first `limit + 1` that match, how many matched, and the last place looked at where a bound ended the scan. */
export interface ScannedRows {
  readonly rows: readonly RecordListRow[];
  readonly matches: number;
  readonly endedAt: ListPosition | undefined;
}

/** A source that is not asked. */
export const NO_ROWS: ScannedRows = { rows: [], matches: 0, endedAt: undefined };

/** Negative when a stands before b in the list: newest first, then by descending id. */
export function compareRows(a: ListPosition, b: ListPosition): number {
  if (a.timeMs !== b.timeMs) return b.timeMs - a.timeMs;
  return a.id === b.id ? 0 : a.id > b.id ? -1 : 1;
}

/** The page behind a position. Rows behind where a scan ended must wait for the next page: others of its source may stand before them. */
export function mergeRows(sources: readonly ScannedRows[], position: ListPosition | undefined, limit: number) {
  const endedAt = sources.map((source) => source.endedAt).reduce((first, end) => earlier(first, end), undefined);
  const rows = sources
    .flatMap((source) => source.rows)
    .filter(
      (row) => (position === undefined || compareRows(row, position) > 0) && (endedAt === undefined || compareRows(row, endedAt) <= 0),
    )
    .sort(compareRows);
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] as ListPosition };
  return { rows, next: endedAt };
}

/** The one that stands first in the list. */
function earlier(a: ListPosition | undefined, b: ListPosition | undefined): ListPosition | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareRows(a, b) <= 0 ? a : b;
}
