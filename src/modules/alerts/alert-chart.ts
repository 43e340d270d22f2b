// GET /api/v1/alerts/{alert_id}/chart.png: what is drawn. The front draws it, so that no turn of this thread is spent on dots.
import { seriesOf } from "../../api/anomaly-view.ts";
import { done, type Outcome, refused } from "../../api/refusal.ts";
import type { SeriesData } from "../../api/shapes/series.ts";
import { DRAWN_MEMBERS_MAX, PICTURE_PARTS } from "../../core/config/interface-limits.ts";
import { SERIES_POINTS_DEFAULT } from "../../core/config/limits.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import { type Alert, beginOfAlert, endOfAlert } from "../../domain/alerting/paging/alert.ts";
import type { SeriesPicture } from "../../domain/picture/series-picture.ts";
import { canonicalAttributes } from "../../domain/series/stream-identity.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { SeriesContext } from "../series/series-context.ts";
import { seriesData } from "../series/series-data-handler.ts";
import { unknownAlert } from "./alert-handlers.ts";
import type { AlertsContext } from "./alerts-context.ts";

const LEAD_MS = 45 * 60_000;
const TAIL_MS = 15 * 60_000;

/** Values of the series of its peak, or of the first of its anomalies that has one, around the time of the alert. */
export async function alertChart(context: AlertsContext & SeriesContext, request: QueryRequest<"alertChart">): Promise<Outcome<unknown>> {
  const { principal, path } = request;
  const alert = context.state.alerts.find(principal.tenant, path.alert_id ?? "");
  if (alert === undefined) return unknownAlert(path.alert_id ?? "");
  const series = drawnSeries(context, alert);
  if (series === undefined) return refused("not_found", "this alert is of no single series, so there is nothing to draw");
  const range = rangeOf(alert, context.nowMs());
  const { attributes, service_id, metric_name, environment } = series;
  const drawn = attributes === null ? undefined : canonicalAttributes(attributes);
  const query = { service_id, metric_name, environment, attributes: drawn, points: PICTURE_PARTS, limit: SERIES_POINTS_DEFAULT, ...range };
  const data = await seriesData(context, { ...request, query } as unknown as QueryRequest<"seriesData">);
  return data.ok ? done(pictureOf(data.value as SeriesData, range, endOfAlert(alert))) : data;
}

function drawnSeries({ state }: AlertsContext, alert: Alert): NonNullable<ReturnType<typeof seriesOf>> | undefined {
  const { tenant } = alert.state.key;
  const ids = [alert.peak.anomalyId, ...alert.members.slice(0, DRAWN_MEMBERS_MAX).map(({ anomalyId }) => anomalyId)];
  for (const id of ids) {
    const anomaly = state.anomalies.find(tenant, id);
    const series = anomaly === undefined ? null : seriesOf(anomaly);
    if (series !== null) return series;
  }
  return undefined;
}

/** The usual before it, all of it up to a day, and what came after. */
function rangeOf(alert: Alert, nowMs: number): { readonly since: number; readonly until: number } {
  const startMs = beginOfAlert(alert);
  const lengthMs = Math.min(DAY_MS, Math.max(alert.updatedAtMs, endOfAlert(alert) ?? nowMs) - startMs);
  return { since: startMs - Math.max(LEAD_MS, lengthMs), until: Math.min(nowMs, startMs + lengthMs + TAIL_MS) + 1 };
}

/** With a mark without a value where the alert has ended. */
function pictureOf(
  { points, anomalies }: SeriesData,
  { since, until }: { since: number; until: number },
  endedMs: number | null,
): SeriesPicture {
  const ends = endedMs === null ? [] : [{ atMs: endedMs, value: null }];
  return {
    fromMs: since,
    toMs: until,
    points: points.map(({ timestamp, value, lower, upper }) => ({ atMs: Date.parse(timestamp), value, lower, upper })),
    marks: [...anomalies.map(({ observed_at, observed }) => ({ atMs: Date.parse(observed_at), value: observed })), ...ends],
  };
}
