// GET /api/v1/alerts/{alert_id}/timeline: oldest first.
import { timelineEntryView } from "../../api/alert-view.ts";
import { type PageScope, pageOf } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { lineOf, type TimelineLine } from "../../domain/alerting/timeline.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { unknownAlert } from "./alert-handlers.ts";
import type { AlertsContext } from "./alerts-context.ts";
import { placeOfLine, type StoredLine } from "./timeline-book.ts";

/** A page of an alert's timeline. */
export function alertTimeline(context: AlertsContext, { principal, path, query }: QueryRequest<"alertTimeline">): Outcome<unknown> {
  const { state } = context;
  const { tenant } = principal;
  const id = path.alert_id ?? "";
  const alert = state.alerts.find(tenant, id);
  if (alert === undefined) return unknownAlert(id);
  const scope: PageScope = { tenant, endpoint: "alertTimeline", filters: { alert_id: id } };
  const lines = linesOfAlert(alert, state.alerts.timeline.read(tenant, id));
  const request = { secret: state.pageSecret, scope, limit: query.limit, token: query.page_token };
  const paged = pageOf(request, lines, { positionOf: ({ place }) => [place] });
  if (!paged.ok) return paged;
  const { page, page_token } = paged.value;
  return done({ entries: page.map(timelineEntryView), page_token });
}

/** Of an alert that an earlier version has stored, its history stands before the first stored line. */
function linesOfAlert(alert: Alert, stored: readonly StoredLine[]): readonly StoredLine[] {
  const firstMs = stored[0]?.atMs ?? Number.POSITIVE_INFINITY;
  const earlier = alert.history.filter(({ atMs }) => atMs < firstMs).map((change) => placed(lineOf(change, alert)));
  return [...earlier, ...stored];
}

function placed(line: TimelineLine): StoredLine {
  return { ...line, place: placeOfLine(line) };
}
