// Root causes: reports of incidents, and one with its ranked causes, evidence, first symptom and impact apart; how it was resolved goes in here.
import { useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { BlastRadius } from "../parts/blast-radius.tsx";
import { EnvironmentField, InEnvironment } from "../parts/environment.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { SeriesChart, type SeriesChartProps } from "../parts/series-chart.tsx";
import { Facts } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { link, now, route } from "../state/route.ts";
import { LEAD_MS } from "../view/chart-columns.ts";
import { mostDeparted } from "../view/departed-series.ts";
import { numberText, percentText, plural } from "../view/number-text.ts";
import { hasSeries } from "../view/reason.ts";
import type { Report, SeriesData, SimilarReports } from "../view/shapes.ts";

export function Analysis({ rest }: { rest: readonly string[] }) {
  return rest[0] === undefined ? <List /> : <Whole id={rest[0]} />;
}

function List() {
  const { service_id, environment } = route.value.query;
  const list = usePages<Report>("GET /api/v1/rca/reports", { query: { service_id, environment, limit: 50 } }, "reports", 15_000);
  return (
    <>
      <Head title="Root causes" about="One report an incident: what began it, with the evidence, apart from what it did to others." />
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <EnvironmentField />
      </search>
      <Shown of={list.answer}>
        {() =>
          list.rows.length === 0 ? (
            <Empty title="No report yet">
              An analysis is made when an anomaly reaches an alert. <code>vedette demo-incident</code> shows one.
            </Empty>
          ) : (
            <section class="panel flush" aria-label="Reports">
              <ul class="list">
                {list.rows.map((report) => (
                  <Row report={report} key={report.report_id} />
                ))}
              </ul>
            </section>
          )
        }
      </Shown>
      <MoreRows of={list} noun="reports" />
    </>
  );
}

function Row({ report }: { report: Report }) {
  const [first] = report.candidates;
  return (
    <li class="item two" data-row>
      <div class="stack-tight">
        <a class="item-title" href={link(["analysis", report.anomaly_id])}>
          {report.enough && first !== undefined ? (
            <>
              <Name text={first.service_id} /> <span class="faint">·</span> <Name text={first.metric_name} />
            </>
          ) : (
            "Not enough evidence"
          )}
          <InEnvironment of={report.environment} />
        </a>
        <p class="item-text">
          seen at <Name text={report.service_id} /> {report.metric_name}. {report.enough ? first?.evidence[0]?.text : ""}
        </p>
      </div>
      <div class="item-side">
        <When at={report.onset} />
        <div class="row end">
          <Tag tone={report.enough ? "accent" : ""}>{report.category}</Tag>
          {report.enough && <Tag>{percentText(report.confidence)}</Tag>}
          {report.impact.length > 0 && <Tag>{plural(report.impact.length, "service hit", "services hit")}</Tag>}
        </div>
      </div>
    </li>
  );
}

function Whole({ id }: { id: string }) {
  const answer = useAnswer<{ reports: Report[] }>("GET /api/v1/rca/reports", { query: { anomaly_id: id, limit: 1 } }, 15_000);
  return (
    <Shown of={answer}>
      {({ reports: [report] }) =>
        report === undefined ? (
          <Empty title="No report of this incident">
            It never existed, or is past its retention. <a href={link(["analysis"])}>All reports</a>
          </Empty>
        ) : (
          <ReportView report={report} />
        )
      }
    </Shown>
  );
}

function ReportView({ report }: { report: Report }) {
  const { enough, category, confidence, final, service_id, metric_name, environment, anomaly_id, onset } = report;
  return (
    <>
      <Head
        title={enough ? "Likely cause" : "Not enough evidence for a cause"}
        about={
          <span class="row">
            {enough && <Tag tone="accent">{category}</Tag>}
            {enough && <Tag>{percentText(confidence)} confident</Tag>}
            <Tag>{final ? "final" : `revision ${report.revision}, still looking`}</Tag>
            <span>
              began <When at={onset} />, seen at{" "}
              <a href={link(["anomaly", anomaly_id])}>
                <Name text={service_id} /> {metric_name}
              </a>
              <InEnvironment of={environment} />
            </span>
          </span>
        }
      />
      <p class="panel reason">{report.summary}</p>
      <div class="split">
        <div class="stack wide">
          <Candidates report={report} />
        </div>
        <div class="stack wide">
          <Panel title="First symptom">
            {report.first_symptom === null ? (
              <p class="faint">None found.</p>
            ) : (
              <p>
                <a href={link(["service", report.first_symptom.service_id], { environment, metric: report.first_symptom.metric_name })}>
                  <Name text={report.first_symptom.service_id} /> <span class="faint">·</span>{" "}
                  <Name text={report.first_symptom.metric_name} />
                </a>{" "}
                at <When at={report.first_symptom.at} />
              </p>
            )}
          </Panel>
          <Panel title="Impact">
            {report.impact.length === 0 ? (
              <p class="faint">No other service was hit, as far as is known.</p>
            ) : (
              <ul class="stack">
                {report.impact.map((hit) => (
                  <li key={`${hit.service_id} ${hit.metric_name}`}>
                    <a href={link(["service", hit.service_id], { environment, metric: hit.metric_name })}>
                      <Name text={hit.service_id} />
                    </a>{" "}
                    {hit.metric_name} <span class="faint">{numberText(Number(hit.strength.toFixed(1)))} spreads off</span>
                  </li>
                ))}
              </ul>
            )}
          </Panel>
          <Panel title="What was looked at">
            <Facts facts={Object.entries(report.looked_at).map(([what, count]) => [what, numberText(count)] as const)} />
          </Panel>
          <Similar id={anomaly_id} />
          <Resolution report={report} />
        </div>
      </div>
      {enough && report.candidates[0] !== undefined && (
        <BlastRadius serviceId={report.candidates[0].service_id} environment={environment} />
      )}
    </>
  );
}

function Candidates({ report }: { report: Report }) {
  if (report.candidates.length === 0) return <Empty title="No candidate">Nothing changed before the symptom that could explain it.</Empty>;
  const sinceMs = Date.parse(report.onset) - LEAD_MS;
  const untilMs = Math.max(Date.parse(report.evidence_until), Date.parse(report.onset) + 10 * 60_000);
  const range = { since: new Date(sinceMs).toISOString(), until: new Date(untilMs).toISOString() };
  const changes = [{ atMs: Date.parse(report.onset), value: null, kind: "change" as const }];
  return (
    <>
      {report.candidates.map(({ service_id, metric_name, instance, score, evidence }, at) => (
        <Panel
          key={`${service_id} ${metric_name} ${instance}`}
          title={
            <>
              {at + 1}.{" "}
              <a href={link(["service", service_id], { environment: report.environment, metric: metric_name })}>
                <Name text={service_id} /> <span class="faint">·</span> <Name text={metric_name} />
              </a>
              {instance !== null && <span class="faint"> on {instance}</span>}
            </>
          }
          aside={<Tag tone={at === 0 ? "accent" : ""}>score {numberText(Number(score.toFixed(2)))}</Tag>}
        >
          <ul class="evidence">
            {evidence.map(({ source, text, strength }) => (
              <li key={`${source} ${text}`}>
                <Tag>{source}</Tag> {text} <span class="faint">{numberText(Number(strength.toFixed(1)))}</span>
              </li>
            ))}
          </ul>
          {at === 0 && metric_name !== "" && hasSeries(metric_name) && evidence.some(({ source }) => source === "metric") && (
            <EvidenceChart
              serviceId={service_id}
              metricName={metric_name}
              environment={report.environment}
              {...range}
              height={180}
              changes={changes}
              instance={instance}
            />
          )}
        </Panel>
      ))}
    </>
  );
}

/** Series that are looked at for the one that departed, and points of each. */
const LOOKED_AT = { series: 24, points: 60 };

/** The chart of the series that the evidence speaks of: of several of one metric, the one that departed at the onset. */
function EvidenceChart({ instance, ...chart }: SeriesChartProps & { readonly instance: string | null }) {
  const { serviceId, metricName, environment, since, until, changes = [] } = chart;
  const query = { service_id: serviceId, metric_name: metricName, environment, since, until, ...LOOKED_AT };
  const data = useAnswer<SeriesData>("GET /api/v1/series/data", { query });
  const { more = [], ...first } = data.data ?? {};
  const all = data.data === undefined ? [] : [first as SeriesData, ...more];
  const shown = mostDeparted(all, changes[0]?.atMs ?? 0, instance);
  return <Shown of={data}>{() => <SeriesChart {...chart} attributes={shown?.attributes} />}</Shown>;
}

function Similar({ id }: { id: string }) {
  const answer = useAnswer<SimilarReports>("GET /api/v1/rca/similar", { query: { anomaly_id: id } });
  const reports = answer.data?.reports ?? [];
  return (
    <Panel title="What it resembles">
      {reports.length === 0 ? (
        <p class="faint">No incident of the past is like it.</p>
      ) : (
        <ul class="stack">
          {reports.slice(0, 5).map(({ incident_id, service_id, similarity, why, resolution }) => (
            <li key={incident_id}>
              <a href={link(["analysis", incident_id])}>
                <Name text={service_id} />
              </a>{" "}
              <Tag>{percentText(similarity)} alike</Tag>
              <p class="soft">{why.join("; ")}</p>
              {resolution !== null && <p class="note">Helped then: {resolution.resolution}</p>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Resolution({ report }: { report: Report }) {
  const [text, setText] = useState("");
  const [service, setService] = useState(report.candidates[0]?.service_id ?? report.service_id);
  const minutes = Math.max(0, Math.round((now.value - Date.parse(report.onset)) / 60_000));
  const store = async () => {
    const me = await call<{ user_id: string }>("GET /api/v1/rbac/permissions");
    const body = {
      incident_id: report.incident_id,
      service_id: service,
      resolution: text.trim(),
      resolved_by: me.user_id || "operator",
      time_to_recovery_minutes: minutes,
      tags: [],
    };
    await call("POST /api/v1/resolutions/webhook", { body });
    notify("good", "Stored: the next incident like it will name this");
    setText("");
    noteChange();
  };
  return (
    <Panel title="How was it resolved?">
      <div class="stack">
        <label class="field">
          <span>What helped</span>
          <textarea rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Service that was at fault</span>
          <input value={service} onInput={(event) => setService(event.currentTarget.value)} />
        </label>
        <div class="tools">
          <Button tone="main" onClick={store} disabled={text.trim() === "" || service.trim() === ""}>
            Resolve and remember
          </Button>
        </div>
      </div>
    </Panel>
  );
}
