// One alert: its anomalies, likely cause, history, who was told, and why.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { AlertActions } from "../parts/alert-actions.tsx";
import { StateTags, shortLabels } from "../parts/alert-row.tsx";
import { Button, CopyButton, Empty, Head, Name, Panel, SeverityMark, Shown, Tag, When } from "../parts/basics.tsx";
import { CauseSummary } from "../parts/cause-summary.tsx";
import { decisionKey, OUTCOME, WHEN, Z_SCORE } from "../parts/decision-columns.tsx";
import { NotifiedState } from "../parts/notified-state.tsx";
import { SeriesChart, useEndMark } from "../parts/series-chart.tsx";
import { SilenceDialog } from "../parts/silence-dialog.tsx";
import { Facts, Table } from "../parts/table.tsx";
import { link, now } from "../state/route.ts";
import { setTitle } from "../state/title.ts";
import { LEAD_MS, TAIL_MS } from "../view/chart-columns.ts";
import { numberText } from "../view/number-text.ts";
import { openText } from "../view/open-text.ts";
import { gateText, hasSeries } from "../view/reason.ts";
import { isOfRule, type RulesAnswer } from "../view/rule-text.ts";
import type { AlertDetail, AnomalyDetail, Report } from "../view/shapes.ts";

export function AlertPage({ rest }: { rest: readonly string[] }) {
  const answer = useAnswer<AlertDetail>("GET /api/v1/alerts/{alert_id}", { path: { alert_id: rest[0] ?? "" } }, 10_000);
  return <Shown of={answer}>{(alert) => <Whole alert={alert} />}</Shown>;
}

function Whole({ alert }: { alert: AlertDetail }) {
  const { severity, service_id, environment, state, started_at, resolved_at } = alert;
  const isFiring = state === "firing";
  const metric = alert.labels.metric_name ?? "";
  useEffect(() => setTitle(`${isFiring ? severity : "resolved"}: ${service_id}`, metric, environment), [isFiring, severity, metric]);
  const open = openText({ startedAt: started_at, resolvedAt: resolved_at }, now.value);
  return (
    <>
      <Head
        title={
          <>
            <Name text={service_id} /> {environment !== "" && <span class="faint">in {environment}</span>}
          </>
        }
        about={
          <span class="row">
            <SeverityMark severity={severity} />
            <StateTags alert={alert} />
            <span>
              since <When at={started_at} />, {open}
            </span>
          </span>
        }
      >
        <Actions alert={alert} />
      </Head>
      <section class="panel stack" aria-label="What happened">
        <p class="reason">{alert.explanation}</p>
        <PeakChart alert={alert} />
      </section>
      <div class="split">
        <div class="stack wide">
          <Cause alert={alert} />
          <Panel title={`Anomalies (${alert.anomalies}, ${alert.open_anomalies} open)`}>
            <Table
              label="Anomalies"
              rows={alert.members}
              keyOf={({ anomaly_id }) => anomaly_id}
              columns={[
                {
                  head: "Severity",
                  isTight: true,
                  show: (row) => (row.severity === null ? "–" : <SeverityMark severity={row.severity} />),
                },
                {
                  head: "What",
                  show: (row) => (
                    <a href={link(["anomaly", row.anomaly_id])}>
                      <Name text={row.service_id} /> <span class="faint">·</span> <Name text={row.metric_name} />
                    </a>
                  ),
                },
                {
                  head: "State",
                  isTight: true,
                  show: (row) => (row.resolved === null ? "no longer kept" : row.resolved ? "resolved" : "open"),
                },
              ]}
            />
          </Panel>
          <Decisions alert={alert} />
        </div>
        <Side alert={alert} />
      </div>
    </>
  );
}

function Side({ alert }: { alert: AlertDetail }) {
  return (
    <div class="stack wide">
      <Panel title="Who has it">
        <Facts
          facts={[
            [
              "Acknowledged",
              alert.acknowledged_by === null ? (
                "nobody yet"
              ) : (
                <span key="by">
                  {alert.acknowledged_by}, <When at={alert.acknowledged_at} />
                </span>
              ),
            ],
            ["Assigned", alert.assignee ?? "nobody"],
            ["Note", alert.note ?? "–"],
            ["Notified", <NotifiedState of={alert.notification} key="told" />],
            ["When", <When at={alert.notification.at} key="when" />],
            ...(alert.family === "external" ? [["Rule", <RuleLink alert={alert} key="rule" />] as const] : []),
          ]}
        />
      </Panel>
      <Deliveries alert={alert} />
      <Timeline alert={alert} />
      <Panel title="Labels" aside={<CopyButton text={() => JSON.stringify(alert.labels, null, 1)} />}>
        <Facts facts={Object.entries(alert.labels).map(([name, value]) => [name, <Name text={value} key={name} />] as const)} />
      </Panel>
    </div>
  );
}

/** The rule of this server that it is of; a dash where it is none's, or nobody may know. */
function RuleLink({ alert: { labels } }: { alert: AlertDetail }) {
  const name = labels.alertname ?? "";
  const options = { query: { "rule_name[]": name, exclude_alerts: true } };
  const answer = useAnswer<RulesAnswer>(name === "" ? null : "GET /prometheus/api/v1/rules", options);
  const rules = answer.data?.data.groups.flatMap((group) => group.rules) ?? [];
  if (!rules.some((rule) => isOfRule(rule, labels))) return <span class="faint">–</span>;
  return (
    <a href={link(["rules", name])}>
      <Name text={name} />
    </a>
  );
}

function PeakChart({ alert }: { alert: AlertDetail }) {
  const metric = alert.labels.metric_name ?? "";
  if (metric === "" || !hasSeries(metric) || alert.family === "external") return null;
  // As high before it comes as with it: what is below stays where somebody is about to press it.
  return (
    <div class="chart-frame">
      <MetricChart alert={alert} metric={metric} />
    </div>
  );
}

/** The series of its first anomaly of that metric. */
function MetricChart({ alert, metric }: { alert: AlertDetail; metric: string }) {
  const startMs = Date.parse(alert.started_at);
  const endMs = Math.min(Date.parse(alert.updated_at), startMs + 86_400_000);
  const member = alert.members.find(({ metric_name }) => metric_name === metric);
  const answer = useAnswer<AnomalyDetail>(member === undefined ? null : "GET /api/v1/anomalies/{id}", {
    path: { id: member?.anomaly_id ?? "" },
  });
  const changes = useEndMark(alert.resolved_at, alert.resolution);
  if (member !== undefined && answer.data === undefined && answer.error === undefined) return null;
  const range = { since: new Date(startMs - LEAD_MS).toISOString(), until: new Date(endMs + TAIL_MS).toISOString() };
  return (
    <SeriesChart
      serviceId={alert.labels.service_id ?? alert.service_id}
      metricName={metric}
      environment={alert.environment}
      attributes={answer.data?.series?.attributes ?? undefined}
      {...range}
      changes={changes}
      height={220}
    />
  );
}

function Actions({ alert }: { alert: AlertDetail }) {
  const [isSilencing, setSilencing] = useState(false);
  return (
    <>
      <AlertActions alerts={[alert]} />
      <Button icon="mute" keyHint="s" onClick={() => setSilencing(true)}>
        Silence
      </Button>
      {isSilencing && <SilenceDialog labels={shortLabels(alert)} onClose={() => setSilencing(false)} />}
    </>
  );
}

function Cause({ alert }: { alert: AlertDetail }) {
  const anomaly_id = alert.root_cause?.anomaly_id;
  const answer = useAnswer<{ reports: Report[] }>(
    anomaly_id === undefined ? null : "GET /api/v1/rca/reports",
    { query: { anomaly_id, limit: 1 } },
    15_000,
  );
  const report = answer.data?.reports[0];
  if (report === undefined) return null;
  return (
    <Panel title="Likely cause" aside={<a href={link(["analysis", report.anomaly_id])}>Evidence and impact</a>}>
      <CauseSummary report={report} />
    </Panel>
  );
}

function Decisions({ alert }: { alert: AlertDetail }) {
  if (alert.decisions.length === 0) return null;
  return (
    <Panel title="Alert decision log">
      <Table
        label="Decisions"
        rows={alert.decisions.slice(-30)}
        keyOf={decisionKey}
        columns={[
          WHEN,
          OUTCOME,
          {
            head: "Check that decided",
            show: ({ gates }) => {
              const failed = gates.find(({ passed }) => !passed);
              return failed === undefined
                ? "all passed"
                : `${gateText(failed.name)}: ${failed.value === null ? "∞" : numberText(failed.value)} of ${failed.limit === null ? "–" : numberText(failed.limit)}`;
            },
          },
          Z_SCORE,
        ]}
      />
      {!alert.decisions_complete && <p class="faint">There were more decisions than are shown here.</p>}
    </Panel>
  );
}

const DELIVERY_TONES = { pending: "accent", delivered: "good", superseded: "", exhausted: "high" } as const;

function Deliveries({ alert }: { alert: AlertDetail }) {
  return (
    <Panel title="Notifications">
      {alert.delivery_note !== null && <p class="note warn">{alert.delivery_note}</p>}
      {alert.deliveries.length === 0 ? (
        <Empty title="No message left" />
      ) : (
        <ul class="stack">
          {alert.deliveries.map((delivery) => (
            <li key={JSON.stringify(delivery)} class="row">
              <Tag tone={DELIVERY_TONES[delivery.state]}>{delivery.state}</Tag>
              <Name text={delivery.channel} />
              <When at={delivery.delivered_at ?? delivery.sent_at} />
              {delivery.error !== null && <span class="soft">{delivery.error}</span>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface TimelineAnswer {
  readonly entries: ReadonlyArray<{ readonly at: string; readonly kind: string; readonly by: string | null; readonly text: string }>;
  readonly page_token: string;
}

const TIMELINE_ROWS = 200;

/** All that happened to it, from found to resolved. */
function Timeline({ alert }: { alert: AlertDetail }) {
  const path = { alert_id: alert.alert_id };
  const answer = useAnswer<TimelineAnswer>("GET /api/v1/alerts/{alert_id}/timeline", { path, query: { limit: TIMELINE_ROWS } }, 10_000);
  return (
    <Panel title="Timeline">
      <Shown of={answer} rows={4}>
        {({ entries, page_token }) => (
          <>
            <ol class="timeline">
              {entries.map(({ at, kind, by, text }, index) => (
                <li key={`${at} ${kind} ${index}`}>
                  <When at={at} /> <strong>{kind.replaceAll("_", " ")}</strong> {by !== null && `by ${by}`} <span class="soft">{text}</span>
                </li>
              ))}
            </ol>
            {page_token !== "" && <p class="faint">More has happened than is shown here.</p>}
          </>
        )}
      </Shown>
    </Panel>
  );
}
