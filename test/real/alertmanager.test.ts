/** A real Alertmanager whose webhook is this server's ALERTS_PORT: its alerts are anomalies of their own with a report, its repeats change nothing, its resolution ends them. */
import { afterAll, describe, expect, it } from "vitest";
import { AlertmanagerPeer, freePort, hasAlertmanager } from "../support/alertmanager-peer.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const installed = hasAlertmanager();
if (!installed)
  process.stderr.write(
    "alertmanager.test.ts is skipped: prometheus-alertmanager is not installed (apt-get install prometheus-alertmanager)\n",
  );

type Until = <T>(ask: () => Promise<T | undefined>) => Promise<T>;

/** Two servers evaluate one rule and send each its own start: one page, which ends with the last of them. */
async function pair(peer: AlertmanagerPeer, client: ServerClient, come: Until): Promise<void> {
  const startMs = Date.now();
  const of = (replica: string, end: object = {}) => ({
    labels: { alertname: "DiskFull", service: "storage", severity: "critical", replica },
    startsAt: new Date(startMs - (replica === "a" ? 60_000 : 53_000)).toISOString(),
    ...end,
  });
  const alert = async () => (await client.get("/api/v1/alerts?service_id=storage")).json().alerts[0];
  const anomalies = async () => (await client.get("/api/v1/anomalies?service_id=storage")).json().anomalies;
  await peer.post(of("a"));
  await peer.post(of("b"));
  const { alert_id } = await come(alert);
  await peer.post(of("b", { endsAt: new Date().toISOString() }));
  // What is posted behind it has come, and so has the end of the one replica.
  await peer.post({ ...of("a"), labels: { ...of("a").labels, instance: "later" } });
  await come(async () => ((await anomalies()).length === 2 ? true : undefined));
  const own = async () => (await client.get(`/api/v1/alerts/${alert_id}`)).json();
  expect(await own()).toMatchObject({ state: "firing", pages: 1, anomalies: 1 });
  await peer.post(of("a", { endsAt: new Date().toISOString() }));
  await come(async () => ((await own()).state === "resolved" ? true : undefined));
  expect(await own()).toMatchObject({ pages: 1, anomalies: 1, resolved_by: "upstream" });
}

describe.skipIf(!installed)("a real Alertmanager", () => {
  const bench = new ServerBench();
  const peer = new AlertmanagerPeer();
  afterAll(async () => {
    await peer.close();
    await bench.close();
  });

  it("has its alert taken as an anomaly that is analysed, and resolved with it; two replicas of a rule are one page until the last ends", async () => {
    const port = await freePort();
    const client = new ServerClient((await bench.start({ ALERTS_PORT: String(port) })).origin);
    await peer.start(`http://127.0.0.1:${port}/api/v1/alerts/webhook`);
    const come = async <T>(ask: () => Promise<T | undefined>): Promise<T> =>
      (await until("it comes", ask, undefined, { patienceMs: PATIENCE_MS, everyMs: 100 })) as T;
    const anomalies = async () => (await client.get("/api/v1/anomalies?service_id=checkout")).json().anomalies;
    const alert = {
      labels: { alertname: "HighErrorRate", service: "checkout", severity: "critical", environment: "prod" },
      annotations: { summary: "5 % of requests fail" },
      startsAt: new Date(Date.now() - 60_000).toISOString(),
    };
    await peer.post(alert);
    const [anomaly] = await come(async () => ((await anomalies()).length > 0 ? anomalies() : undefined));
    expect(anomaly).toMatchObject({
      service_id: "checkout",
      metric_name: "HighErrorRate",
      severity: "high",
      environment: "prod",
      explanation: "5 % of requests fail",
      rca_triggered: true,
      resolved: false,
    });
    const reports = `/api/v1/rca/reports?anomaly_id=${anomaly.anomaly_id}`;
    const report = await come(async () => (await client.get(reports)).json().reports[0]);
    // An alert alone says nothing of a cause.
    expect(report).toMatchObject({ service_id: "checkout", metric_name: "HighErrorRate", enough: false, category: "unknown" });
    await peer.post(alert);
    await peer.post({ ...alert, endsAt: new Date().toISOString() });
    const [ended] = await come(async () => {
      const found = await anomalies();
      return found[0]?.resolved === true ? found : undefined;
    });
    expect([(await anomalies()).length, ended.anomaly_id]).toEqual([1, anomaly.anomaly_id]);
    const other = await fetch(`http://127.0.0.1:${port}/api/v1/anomalies`);
    expect(other.status).toBe(404);
    await pair(peer, client, come);
    client.close();
  });
});
