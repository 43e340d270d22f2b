// People are told: from a spike, or an anomaly by hand, to the receivers of chat, pager and on-call service, over failures and kill -9.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IncomingWebhook } from "@slack/webhook";
import { afterEach, describe, expect, it } from "vitest";
import { parseBody } from "../../src/api/body-parsing.ts";
import { freePort } from "../support/alertmanager-peer.ts";
import { FakeReceivers } from "../support/fake-receivers.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const SECRET_PATH = "/slack/T0/B0/topsecret";

const bench = new ServerBench();
const opened: FakeReceivers[] = [];
afterEach(async () => {
  for (const receivers of opened.splice(0)) receivers.close();
  await bench.close();
});

async function receiversOf(): Promise<FakeReceivers> {
  const receivers = await FakeReceivers.open();
  opened.push(receivers);
  return receivers;
}

const settingsOf = (receivers: FakeReceivers): Record<string, string> => ({
  ENGINES: "1",
  CHAT_WEBHOOK_URL: `${receivers.origin}${SECRET_PATH}`,
  PAGER_ROUTING_KEY: KEY,
  PAGER_URL: `${receivers.origin}/pd/v2/enqueue`,
  ALERTOPS_API_KEY: "k-1",
  ONCALL_BASE_URL: `${receivers.origin}/opsgenie`,
  ONCALL_DEFAULT_TEAM: "sre",
  NOTIFY_LIMITS: "chat=1000,pager=1000,oncall=1000",
});

/** As the owner, whose token the first start has written. */
async function call(server: ServerProcess, folder: string, method: string, path: string, body?: unknown) {
  const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) };
  const response = await fetch(`${server.origin}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
  return { status: response.status, text, body: text === "" ? null : (JSON.parse(text) as any) };
}

/** What is told of, once it is as wanted: the server tells in its own time. */
function awaited<T>(ask: () => T | Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  return until("it is told", ask, isWanted, { patienceMs: PATIENCE_MS });
}

async function declare(server: ServerProcess, folder: string, service: string): Promise<{ anomaly_id: string; alert_id: string }> {
  const { status, body } = await call(server, folder, "POST", "/api/v1/anomalies", {
    service_id: service,
    severity: "high",
    explanation: `${service} & <co> are down`,
  });
  expect(status).toBe(201);
  return { anomaly_id: body.anomaly_id, alert_id: body.alert_id };
}

const resolve = (server: ServerProcess, folder: string, id: string) =>
  call(server, folder, "PATCH", `/api/v1/anomalies/${id}`, { resolved: true });

/** Alerts of an Alertmanager, in the warm-up: they go by the same rules, by their labels and their source, and their end goes where they went. */
async function inboundAlerts(receivers: FakeReceivers, server: ServerProcess, folder: string, port: number): Promise<void> {
  receivers.received.length = 0;
  const rule = {
    name: "eu",
    priority: 1,
    source: "alertmanager",
    label_matchers: { cluster: "eu" },
    environment: "prod",
    severity: "high",
  };
  expect((await call(server, folder, "POST", "/api/v1/routing/rules", { ...rule, channels: ["chat:ops"] })).status).toBe(201);
  const send = async (status: string, cluster: string) => {
    const labels = { alertname: "HighErrorRate", service: "cart", severity: "critical", environment: "prod", cluster };
    const alert = { status, labels, annotations: { summary: "5 % fail" }, startsAt: "2026-01-31T12:00:00Z" };
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/alerts/webhook`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ alerts: [alert], groupLabels: {} }),
    });
    expect(answer.status).toBe(200);
  };
  const told = () => receivers.received.map(({ path, body }) => `${path} ${body.event_action ?? String(body.text).split(",")[0]}`).sort();
  await send("firing", "eu");
  await awaited(told, (lines) => lines.length === 1);
  await send("resolved", "eu");
  await awaited(told, (lines) => lines.length === 2);
  expect(told()).toEqual(["/slack/T/B/opssecret Firing: high", "/slack/T/B/opssecret Resolved: high"]);
  const { alerts } = (await call(server, folder, "GET", "/api/v1/alerts")).body;
  const own = alerts.find(({ services, service_id }: { services: string[]; service_id: string }) => (service_id ?? services[0]) === "cart");
  // A receiver has a message before the server has its answer.
  const { deliveries } = await awaited(
    async () => (await call(server, folder, "GET", `/api/v1/alerts/${own.alert_id}`)).body,
    (shown) => shown.deliveries.every(({ state }: { state: string }) => state === "delivered"),
  );
  expect(deliveries).toMatchObject([{ channel: "chat:ops", state: "delivered" }]);
  receivers.received.length = 0;
}

describe("the fake receivers", () => {
  it("take what the real Alertmanager's notifiers send, and refuse what is none of it", async () => {
    const receivers = await receiversOf();
    const lines = readFileSync(new URL("../golden/alertmanager-notifiers.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    const sent = lines.map((line) => JSON.parse(line)).filter(({ url }) => url !== "/webhook");
    expect(sent.map(({ url, headers, body }) => receivers.judge(url, headers.authorization, JSON.stringify(body)))).toEqual([
      200, 202, 202, 202, 202, 200,
    ]);
    expect(receivers.faults).toEqual([]);
    // Its webhook notifier's bodies are what our own port of alerts takes.
    const webhooks = lines.map((line) => JSON.parse(line)).filter(({ url }) => url === "/webhook");
    expect(webhooks.length).toBeGreaterThan(0);
    for (const { body } of webhooks) expect(parseBody("alertWebhook", JSON.stringify(body)).ok).toBe(true);
    // Slack's own client.
    const hook = new IncomingWebhook(`${receivers.origin}/slack/T0/B0/x`);
    expect(await hook.send({ text: "hello", attachments: [{ fallback: "hello", text: "there" }] })).toEqual({ text: "ok" });
    expect(receivers.at("/slack/")).toHaveLength(1);
    expect(receivers.judge("/pd/v2/enqueue", undefined, "{}")).toBe(400);
    expect(receivers.judge("/slack/a", undefined, "{}")).toBe(400);
    expect(receivers.judge("/opsgenie/v2/alerts", "GenieKey k", "{}")).toBe(400);
  });
});

describe("an alert", () => {
  it("is told on a spike through every notifier, and its end in the same places under the same keys", async () => {
    const receivers = await receiversOf();
    const folder = bench.dataFolder();
    const server = await bench.start({ ...settingsOf(receivers), DATA_DIR: folder, WATCHDOG_WARMUP_MINUTES: "0" });
    const from = Date.now() - 60_000;
    const values = [...Array.from({ length: 60 }, (_, i) => 100 + ((i * 7) % 11) / 10), 900, 950, 900];
    const records = values.map((value, i) => ({
      service_id: "checkout",
      metric_name: "latency_ms",
      value,
      timestamp: new Date(from + i * 500).toISOString(),
    }));
    const sent = await call(server, folder, "POST", "/api/v1/telemetry/batch", records);
    expect(sent.body.queued).toBe(records.length);
    await awaited(
      () => receivers.received.length,
      (count) => count >= 3,
    );
    const { alerts } = (await call(server, folder, "GET", "/api/v1/alerts")).body;
    const [{ alert_id }] = alerts;
    const [chat] = receivers.at("/slack/");
    expect(chat?.body.text).toMatch(/^Firing: high, checkout, latency_ms/);
    expect(receivers.at("/pd/")[0]?.body).toMatchObject({
      event_action: "trigger",
      dedup_key: alert_id,
      payload: { severity: "critical" },
    });
    expect(receivers.at("/opsgenie/")[0]?.body).toMatchObject({ alias: alert_id, responders: [{ type: "team", name: "sre" }] });
    const calm = Array.from({ length: 8 }, (_, i) => ({
      ...records[0],
      value: 100.5,
      timestamp: new Date(from + 40_000 + i * 500).toISOString(),
    }));
    await call(server, folder, "POST", "/api/v1/telemetry/batch", calm);
    // Between page and end an analysis may say what the cause is, once.
    const ends = () => [
      receivers.at("/slack/").find(({ body }) => /^Resolved: /.test(body.text)),
      receivers.at("/pd/").find(({ body }) => body.event_action === "resolve" && body.dedup_key === alert_id),
      receivers.at("/opsgenie/").find(({ path }) => path.includes(`/${alert_id}/close?`)),
    ];
    await awaited(ends, (each) => each.every((end) => end !== undefined));
    for (const at of ["/slack/", "/pd/", "/opsgenie/"]) expect(receivers.at(at).length, at).toBeLessThanOrEqual(3);
    expect(receivers.faults).toEqual([]);
    const told = await awaited(
      async () => (await call(server, folder, "GET", `/api/v1/alerts/${alert_id}`)).body,
      ({ deliveries }) => deliveries.every(({ state }: { state: string }) => state === "delivered"),
    );
    expect(told.deliveries).toHaveLength(3);
    expect(told.deliveries[0]).toMatchObject({ rule_id: "catch-all", attempts: 1, error: null, fallback: false });
    // A receiver has a message before the server has its answer, and counts it.
    const metrics = await awaited(
      async () => (await fetch(`${server.origin}/metrics`)).text(),
      (page) => page.includes("vedette_outbox_depth 0") && /vedette_notify_latency_seconds_count [6-9]/.test(page),
    );
    const delivered = receivers.at("/slack/").length;
    expect(metrics).toContain(`vedette_notifications_total{notifier="chat",outcome="delivered"} ${delivered}`);
    await server.stop();
  });

  it("ends everywhere although the server is killed between the page and the end, and the receiver is away", async () => {
    const receivers = await receiversOf();
    const settings = { ...settingsOf(receivers), DATA_DIR: bench.dataFolder() };
    const { DATA_DIR: folder } = settings;
    let server = await bench.start(settings);
    const { anomaly_id, alert_id } = await declare(server, folder, "cart");
    await awaited(
      () => receivers.received.length,
      (count) => count === 3,
    );
    receivers.behaviour = () => 503;
    await resolve(server, folder, anomaly_id);
    await server.kill();
    receivers.behaviour = () => undefined;
    server = await bench.start(settings);
    await awaited(
      () => receivers.received.length,
      (count) => count >= 6,
    );
    const ends = receivers.received.slice(3);
    expect(ends.filter(({ path }) => path.startsWith("/pd/")).map(({ body }) => [body.event_action, body.dedup_key])).toContainEqual([
      "resolve",
      alert_id,
    ]);
    expect(ends.some(({ path }) => path.includes(`${alert_id}/close`))).toBe(true);
    expect(ends.some(({ body }) => String(body.text).startsWith("Resolved"))).toBe(true);
    expect(ends.some(({ body }) => String(body.text).startsWith("Firing"))).toBe(false);
  });

  it("goes by the rules, falls back, and shows no secret anywhere", async () => {
    const receivers = await receiversOf();
    const folder = bench.dataFolder();
    const alertsPort = await freePort();
    const settings = {
      ...settingsOf(receivers),
      DATA_DIR: folder,
      LOG_LEVEL: "debug",
      ALERTS_PORT: String(alertsPort),
      CHAT_WEBHOOKS: `ops=${receivers.origin}/slack/T/B/opssecret,acme/own=${receivers.origin}/slack/T/B/acmesecret`,
    };
    const server = await bench.start(settings);
    const rule = { name: "cart", priority: 10, service_pattern: "cart*", channels: ["chat:#ops", "pager:nobody"] };
    const made = await call(server, folder, "POST", "/api/v1/routing/rules", rule);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ channels: ["chat:ops", "pager:nobody"], unresolved_targets: ["pager:nobody"] });
    expect(made.body.warnings).toHaveLength(1);
    const tested = await call(server, folder, "POST", "/api/v1/routing/test", { service_id: "cart-eu" });
    expect(tested.body).toMatchObject({
      rule: { id: made.body.id },
      resolved: [
        { channel: "chat:ops", target: "ops", fallback: false },
        { channel: "pager:nobody", target: "", fallback: true },
      ],
    });
    // Another tenant's name is nobody's here.
    const foreign = await call(server, folder, "POST", "/api/v1/routing/rules", {
      ...rule,
      name: "x",
      priority: 5,
      service_pattern: "x",
      channels: ["chat:own"],
    });
    expect(foreign.body.unresolved_targets).toEqual(["chat:own"]);
    const { alert_id } = await declare(server, folder, "cart-eu");
    await awaited(
      () => receivers.received.length,
      (count) => count === 2,
    );
    expect(receivers.received.map(({ path }) => path).sort()).toEqual(["/pd/v2/enqueue", "/slack/T/B/opssecret"]);
    await inboundAlerts(receivers, server, folder, alertsPort);
    receivers.behaviour = (path) => (path.startsWith("/slack/") ? 404 : undefined);
    await declare(server, folder, "cart-us");
    const dlq = await awaited(
      async () => await call(server, folder, "GET", "/api/v1/dlq?reason=channel_exhausted"),
      ({ body }) => body.total > 0,
    );
    const status = await call(server, folder, "GET", "/api/v1/status");
    expect(status.body.components.notifier).toBe("degraded");
    const list = await call(server, folder, "GET", "/api/v1/routing/rules");
    expect(list.body.rules.map(({ id }: { id: string }) => id).at(-1)).toBe("catch-all");
    const alert = await call(server, folder, "GET", `/api/v1/alerts/${alert_id}`);
    const metrics = await (await fetch(`${server.origin}/metrics`)).text();
    const audit = await call(server, folder, "GET", "/api/v1/audit");
    const said = [dlq, status, list, alert, audit, made, tested].map(({ text }) => text).join() + metrics + server.output;
    for (const secret of ["topsecret", "opssecret", "acmesecret", KEY, "k-1"]) expect(said, secret).not.toContain(secret);
    await server.stop();
  });

  it("says that nobody is told where nothing is configured, and a bad setting stops the start without showing it", async () => {
    const folder = bench.dataFolder();
    const server = await bench.start({ ENGINES: "1", DATA_DIR: folder });
    const { alert_id } = await declare(server, folder, "cart");
    const { body } = await call(server, folder, "GET", `/api/v1/alerts/${alert_id}`);
    expect([body.deliveries, body.delivery_note]).toEqual([[], "nobody is notified: no channel is configured"]);
    expect((await call(server, folder, "GET", "/api/v1/status")).body.components.notifier).toBe("disabled");
    const refused = bench.launch({ CHAT_WEBHOOKS: "ops=nourl-hush" });
    expect(await refused.ended).toBe(78);
    expect(refused.output).toContain("CHAT_WEBHOOKS of default/ops is no URL");
    expect(refused.output).not.toContain("hush");
  });
});
