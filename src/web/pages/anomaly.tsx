// One anomaly: what, against what was usual, why people were told or not, and what can be done about it.
import { useEffect, useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, copyText, Empty, Head, Name, Panel, SeverityMark, Shown, Tag, When } from "../parts/basics.tsx";
import { CauseSummary } from "../parts/cause-summary.tsx";
import { NotifiedState } from "../parts/notified-state.tsx";
import { SeriesChart } from "../parts/series-chart.tsx";
import { SilenceDialog } from "../parts/silence-dialog.tsx";
import { Facts } from "../parts/table.tsx";
import { TakenAlert } from "../parts/taken-alert.tsx";
import { notify } from "../state/notices.tsx";
import { link, now, route, zone } from "../state/route.ts";
import { setTitle } from "../state/title.ts";
import { LEAD_MS, TAIL_MS } from "../view/chart-columns.ts";
import { feedbackText } from "../view/feedback-text.ts";
import { countText, numberText } from "../view/number-text.ts";
import { isLate, openText } from "../view/open-text.ts";
import { anomalyText, detectorText, gateText, hasSeries, outcomeText, verdictFacts } from "../view/reason.ts";
import { ruleFigure } from "../view/rule-figure.ts";
import type { Anomaly, AnomalyDetail, Report } from "../view/shapes.ts";

export function AnomalyPage({ rest }: { rest: readonly string[] }) {
  const id = rest[0] ?? "";
  const answer = useAnswer<AnomalyDetail>("GET /api/v1/anomalies/{id}", { path: { id } }, 15_000);
  return <Shown of={answer}>{(anomaly) => <Whole anomaly={anomaly} />}</Shown>;
}

function Whole({ anomaly }: { anomaly: AnomalyDetail }) {
  const { service_id, metric_name, environment, severity, resolved } = anomaly;
  const isSent = anomaly.detector === "external";
  const window = chartWindow(anomaly);
  useEffect(() => setTitle(`${service_id} ${metric_name}`, environment), []);
  return (
    <>
      <Head
        title={
          <>
            <Name text={service_id} /> <span class="faint">·</span> <Name text={metric_name} />
          </>
        }
        about={
          <span class="row">
            <SeverityMark severity={severity} />
            <Tag tone={resolved ? "good" : severity}>{resolved ? endOf(anomaly) : "open"}</Tag>
            {environment !== "" && <Tag>{environment}</Tag>}
            <Began anomaly={anomaly} />
          </span>
        }
      >
        <Actions anomaly={anomaly} />
      </Head>
      <section class="panel stack" aria-label="What happened">
        <p class="reason">{anomaly.explanation}</p>
        {anomaly.series !== null ? (
          <SeriesChart
            serviceId={service_id}
            metricName={metric_name}
            environment={environment}
            attributes={anomaly.series.attributes ?? undefined}
            {...window}
            isZoomable
          />
        ) : (
          <p class="faint">
            {isSent
              ? "It came in as an alert, without a series to draw."
              : "This rule looks at the whole service, so there is no single series to draw. Its numbers stand with the checks below."}
          </p>
        )}
      </section>
      <div class="split">
        <div class="stack wide">
          <NotificationLine anomaly={anomaly} />
          <Gates anomaly={anomaly} />
        </div>
        <div class="stack wide">
          <Cause anomaly={anomaly} />
          {isSent ? <TakenAlert anomaly={anomaly} /> : <Numbers anomaly={anomaly} />}
          <Links anomaly={anomaly} />
          <Similar anomaly={anomaly} />
        </div>
      </div>
    </>
  );
}

function Numbers({ anomaly: { detector, verdict, metric_name, ...anomaly } }: { anomaly: AnomalyDetail }) {
  return (
    <Panel title="The numbers">
      <Facts
        facts={[
          ["Detected by", detectorText(detector)],
          ...(verdict === undefined || verdict === null || !hasSeries(metric_name) ? [] : verdictFacts(verdict, "")),
          ["Score", numberText(anomaly.anomaly_score)],
          ["Streams", String(anomaly.streams)],
          ...Object.entries(anomaly.attributes).map(([name, value]) => [name, <Name text={String(value)} key={name} />] as const),
        ]}
      />
    </Panel>
  );
}

/** The range of the address, else the time around it. */
function chartWindow({ started_at, resolved_at, observed_at }: AnomalyDetail): { since: string; until: string } {
  const { from, to } = route.value.query;
  const startMs = Date.parse(started_at);
  const endMs = Math.max(Date.parse(observed_at), resolved_at === null ? Math.ceil(now.peek() / 60_000) * 60_000 : Date.parse(resolved_at));
  const lengthMs = Math.min(endMs - startMs, 86_400_000);
  const first = new Date(startMs - Math.max(LEAD_MS, lengthMs)).toISOString();
  const last = new Date(startMs + lengthMs + TAIL_MS).toISOString();
  return { since: from ?? first, until: to ?? last };
}

/** When it began and was found, and how long it was open. */
function Began({ anomaly: { started_at, detected_at, resolved_at } }: { anomaly: AnomalyDetail }) {
  return (
    <span>
      began <When at={started_at} />
      {isLate(started_at, detected_at) && (
        <>
          , found <When at={detected_at} />
        </>
      )}
      , {openText({ startedAt: started_at, resolvedAt: resolved_at }, now.value)}
    </span>
  );
}

function Actions({ anomaly }: { anomaly: AnomalyDetail }) {
  const [isSilencing, setSilencing] = useState(false);
  const { anomaly_id: id, service_id, metric_name, environment } = anomaly;
  const change = async (body: object, said: string) => {
    await call("PATCH /api/v1/anomalies/{id}", { path: { id }, body });
    notify("good", said);
    noteChange();
  };
  const address = `${location.origin}${location.pathname}${link(["anomaly", id], { tz: zone.value })}`;
  return (
    <>
      <Button
        icon="check"
        pressed={anomaly.feedback === "true_positive"}
        keyHint="y"
        onClick={() => change({ feedback: "true_positive" }, "Noted: it was one")}
      >
        Real
      </Button>
      <Button
        icon="cross"
        pressed={anomaly.feedback === "false_positive"}
        keyHint="n"
        onClick={() => change({ feedback: "false_positive" }, "Noted: a false alarm. What it changes stands on this page")}
      >
        False alarm
      </Button>
      {!anomaly.resolved && (
        <Button keyHint="r" onClick={() => change({ resolved: true }, "Resolved")}>
          Resolve
        </Button>
      )}
      <Button icon="mute" keyHint="s" onClick={() => setSilencing(true)}>
        Silence
      </Button>
      <Button icon="copy" label="Copy as text" onClick={() => copyText(anomalyText(anomaly, address))} />
      {isSilencing && <SilenceDialog labels={{ service_id, metric_name, environment }} onClose={() => setSilencing(false)} />}
    </>
  );
}

/** Outcome of the anomaly, in a sentence. */
function NotificationLine({ anomaly }: { anomaly: AnomalyDetail }) {
  const { outcome, suppressed_by, alert_id, notification } = anomaly;
  return (
    <Panel title="Was anybody notified?" aside={<Tag>{outcomeText(outcome, suppressed_by) ?? "undecided"}</Tag>}>
      <NotifiedState of={notification} />
      {notification.at !== null && (
        <p class="faint">
          <When at={notification.at} />
        </p>
      )}
      {alert_id !== null && (
        <p>
          <a href={link(["alert", alert_id])}>Its alert</a>: history, who has it, and deliveries.
        </p>
      )}
      {anomaly.feedback !== null && (
        <p class="soft">
          {anomaly.feedback_by} says it was {anomaly.feedback === "true_positive" ? "real" : "a false alarm"}
          {anomaly.feedback_note ? `: ${anomaly.feedback_note}` : ""} (<When at={anomaly.feedback_at} />
          ). {feedbackText(anomaly.feedback, anomaly.feedback_at, anomaly.service_id, now.value)}
        </p>
      )}
    </Panel>
  );
}

function Gates({ anomaly }: { anomaly: AnomalyDetail }) {
  const own = (anomaly.verdict?.gates ?? []).map((gate) => ({ ...gate, stage: "detection" }));
  const paging = (anomaly.decision?.gates ?? []).map((gate) => ({ ...gate, stage: "paging" }));
  const gates = [...own, ...paging];
  if (gates.length === 0) return null;
  return (
    <Panel title="Checks, in order">
      <div class="scroll">
        <table class="gates">
          <thead>
            <tr>
              <th>Check</th>
              <th>Result</th>
              <th class="right">Value</th>
              <th class="right">Limit</th>
            </tr>
          </thead>
          <tbody>
            {gates.map(({ name, passed, value, limit, stage }, at) => (
              <tr key={`${stage} ${name} ${at}`}>
                <td title={name}>
                  {gateText(name)} <span class="faint">{stage}</span>
                </td>
                <td class="tight">
                  <Tag tone={passed ? "good" : "medium"}>{passed ? "✓ passed" : "✗ failed"}</Tag>
                </td>
                <td class="right">{ruleFigure({ name, stage, value })}</td>
                <td class="right">{limit === null ? "–" : ruleFigure({ name, stage, value: limit })}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Cause({ anomaly }: { anomaly: AnomalyDetail }) {
  const answer = useAnswer<{ reports: Report[] }>(
    "GET /api/v1/rca/reports",
    { query: { anomaly_id: anomaly.anomaly_id, limit: 1 } },
    anomaly.resolved ? 0 : 15_000,
  );
  const report = answer.data?.reports[0];
  if (answer.error?.code === "not_built") return null;
  return (
    <Panel title="Likely cause" aside={report && <a href={link(["analysis", report.anomaly_id])}>Evidence and impact</a>}>
      {report === undefined ? (
        <p class="faint">{anomaly.rca_triggered ? "An analysis is on its way." : "No analysis was made of it."}</p>
      ) : (
        <CauseSummary report={report} />
      )}
    </Panel>
  );
}

function Links({ anomaly }: { anomaly: AnomalyDetail }) {
  const { service_id, metric_name, environment, anomaly_id } = anomaly;
  const base = `${location.origin}${location.pathname}`;
  return (
    <Panel title="From here">
      <ul class="stack">
        <li>
          <a href={link(["service", service_id], { environment })}>The service</a>: all its series
        </li>
        <li>
          <a href={link(["graph"], { service: service_id, environment })}>What calls it, and what it calls</a>
        </li>
        <li>
          <a href={link(["ledger"], { service_id, metric_name, environment, at: anomaly.observed_at })}>
            Alert decision log of this series
          </a>
        </li>
        <li>
          <a href={link(["settings"], { service_id, metric_name })}>Its settings</a> in all environments, tried on its past first
        </li>
        <li class="row">
          <Button icon="copy" tone="quiet" onClick={() => copyText(`${base}${link(["anomaly", anomaly_id], { tz: zone.value })}`)}>
            Link
          </Button>
          <Button
            icon="copy"
            tone="quiet"
            onClick={() => copyText(`curl -H "Authorization: Bearer $TOKEN" ${base}api/v1/anomalies/${anomaly_id}`)}
          >
            curl
          </Button>
        </li>
      </ul>
    </Panel>
  );
}

/** How it ended, in words. */
function endOf({ resolved_by, accepted_level }: AnomalyDetail): string {
  if (accepted_level === null) return `resolved (${resolved_by})`;
  return `new level: from ${numberText(accepted_level.from)} to ${numberText(accepted_level.to)}`;
}

function Similar({ anomaly }: { anomaly: AnomalyDetail }) {
  const { service_id, metric_name, environment, anomaly_id } = anomaly;
  const pair = { service_id, metric_name, environment };
  const answer = useAnswer<{ anomalies: Anomaly[]; total: number }>("GET /api/v1/anomalies", {
    query: { ...pair, limit: 8, view: "list" },
  });
  const others = (answer.data?.anomalies ?? []).filter((one) => one.anomaly_id !== anomaly_id).slice(0, 6);
  const otherCount = answer.data === undefined ? null : Math.max(others.length, answer.data.total - 1);
  return (
    <Panel
      title="The same series at other times"
      aside={
        otherCount !== null && otherCount > 0 && <a href={link(["anomalies"], { ...pair, range: "30d" })}>{countText(otherCount)} others</a>
      }
    >
      {others.length === 0 ? (
        <Empty title="It has not happened at another time" />
      ) : (
        <ul class="stack">
          {others.map((one) => (
            <li key={one.anomaly_id} class="row">
              <SeverityMark severity={one.severity} isBare />
              <a href={link(["anomaly", one.anomaly_id])}>
                <When at={one.detected_at} />
              </a>
              <span class="faint">
                {one.direction === "high" ? "above" : "below"} the usual, score {numberText(one.anomaly_score)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
