// The overview: firing alerts, worst first, and who has each; how the server does; where nothing has come yet, how to send something.
import { useEffect } from "preact/hooks";
import { isRead, useAnswer } from "../client/answers.ts";
import { listen } from "../live/stream.ts";
import { AlertRow } from "../parts/alert-row.tsx";
import { AnomalyItem } from "../parts/anomaly-item.tsx";
import { Empty, FreshButton, Head, Name, Panel, SeverityMark, Shown, Tag, When } from "../parts/basics.tsx";
import { ChannelBanner } from "../parts/channels.tsx";
import { InEnvironment } from "../parts/environment.tsx";
import { FirstSteps } from "../parts/first-steps.tsx";
import { useLiveList } from "../parts/live-list.ts";
import { link } from "../state/route.ts";
import { feedRows, severityRank } from "../view/feed.ts";
import { countText, numberText, percentText, plural } from "../view/number-text.ts";
import type { Alert, Anomaly, Service, Status } from "../view/shapes.ts";

const FIRING_ROWS = 100;

export function Now() {
  const list = useLiveList<Alert>({
    key: "GET /api/v1/alerts",
    call: { query: { state: "firing", limit: FIRING_ROWS } },
    member: "alerts",
    event: "alert",
    idOf: ({ alert_id }) => alert_id,
    matches: ({ state }) => state === "firing",
  });
  const status = useAnswer<Status>("GET /api/v1/status", {}, 10_000);
  useEffect(() => listen({ onEvent: (event) => event === "status" && status.reload(), onGap: status.reload }), []);
  const firing = list.rows.filter(({ state }) => state === "firing").sort(worstFirst);
  const notified = firing.filter(({ notification }) => notification.state === "told");
  const suppressed = firing.filter(({ notification }) => notification.state !== "told");
  return (
    <>
      <Head title="Overview" about="Firing alerts, the most severe first: what differs from the usual, and who has it." />
      <ChannelBanner status={status.data} />
      <Figures
        status={status.data}
        firing={isRead(list.answer) ? { notified: notified.length, suppressed: suppressed.length } : undefined}
      />
      <FreshButton count={list.fresh} onShow={list.showFresh} />
      <Shown of={list.answer}>
        {() => (
          <>
            <section class="panel flush" aria-label="Firing">
              <div class="panel-head">
                <h2>Firing</h2>
                <a href={link(["alerts"])}>All alerts</a>
              </div>
              {notified.length === 0 ? (
                <Empty title="No alert with a notification is firing" />
              ) : (
                <ul class="list">
                  {notified.map((alert) => (
                    <AlertRow alert={alert} key={alert.alert_id} />
                  ))}
                </ul>
              )}
            </section>
            {suppressed.length > 0 && (
              <section class="panel flush" aria-label="On hold">
                <div class="panel-head">
                  <h2>On hold: nobody was notified so far</h2>
                  <span class="faint">{plural(suppressed.length, "alert", "alerts")}, each with the reason why</span>
                </div>
                <ul class="list">
                  {suppressed.slice(0, 8).map((alert) => (
                    <AlertRow alert={alert} key={alert.alert_id} />
                  ))}
                </ul>
                {suppressed.length > 8 && (
                  <p class="more">
                    <a href={link(["alerts"], { state: "firing" })}>{suppressed.length - 8} more</a>
                  </p>
                )}
              </section>
            )}
          </>
        )}
      </Shown>
      <Latest isFresh={(status.data?.watchdog.metrics_monitored ?? 1) === 0} />
      <Silent />
    </>
  );
}

function worstFirst(a: Alert, b: Alert): number {
  const isTaken = (alert: Alert) => Number(alert.acknowledged_by !== null);
  return isTaken(a) - isTaken(b) || severityRank(b.severity) - severityRank(a.severity) || (a.started_at < b.started_at ? 1 : -1);
}

/** `firing` is undefined where nobody knows: a dash, never a green 0. */
function Figures({ status, firing }: { status: Status | undefined; firing: { notified: number; suppressed: number } | undefined }) {
  const store = status?.store;
  return (
    <dl class="figures">
      <div class="figure">
        <dt>Firing</dt>
        <dd class={firing === undefined ? "" : firing.notified > 0 ? "bad" : firing.suppressed > 0 ? "" : "good"}>
          {firing === undefined ? "–" : firing.notified}{" "}
          <small>{firing !== undefined && firing.suppressed > 0 ? `and ${firing.suppressed} on hold` : "alerts"}</small>
        </dd>
      </div>
      <div class="figure">
        <dt>Detected in the last hour</dt>
        <dd>
          <a href={link(["anomalies"], { range: "1h" })}>{status === undefined ? "–" : countText(status.watchdog.anomalies_last_hour)}</a>{" "}
          <small>anomalies</small>
        </dd>
      </div>
      <div class="figure">
        <dt>Monitored</dt>
        <dd>
          <a href={link(["services"])}>{status === undefined ? "–" : countText(status.watchdog.metrics_monitored)}</a> <small>series</small>
        </dd>
      </div>
      <div class="figure">
        <dt>Detection latency</dt>
        <dd>
          {status?.detection.p99_ms == null ? "–" : `${numberText(Number(status.detection.p99_ms.toPrecision(2)))} ms`}{" "}
          <small
            title={`half within ${status?.detection.p50_ms ?? "–"} ms of the arrival of the sample, of ${status?.detection.count ?? 0}`}
          >
            p99
          </small>
        </dd>
      </div>
      <div class="figure">
        <dt>Disk</dt>
        <dd class={store?.state === "read_only" ? "bad" : ""}>
          <a href={link(["system"])}>{store?.fill === null || store === undefined ? "–" : percentText(store.fill)}</a>{" "}
          <small>{store?.state === "read_only" ? "refuses writes" : "full"}</small>
        </dd>
      </div>
      <div class="figure">
        <dt>Server</dt>
        <dd class={status === undefined ? "" : status.status === "ok" ? "good" : "bad"}>
          <a href={link(["system"])}>{status?.status ?? "–"}</a>
        </dd>
      </div>
    </dl>
  );
}

const LATEST_ROWS = 60;
const LATEST_SHOWN = 6;

function Latest({ isFresh }: { isFresh: boolean }) {
  const list = useLiveList<Anomaly>({
    key: "GET /api/v1/anomalies",
    call: { query: { limit: LATEST_ROWS, view: "list" } },
    member: "anomalies",
    event: "anomaly",
    idOf: ({ anomaly_id }) => anomaly_id,
    matches: () => true,
  });
  const rows = feedRows(list.rows).slice(0, LATEST_SHOWN);
  if (isFresh && rows.length === 0) return <FirstSteps />;
  return (
    <>
      <FreshButton count={list.fresh} onShow={list.showFresh} />
      <section class="panel flush" aria-label="Latest anomalies">
        <div class="panel-head">
          <h2>Latest anomalies</h2>
          <a href={link(["anomalies"])}>All anomalies</a>
        </div>
        <Shown of={list.answer}>
          {() =>
            rows.length === 0 ? (
              <Empty title="Nothing out of the ordinary so far">
                A series is judged from its 12th sample on. <a href={link(["send"])}>Send something</a> or run <code>vedette demo</code>.
              </Empty>
            ) : (
              <ul class="list">
                {rows.map((row) => (
                  <AnomalyItem row={row} key={row.key} />
                ))}
              </ul>
            )
          }
        </Shown>
      </section>
    </>
  );
}

/** Services with something open, worst first. */
function Silent() {
  const answer = useAnswer<{ services: Service[]; total: number }>(
    "GET /api/v1/services",
    { query: { state: "open", sort: "worst", limit: 12 } },
    15_000,
  );
  const services = answer.data?.services ?? [];
  if (services.length === 0) return null;
  return (
    <Panel title="Services with something open" aside={<a href={link(["services"], { state: "open" })}>{answer.data?.total} in all</a>}>
      <ul class="chips">
        {services.map(({ service_id, environment, worst_severity, open_anomalies, last_sample }) => (
          <li key={`${environment} ${service_id}`}>
            <a href={link(["service", service_id], { environment })} class="chip">
              {worst_severity !== null && <SeverityMark severity={worst_severity} isBare />} <Name text={service_id} />
              <InEnvironment of={environment} /> <Tag>{open_anomalies}</Tag>
              <span class="faint">
                <When at={last_sample} ago />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
