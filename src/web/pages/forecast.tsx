// What is to come: trends that lead to a limit, anomalies that are likely, a metric's next values with their band, and which metric leads which.
import { useState } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag } from "../parts/basics.tsx";
import { EnvironmentField, InEnvironment } from "../parts/environment.tsx";
import { ForecastChart } from "../parts/forecast-chart.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { link, route } from "../state/route.ts";
import { numberText, percentText, plural } from "../view/number-text.ts";
import type { Causal, Degradation, Predictions } from "../view/shapes.ts";
import { durationText } from "../view/time-text.ts";
import { Listed } from "./listed.tsx";

const MINUTE_MS = 60_000;

export function Forecast() {
  const { service_id, metric, environment } = route.value.query;
  return (
    <>
      <Head title="Forecast" about="Trends that lead to a limit, what is likely to come, and which metric leads which." />
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <SearchField label="Metric, its whole name" name="metric" />
        <EnvironmentField />
      </search>
      {service_id !== undefined && metric !== undefined && (
        <Panel
          title={
            <>
              <Name text={`${metric} of ${service_id}`} />
              <InEnvironment of={environment} />
            </>
          }
        >
          <ForecastChart serviceId={service_id} metricName={metric} environment={environment} />
        </Panel>
      )}
      <Trends of={{ service_id, environment }} />
      {service_id === undefined ? (
        <Empty title="Which service?">Name it above, or come here from its page, for what is likely to come.</Empty>
      ) : (
        <>
          <Likely of={{ service_id, environment }} />
          <Leads of={{ service_id, environment }} />
          <Listed
            title="Moves along with it"
            of="GET /api/v1/rca/correlations"
            query={{ service_id, environment }}
            empty="No other service moves along"
          />
        </>
      )}
    </>
  );
}

/** A service, in one environment or in the first that it has. */
interface Subject {
  readonly service_id: string;
  readonly environment: string | undefined;
}

function Trends({ of: query }: { of: { service_id: string | undefined; environment: string | undefined } }) {
  const answer = useAnswer<Degradation>("GET /api/v1/ml/degradation", { query });
  return (
    <Panel title="On its way to a limit">
      <Shown of={answer} rows={3}>
        {({ trends, series }) =>
          trends.length === 0 ? (
            <Empty title="Nothing is">{plural(series, "series was", "series were")} looked at.</Empty>
          ) : (
            <Table
              label="Trends"
              rows={trends}
              keyOf={({ service_id, metric_name, environment, attributes }) =>
                JSON.stringify([service_id, metric_name, environment, attributes])
              }
              columns={[
                {
                  head: "Metric",
                  show: ({ service_id, metric_name, environment }) => (
                    <a href={link(["forecast"], { service_id, environment, metric: metric_name })}>
                      <Name text={metric_name} /> <span class="faint">of</span> <Name text={service_id} />
                      <InEnvironment of={environment} />
                    </a>
                  ),
                },
                { head: "Now", isNumber: true, show: ({ current_value }) => numberText(current_value) },
                {
                  head: "an hour",
                  isNumber: true,
                  show: ({ trend_slope_per_hour: slope }) => `${slope > 0 ? "+" : ""}${numberText(slope)}`,
                },
                { head: "Limit", isNumber: true, show: ({ threshold }) => numberText(threshold) },
                {
                  head: "There in",
                  isTight: true,
                  show: ({ estimated_breach_minutes: minutes }) =>
                    minutes === null ? "–" : minutes === 0 ? "passed" : durationText(minutes * MINUTE_MS),
                },
                { head: "Sure", isNumber: true, show: ({ confidence }) => percentText(confidence) },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

function Likely({ of }: { of: Subject }) {
  const answer = useAnswer<Predictions>("GET /api/v1/ml/predict", { query: { ...of } });
  return (
    <Panel title="Likely to come">
      <Shown of={answer} rows={3}>
        {({ predictions, horizon_minutes }) =>
          predictions.length === 0 ? (
            <Empty title={`Nothing is foreseen within ${horizon_minutes} minutes`} />
          ) : (
            <ul class="stack">
              {predictions.map(({ metric_name, confidence_score, prediction_reason, lead_time_minutes, suggested_runbook }) => (
                <li key={metric_name}>
                  <a href={link(["forecast"], { ...of, metric: metric_name })}>
                    <Name text={metric_name} />
                  </a>{" "}
                  <Tag tone="medium">in {durationText(lead_time_minutes * MINUTE_MS)}</Tag> <Tag>{percentText(confidence_score)}</Tag>{" "}
                  <span class="soft">{prediction_reason}</span>{" "}
                  {suggested_runbook !== "" && <a href={link(["runbooks", suggested_runbook])}>the runbook for it</a>}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Panel>
  );
}

function Leads({ of }: { of: Subject }) {
  const answer = useAnswer<Causal>("GET /api/v1/ml/causal", { query: { ...of } });
  return (
    <Panel title="Which metric leads which">
      <Shown of={answer} rows={3}>
        {({ relationships, samples }) =>
          relationships.length === 0 ? (
            <Empty title="None leads another">In the {plural(samples, "minute", "minutes")} that its metrics share.</Empty>
          ) : (
            <Table
              label="Relationships"
              rows={relationships}
              keyOf={({ cause_metric, effect_metric }) => `${cause_metric} ${effect_metric}`}
              columns={[
                { head: "Leads", show: ({ cause_metric }) => <Name text={cause_metric} /> },
                { head: "follows", show: ({ effect_metric }) => <Name text={effect_metric} /> },
                { head: "by", isTight: true, show: ({ lag_minutes }) => durationText(lag_minutes * MINUTE_MS) },
                { head: "Strength", isNumber: true, show: ({ strength }) => percentText(strength) },
                { head: "Sure", isNumber: true, show: ({ confidence }) => percentText(confidence) },
                { head: "", show: (one) => <Validate of={of} cause={one.cause_metric} effect={one.effect_metric} /> },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

/** Tests one pair by itself, on values that the relationship was not found on. */
function Validate({ of, cause, effect }: { of: Subject; cause: string; effect: string }) {
  const [found, setFound] = useState<{ readonly is_causal: boolean; readonly evidence: string }>();
  const body = { ...of, cause_metric: cause, effect_metric: effect };
  const run = async () => setFound(await call<{ is_causal: boolean; evidence: string }>("POST /api/v1/ml/validate-causality", { body }));
  if (found === undefined) return <Button onClick={run}>Test it</Button>;
  return (
    <span role="status">
      <Tag tone={found.is_causal ? "good" : ""}>{found.is_causal ? "holds" : "does not hold"}</Tag> {found.evidence}
    </span>
  );
}
