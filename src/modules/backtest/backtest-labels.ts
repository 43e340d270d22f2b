// What people have labelled in the time of a backtest: anomalies that they called true or false positives, and incidents that come with the question.
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import type { IncidentLabel } from "../../domain/backtest/labelled-incidents.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BacktestContext } from "./backtest-context.ts";

/** Labels of the services and environments of the series that are gone over. */
export function backtestLabels(
  { state }: BacktestContext,
  { principal, body }: QueryRequest<"backtest">,
  series: readonly BacktestSeries[],
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): IncidentLabel[] {
  const places = new Set(series.map(({ name }) => JSON.stringify([name.serviceId, name.environment])));
  const isWithin = ({ serviceId, environment, startedMs, endedMs }: IncidentLabel) =>
    places.has(JSON.stringify([serviceId, environment])) && startedMs < untilMs && endedMs >= sinceMs;
  const services = new Set(series.map(({ name }) => name.serviceId));
  const said = [...services].flatMap((serviceId) => state.alerts.feedback.of(principal.tenant, serviceId));
  const judged = said.flatMap(({ anomalyId, opinion }): IncidentLabel[] => {
    const anomaly = state.anomalies.find(principal.tenant, anomalyId);
    if (anomaly === undefined || (body.metric_name !== undefined && anomaly.metricName !== body.metric_name)) return [];
    const { serviceId, environment, metricName, startedAtMs, resolvedAtMs, observedAtMs } = anomaly;
    const endedMs = Math.max(observedAtMs, resolvedAtMs ?? untilMs);
    return [{ anomalyId, serviceId, environment, metricName, startedMs: startedAtMs, endedMs, isIncident: opinion === "true_positive" }];
  });
  const given = (body.incidents ?? []).map(
    ({ service_id, environment, starts_at, ends_at }): IncidentLabel => ({
      anomalyId: null,
      serviceId: service_id,
      environment: environment ?? body.environment ?? "",
      metricName: null,
      startedMs: starts_at,
      endedMs: ends_at,
      isIncident: true,
    }),
  );
  return [...judged, ...given].filter(isWithin);
}
