// The last day of a metric, and what it is expected to be ahead of now, with the band.
import { useMemo } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { now } from "../state/route.ts";
import { chartPoints, forecastPoints } from "../view/chart-columns.ts";
import { numberText, percentText } from "../view/number-text.ts";
import type { ForecastAnswer, SeriesData } from "../view/shapes.ts";
import { Shown, When } from "./basics.tsx";
import { Chart } from "./chart.tsx";

const PAST_MS = 86_400_000;
const PARTS = 400;

export function ForecastChart({
  serviceId,
  metricName,
  environment,
  height = 260,
}: {
  serviceId: string;
  metricName: string;
  environment?: string | undefined;
  height?: number;
}) {
  const answer = useAnswer<ForecastAnswer>("GET /api/v1/ml/forecast", {
    query: { service_id: serviceId, metric: metricName, environment },
  });
  const since = useMemo(() => new Date(now.value - PAST_MS).toISOString(), []);
  const past = useAnswer<SeriesData>("GET /api/v1/series/data", {
    query: { service_id: serviceId, metric_name: metricName, environment, since, points: PARTS, resolution: "1m" },
  });
  const points = useMemo(
    () => [...chartPoints(past.data?.points ?? []), ...forecastPoints(answer.data?.forecast ?? [])],
    [past.data, answer.data],
  );
  return (
    <Shown of={answer} rows={6}>
      {({ forecast, methods, history_since, history_values, left_out_since, last_score }) => (
        <div class="stack">
          <Chart points={points} height={height} label={`${metricName} of ${serviceId}, with ${forecast.length} forecasts`} />
          <p class="faint">
            By {methods.map(({ name }) => name.replaceAll("_", " ")).join(", ")}, from {numberText(history_values)} values since{" "}
            <When at={history_since} />.{" "}
            {left_out_since !== null && (
              <>
                Values since <When at={left_out_since} /> are left out: a finding on them is open.{" "}
              </>
            )}
            {last_score !== null &&
              `An earlier forecast was off by ${numberText(last_score.mean_absolute_error)} on the average; ${percentText(last_score.coverage)} of what came lay in its band.`}
          </p>
        </div>
      )}
    </Shown>
  );
}
