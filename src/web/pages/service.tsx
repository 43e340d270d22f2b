// One service: what is open, its series with their bands, labels, who it calls, what it sent.
import { useState } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { AnomalyItem } from "../parts/anomaly-item.tsx";
import { Button, Empty, Head, Name, Panel, Shown, Skeleton, Tag, When } from "../parts/basics.tsx";
import { CauseSummary } from "../parts/cause-summary.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { ForecastChart } from "../parts/forecast-chart.tsx";
import { LimitForm } from "../parts/limit-form.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { RangePicker, useRange } from "../parts/range-picker.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { SeriesChart } from "../parts/series-chart.tsx";
import { SilenceDialog } from "../parts/silence-dialog.tsx";
import { Facts } from "../parts/table.tsx";
import { link, route, setQuery } from "../state/route.ts";
import { feedRows } from "../view/feed.ts";
import { maturityText } from "../view/maturity-text.ts";
import { countText, numberText } from "../view/number-text.ts";
import type { Anomaly, Report, Series, Service } from "../view/shapes.ts";

const INITIAL_RANGE = "6h";
const SERIES_ROWS = 24;

export function ServicePage({ rest }: { rest: readonly string[] }) {
  const id = rest[0] ?? "";
  const { environment: named } = route.value.query;
  const range = useRange(INITIAL_RANGE);
  const [isSilencing, setSilencing] = useState(false);
  const facts = useAnswer<{ services: Service[] }>("GET /api/v1/services", { query: { service_id: id } }, 30_000);
  const here = facts.data?.services.find((one) => one.environment === (named ?? one.environment));
  const others = facts.data?.services.filter((one) => one !== here) ?? [];
  // A link that names none is to the first: what stands below is of this one alone, and says so.
  const environment = named ?? here?.environment;
  return (
    <>
      <Head title={<Name text={id} />} about={<About id={id} here={here} others={others} />}>
        <a class="button" href={link(["graph"], { service: id, environment })}>
          Service map
        </a>
        <a class="button" href={link(["forecast"], { service_id: id, environment })}>
          Forecast
        </a>
        <Button icon="mute" keyHint="s" onClick={() => setSilencing(true)}>
          Silence
        </Button>
        <RangePicker initial={INITIAL_RANGE} />
      </Head>
      {isSilencing && (
        <SilenceDialog labels={{ service_id: id, ...(environment !== undefined && { environment }) }} onClose={() => setSilencing(false)} />
      )}
      {environment === undefined && facts.isLoading && facts.data === undefined ? (
        <Skeleton rows={8} />
      ) : (
        <>
          <Open id={id} environment={environment} />
          <AllSeries id={id} environment={environment} since={range.since} until={range.until} />
          <div class="grid">
            <Labels id={id} />
            <LatestReport id={id} environment={environment} />
            <More of={{ service_id: id, environment }} />
          </div>
        </>
      )}
    </>
  );
}

function About({ id, here, others }: { id: string; here: Service | undefined; others: readonly Service[] }) {
  return (
    <span class="row">
      {here !== undefined && (
        <>
          <Tag>{here.environment === "" ? "no environment" : here.environment}</Tag>
          {here.team !== null && <Tag>team {here.team}</Tag>}
          <Tag>{maturityText(here.maturity)}</Tag>
          <span>
            {countText(here.streams)} series, last sample <When at={here.last_sample} ago />
          </span>
        </>
      )}
      {others.map((one) => (
        <a key={one.environment} href={link(["service", id], { environment: one.environment })}>
          also in {one.environment === "" ? "no environment" : one.environment}
        </a>
      ))}
    </span>
  );
}

function More({ of }: { of: { service_id: string; environment: string | undefined } }) {
  return (
    <Panel title="More of it">
      <ul class="stack">
        <li>
          <a href={link(["records"], of)}>Logs, traces and events</a>, and values as they came
        </li>
        <li>
          <a href={link(["alerts"], { ...of, range: "30d" })}>Its alerts</a>
        </li>
        <li>
          <a href={link(["ledger"], of)}>Alert decision log</a>
        </li>
        <li>
          <a href={link(["saturation"], of)}>Capacity</a>
        </li>
        <li>
          <a href={link(["settings"], { service_id: of.service_id })}>Settings of detection</a>, in all its environments
        </li>
        <li>
          <a href={link(["models"], of)}>Models</a>
        </li>
        <li class="row">
          <ConfirmButton
            question="Its alerts end, and it is not missed: retire it?"
            done="Retired; what it sends later brings it back"
            work={() => retire(of)}
          >
            Retire
          </ConfirmButton>{" "}
          <span class="soft">where it is not to come back</span>
        </li>
      </ul>
    </Panel>
  );
}

function retire({ service_id: id, environment }: { service_id: string; environment: string | undefined }) {
  return call("POST /api/v1/services/{id}/retire", { path: { id }, body: environment === undefined ? {} : { environment } });
}

function Open({ id, environment }: { id: string; environment: string | undefined }) {
  const query = { service_id: id, environment, state: "open", limit: 50, view: "list" };
  const answer = useAnswer<{ anomalies: Anomaly[]; total: number }>("GET /api/v1/anomalies", { query }, 10_000);
  if (answer.data === undefined || answer.data.total === 0) return null;
  return (
    <section class="panel flush" aria-label="Open anomalies">
      <div class="panel-head">
        <h2>Open now</h2>
        <a href={link(["anomalies"], { service_id: id, environment, range: "7d" })}>All of the last week</a>
      </div>
      <ul class="list">
        {feedRows(answer.data.anomalies)
          .slice(0, 5)
          .map((row) => (
            <AnomalyItem row={row} key={row.key} />
          ))}
      </ul>
    </section>
  );
}

function AllSeries({ id, environment, since, until }: { id: string; environment: string | undefined; since: string; until: string }) {
  const { q, metric } = route.value.query;
  const list = usePages<Series>(
    "GET /api/v1/series",
    { query: { service_id: id, environment, metric_name: metric, q, limit: SERIES_ROWS } },
    "series",
  );
  return (
    <>
      <search class="filters">
        <SearchField label="Find a metric" />
        {metric !== undefined && (
          <button type="button" class="button" onClick={() => setQuery({ metric: undefined })}>
            <bdi>{metric}</bdi> ×
          </button>
        )}
      </search>
      <Shown of={list.answer} rows={8}>
        {() =>
          list.rows.length === 0 ? (
            <Empty title="No series">It may have sent logs only, or nothing in memory any more.</Empty>
          ) : (
            <div class="grid charts">
              {list.rows.map((series) => (
                <SeriesPanel
                  series={series}
                  since={since}
                  until={until}
                  isAlone={list.rows.length === 1}
                  key={`${series.metric_name} ${series.environment} ${JSON.stringify(series.attributes)}`}
                />
              ))}
            </div>
          )
        }
      </Shown>
      <MoreRows of={list} noun="series" />
    </>
  );
}

function SeriesPanel({ series, since, until, isAlone }: { series: Series; since: string; until: string; isAlone: boolean }) {
  const { service_id, metric_name, environment, attributes, unit, last_value, maturity, ended } = series;
  const labels = Object.entries(attributes);
  const [isForecast, setForecast] = useState(false);
  return (
    <Panel
      title={
        <a href={link(["service", service_id], { environment, metric: metric_name })}>
          <Name text={metric_name} />
        </a>
      }
      aside={
        <>
          <strong class="num">{last_value === null ? "–" : numberText(last_value)}</strong>
          {unit !== null && <span class="faint">{unit}</span>}
          {ended && <Tag>ended</Tag>}
          {maturity !== "mature" && <Tag>{maturityText(maturity)}</Tag>}
        </>
      }
    >
      {labels.length > 0 && <p class="faint clip">{labels.map(([name, value]) => `${name}=${String(value)}`).join(" ")}</p>}
      <SeriesChart
        serviceId={service_id}
        metricName={metric_name}
        environment={environment}
        attributes={attributes}
        since={since}
        until={until}
        height={isAlone ? 320 : 150}
        unit={unit ?? ""}
        isZoomable
      />
      {isAlone && (
        <details onToggle={(event) => setForecast(event.currentTarget.open)}>
          <summary>Forecast</summary>
          {isForecast && <ForecastChart serviceId={service_id} metricName={metric_name} environment={environment} />}
        </details>
      )}
      {isAlone && (
        <details>
          <summary>Set a limit</summary>
          <LimitForm initial={{ service_id, metric: metric_name, unit: unit ?? undefined }} />
        </details>
      )}
    </Panel>
  );
}

function Labels({ id }: { id: string }) {
  const answer = useAnswer<{ labels: Array<{ key: string; value: string; source: string }> }>("GET /api/v1/service-labels", {
    query: { service_id: id },
  });
  return (
    <Panel title="Labels" aside={<a href={link(["labels"], { service_id: id })}>Change</a>}>
      <Shown of={answer} rows={2}>
        {({ labels }) =>
          labels.length === 0 ? (
            <Empty title="No labels">Team and owner decide who is told. They come with telemetry, from the catalog, or by hand.</Empty>
          ) : (
            <Facts
              facts={labels.map(
                ({ key, value, source }) =>
                  [
                    key,
                    <span key={key}>
                      {value} <span class="faint">{source}</span>
                    </span>,
                  ] as const,
              )}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

function LatestReport({ id, environment }: { id: string; environment: string | undefined }) {
  const query = { service_id: id, environment, limit: 1 };
  const answer = useAnswer<{ reports: Report[] }>("GET /api/v1/rca/reports", { query });
  const report = answer.data?.reports[0];
  return (
    <Panel title="Last analysis" aside={report && <a href={link(["analysis", report.anomaly_id])}>Whole</a>}>
      {report === undefined ? <p class="faint">None has been made.</p> : <CauseSummary report={report} />}
    </Panel>
  );
}
