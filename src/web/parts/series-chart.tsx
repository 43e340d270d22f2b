// A chart of one series of the API, with the anomalies of its pair in it.
import { useMemo } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { setQuery } from "../state/route.ts";
import { type ChartMark, chartPoints, withJudgedBounds } from "../view/chart-columns.ts";
import type { AnomalyMark, SeriesData } from "../view/shapes.ts";
import { Empty, Shown } from "./basics.tsx";
import { Chart } from "./chart.tsx";

export interface SeriesChartProps {
  readonly serviceId: string;
  readonly metricName: string;
  readonly environment: string;
  /** Absent: the first that matches. */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  readonly since: string;
  readonly until: string;
  readonly height?: number;
  readonly unit?: string;
  /** Marks besides the anomalies. */
  readonly changes?: readonly ChartMark[];
  readonly isZoomable?: boolean;
}

/** Parts of the picture: each gives two points at most. */
const PARTS = 380;
const NO_MARKS: readonly ChartMark[] = [];

export function SeriesChart(props: SeriesChartProps) {
  const {
    serviceId,
    metricName,
    environment,
    attributes,
    since,
    until,
    height = 260,
    unit = "",
    changes = NO_MARKS,
    isZoomable = false,
  } = props;
  const range = { since, until };
  const pair = { service_id: serviceId, metric_name: metricName, environment };
  const data = useAnswer<SeriesData>("GET /api/v1/series/data", {
    query: { ...pair, ...(attributes !== undefined && { attributes: JSON.stringify(attributes) }), ...range, points: PARTS },
  });
  const points = useMemo(
    () => withJudgedBounds(chartPoints(data.data?.points ?? []), ownAnomalies(data.data).flatMap(episodeOf)),
    [data.data],
  );
  const marks = useMemo(() => [...ownAnomalies(data.data).map(markOf), ...changes], [data.data, changes]);
  const zoom = isZoomable
    ? (fromMs: number, toMs: number) =>
        setQuery({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), range: undefined }, false)
    : undefined;
  return (
    <Shown of={data} rows={6}>
      {({ complete, matches }) =>
        points.length === 0 ? (
          <Empty title="No values in this range">A longer range may have some.</Empty>
        ) : (
          <>
            <Chart
              points={points}
              marks={marks}
              unit={unit}
              height={height}
              label={`${metricName} of ${serviceId}`}
              range={[Date.parse(since), Date.parse(until)]}
              {...(zoom && { onZoom: zoom })}
            />
            {!complete && <p class="note warn">The range holds more values than one answer reads: its beginning is missing.</p>}
            {matches > 1 && attributes === undefined && <p class="faint">The first of {matches} series; the service's page has each.</p>}
          </>
        )
      }
    </Shown>
  );
}

/** Those of this series, not of another instance of its metric. */
function ownAnomalies(data: SeriesData | undefined): readonly AnomalyMark[] {
  const own = data?.attributes ?? {};
  const isOther = ([name, value]: [string, unknown]) => Object.hasOwn(own, name) && JSON.stringify(own[name]) !== JSON.stringify(value);
  return (data?.anomalies ?? []).filter(({ attributes }) => !Object.entries(attributes).some(isOther));
}

/** Rules that look at something else than the values have bounds of something else. */
function episodeOf({ started_at, resolved_at, detector, expected, lower, upper }: AnomalyMark) {
  if (expected === null || lower === null || upper === null || detector === "saturation") return [];
  const endMs = resolved_at === null ? Number.POSITIVE_INFINITY : Date.parse(resolved_at);
  return [{ startMs: Date.parse(started_at), endMs, expected, lower, upper }];
}

/** How an alert or an anomaly has ended, where it has. */
export function useEndMark(resolvedAt: string | null, resolution: string | null): readonly ChartMark[] {
  return useMemo(
    () =>
      resolvedAt === null ? NO_MARKS : [{ atMs: Date.parse(resolvedAt), value: null, kind: "change", text: resolution ?? "resolved" }],
    [resolvedAt, resolution],
  );
}

function markOf({ observed_at, observed }: AnomalyMark): ChartMark {
  return { atMs: Date.parse(observed_at), value: observed, kind: "anomaly" };
}
