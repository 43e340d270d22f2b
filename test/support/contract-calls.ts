// How each endpoint is brought to answer with success, and with the errors that are its own. By name; the order counts: later ones find what earlier ones made.
import { compressSync } from "snappy";
import { expect } from "vitest";
import { ALERT_CALLS } from "./contract-alert-calls.ts";
import { ANALYSIS_CALLS } from "./contract-analysis-calls.ts";
import { OTLP_LOGS, OTLP_METRICS, OTLP_SPANS, REFUSED_METRICS, SERVICE } from "./contract-bodies.ts";
import type { ContractDriver } from "./contract-driver.ts";
import { HOLDING_CALLS } from "./contract-holding-calls.ts";
import { OPERATION_CALLS } from "./contract-operation-calls.ts";
import { PREDICTION_CALLS } from "./contract-prediction-calls.ts";
import { PROMETHEUS_CALLS } from "./contract-prometheus-calls.ts";
import { ROUTING_CALLS } from "./contract-routing-calls.ts";
import { RUNBOOK_CALLS } from "./contract-runbook-calls.ts";
import { WEBHOOK_CALLS } from "./contract-webhook-calls.ts";
import { encodeBody } from "./remote-write-body.ts";

type Calls = Readonly<Record<string, (driver: ContractDriver) => Promise<void>>>;

const iso = (offsetMs = 0) => new Date(Date.now() + offsetMs).toISOString();
const metric = (value: unknown, offsetMs = -1000) => ({ service_id: SERVICE, metric_name: "m", value, timestamp: iso(offsetMs) });
const seriesQuery = { service_id: SERVICE, metric_name: "m" };

function remoteWrite(name: string) {
  return async ({ call }: Bound) => {
    const body = compressSync(
      Buffer.from(
        encodeBody([
          {
            labels: [
              ["__name__", "up"],
              ["job", SERVICE],
            ],
            samples: [{ value: 1, time: Date.now() }],
          },
        ]),
      ),
    );
    const headers = { "Content-Type": "application/x-protobuf", "Content-Encoding": "snappy" };
    await call(name, 204, { body, headers });
  };
}

function otlp(name: string, body: unknown) {
  return async ({ call }: Bound) => {
    await call(name, 200, { body });
    await call(name, 200, { body: new Uint8Array(0), headers: { "Content-Type": "application/x-protobuf" } });
  };
}

interface Bound {
  readonly call: ContractDriver["call"];
  readonly driver: ContractDriver;
}

const CALLS: Readonly<Record<string, (bound: Bound) => Promise<void>>> = {
  telemetry: async ({ call }) => {
    await call("telemetry", 200, { body: metric(1) });
    await call("telemetry", 400, { body: metric("x") });
  },
  telemetryBatch: async ({ call }) => {
    const log = { service_id: SERVICE, type: "log", body: "line", timestamp: iso() };
    const slo = { service_id: SERVICE, type: "slo", metric_name: "availability", value: 0.99, timestamp: iso(), trace_id: "t" };
    await call("telemetryBatch", 200, {
      body: [metric(2, -900), log, slo, { ...log, type: "event" }, { ...slo, type: "profile" }, { ...slo, type: "trace" }],
    });
    const partial = await call("telemetryBatch", 200, { body: [metric(3, -800), metric("x"), { metric_name: "m" }, 5] });
    expect(partial).toMatchObject({ status: "partial", queued: 1, failed: 3 });
  },
  remoteWrite: remoteWrite("remoteWrite"),
  remoteWriteOtherSpelling: remoteWrite("remoteWriteOtherSpelling"),
  otlpMetrics: async (bound) => {
    await otlp("otlpMetrics", OTLP_METRICS)(bound);
    expect(await bound.call("otlpMetrics", 200, { body: REFUSED_METRICS })).toMatchObject({ partialSuccess: { rejectedDataPoints: "1" } });
  },
  otlpTraces: otlp("otlpTraces", OTLP_SPANS),
  otlpLogs: otlp("otlpLogs", OTLP_LOGS),
  otlpMetricsOfBase: otlp("otlpMetricsOfBase", OTLP_METRICS),
  otlpTracesOfBase: otlp("otlpTracesOfBase", OTLP_SPANS),
  otlpLogsOfBase: otlp("otlpLogsOfBase", OTLP_LOGS),
  telemetryTypes: async ({ call }) => {
    await call("telemetryTypes", 200);
  },
  importHistory: async ({ call }) => {
    const line = (value: string) => `${SERVICE},old,${iso(-7_200_000)},${value}`;
    const body = ["service_id,metric_name,timestamp,value", line("1"), line("x")].join("\n");
    expect(await call("importHistory", 200, { body, headers: { "Content-Type": "text/csv" } })).toMatchObject({
      status: "partial",
      failed: 1,
    });
  },
  healthz: async ({ call }) => {
    await call("healthz", 200, { query: { anything: "1" } });
  },
  readyz: async ({ call }) => {
    await call("readyz", 200);
  },
  metrics: async ({ call }) => {
    await call("metrics", 200);
  },
  stream: async ({ call }) => {
    await call("stream", 200, { method: "HEAD" });
  },
  status: async ({ call }) => {
    await call("status", 200);
  },
  dataFaults: async ({ call }) => {
    await call("dataFaults", 200);
  },
  acknowledgeDataFaults: async ({ call }) => {
    await call("acknowledgeDataFaults", 200);
  },
  openapi: async ({ call }) => {
    await call("openapi", 200);
  },
  docs: async ({ call }) => {
    await call("docs", 200);
  },
  web: async ({ call }) => {
    await call("web", 200);
    await call("web", 200, { headers: { Accept: "text/html" } });
  },
  webFile: async ({ call }) => {
    await call("webFile", 200, { path: { file: "icon.svg" } });
    await call("webFile", 404, { path: { file: "none.js" } });
  },
  services: async ({ call }) => {
    const { services } = await call("services", 200, { query: { q: SERVICE.slice(0, 3).toUpperCase(), sort: "worst" } });
    expect(services.length).toBeGreaterThan(0);
    await call("services", 400, { query: { sort: "size" } });
  },
  graph: async ({ call }) => {
    await call("graph", 200, { query: { service_id: SERVICE, depth: "2" } });
    await call("graph", 400, { query: { depth: "7" } });
  },
  startSession: async ({ call }) => {
    await call("startSession", 204);
    await call("startSession", 401, { headers: { Authorization: "Bearer wrong" } });
  },
  endSession: async ({ call }) => {
    await call("endSession", 204);
  },
  dlqStats: async ({ call }) => {
    expect((await call("dlqStats", 200)).total_failed).toBeGreaterThan(0);
  },
  deadLetters: async ({ call }) => {
    const first = await call("deadLetters", 200, { query: { limit: "1" } });
    await call("deadLetters", 200, { query: { limit: "1", page_token: first.page_token } });
    await call("deadLetters", 400, { query: { limit: "1", page_token: "x" } });
    await call("deadLetters", 400, { query: { since: iso(), until: iso(-1000) } });
  },
  deadLetter: async (bound) => {
    await bound.call("deadLetter", 200, { path: { id: await deadLetterId(bound) } });
    await bound.call("deadLetter", 404, { path: { id: "0".repeat(44) } });
  },
  correctDeadLetter: async (bound) => {
    const id = await deadLetterId(bound);
    await bound.call("correctDeadLetter", 200, { path: { id }, body: metric("still text") });
    expect(await bound.call("correctDeadLetter", 200, { path: { id }, body: metric(4, -700) })).toMatchObject({ replayable: true });
    await bound.call("correctDeadLetter", 404, { path: { id: "0".repeat(44) }, body: metric(4) });
  },
  replayDeadLetters: async ({ call }) => {
    const filter = { service_id: SERVICE };
    expect((await call("replayDeadLetters", 200, { body: { filter, dry_run: true } })).entries.length).toBeGreaterThan(0);
    await call("replayDeadLetters", 200, { body: { ids: ["0".repeat(44)], dry_run: true } });
    await call("replayDeadLetters", 202, { body: { filter } });
    await call("replayDeadLetters", 400, { body: {} });
    await call("replayDeadLetters", 400, { body: { filter: { service: "x" } } });
    await call("replayDeadLetters", 400, { body: { filter: { since: "yesterday" } } });
  },
  replayJob: async ({ call }) => {
    const { job_id: id } = await call("replayDeadLetters", 202, { body: { filter: { service_id: SERVICE } } });
    await call("replayJob", 200, { path: { id } });
    await call("replayJob", 404, { path: { id: "0".repeat(32) } });
  },
  deleteDeadLetter: async (bound) => {
    await bound.call("telemetryBatch", 200, { body: [{ ...metric("gone"), metric_name: "gone" }] });
    const { entries } = await bound.call("deadLetters", 200, { query: { service_id: SERVICE, limit: "1" } });
    await bound.call("deleteDeadLetter", 204, { path: { id: entries[0].dlq_id } });
    await bound.call("deleteDeadLetter", 404, { path: { id: entries[0].dlq_id } });
  },
  anomalies: async (bound) => {
    await bound.call("anomalies", 200, { query: { service_id: "nobody" } });
    await bound.call("anomalies", 400, { query: { min_score: "2" } });
    expect(await anomalyId(bound)).toMatch(/^[0-9a-f]{32}$/);
  },
  anomaly: async (bound) => {
    await bound.call("anomaly", 200, { path: { id: await anomalyId(bound) } });
    await bound.call("anomaly", 404, { path: { id: "0".repeat(32) } });
  },
  changeAnomaly: async (bound) => {
    const path = { id: await anomalyId(bound) };
    const said = await bound.call("changeAnomaly", 200, { path, body: { feedback: "false_positive", note: "load test" } });
    expect(said).toMatchObject({ feedback: "false_positive", feedback_note: "load test" });
    expect(await bound.call("changeAnomaly", 200, { path, body: { resolved: true } })).toMatchObject({ resolved: true });
    await bound.call("changeAnomaly", 400, { path, body: {} });
    await bound.call("changeAnomaly", 400, { path, body: { resolved: false } });
    await bound.call("changeAnomaly", 404, { path: { id: "0".repeat(32) }, body: { resolved: true } });
  },
  declareAnomaly: async ({ call }) => {
    const body = { service_id: SERVICE, severity: "high", explanation: "customers cannot pay" };
    expect(await call("declareAnomaly", 201, { body })).toMatchObject({
      severity: "high",
      outcome: "paged",
      decision: { family: "manual" },
    });
    await call("declareAnomaly", 200, { body });
    await call("declareAnomaly", 201, { body: { ...body, metric_name: "orders", severity: "low", environment: "staging" } });
    await call("declareAnomaly", 400, { body: { ...body, severity: "fatal" } });
    await call("declareAnomaly", 400, { body: { ...body, service_id: "" } });
  },
  alerts: async ({ call }) => {
    const query = { service_id: SERVICE, state: "firing", family: "manual", severity: "high", environment: "" };
    expect((await call("alerts", 200, { query })).alerts).toHaveLength(1);
    const first = await call("alerts", 200, { query: { limit: "1" } });
    await call("alerts", 200, { query: { limit: "1", page_token: first.page_token } });
    await call("alerts", 400, { query: { limit: "1", page_token: "x" } });
    await call("alerts", 400, { query: { state: "open" } });
    await call("alerts", 400, { query: { since: iso(), until: iso(-1000) } });
  },
  alert: async (bound) => {
    const alert = await bound.call("alert", 200, { path: { alert_id: await alertId(bound) } });
    expect(alert).toMatchObject({
      decisions_complete: true,
      decisions: [{ outcome: "paged" }],
      history: [{ change: "opened" }, { change: "paged" }],
    });
    await bound.call("alert", 404, { path: { alert_id: "0".repeat(32) } });
  },
  assignAlert: async (bound) => {
    const path = { alert_id: await alertId(bound) };
    expect(await bound.call("assignAlert", 200, { path, body: { assignee: "ada" } })).toMatchObject({ assignee: "ada" });
    await bound.call("assignAlert", 200, { path, body: { assignee: null } });
    await bound.call("assignAlert", 400, { path, body: { assignee: "" } });
    await bound.call("assignAlert", 404, { path: { alert_id: "0".repeat(32) }, body: { assignee: "ada" } });
  },
  acknowledgeAlert: async (bound) => {
    const path = { alert_id: await alertId(bound) };
    expect(await bound.call("acknowledgeAlert", 200, { path, body: { by: "ada", note: "mine" } })).toMatchObject({
      acknowledged_by: "ada (owner)",
      note: "mine",
    });
    const { alerts } = await bound.call("alerts", 200, { query: { service_id: SERVICE, state: "resolved" } });
    await bound.call("acknowledgeAlert", 409, { path: { alert_id: alerts[0].alert_id }, body: {} });
    await bound.call("acknowledgeAlert", 404, { path: { alert_id: "0".repeat(32) }, body: {} });
  },
  series: async ({ call }) => {
    const first = await call("series", 200, { query: { limit: "2" } });
    await call("series", 200, { query: { limit: "2", page_token: first.page_token } });
  },
  seriesData: async ({ call }) => {
    for (const resolution of ["raw", "1m", "1h"]) {
      expect((await call("seriesData", 200, { query: { ...seriesQuery, resolution } })).points.length).toBeGreaterThan(0);
    }
    const several = await call("seriesData", 200, { query: { ...seriesQuery, series: "2", points: "10", metrics: '["absent"]' } });
    expect(several.more.length).toBeLessThan(2);
    await call("seriesData", 400, { query: { ...seriesQuery, series: "24", points: "2000" } });
    await call("seriesData", 404, { query: { ...seriesQuery, metric_name: "absent" } });
    await call("seriesData", 400, { query: { service_id: SERVICE } });
    await call("seriesData", 400, { query: { ...seriesQuery, attributes: "[]" } });
  },
  records: async ({ call }) => {
    for (const type of ["metric", "log", "trace", "event", "profile", "slo"]) {
      expect((await call("records", 200, { query: { type } })).records.length, type).toBeGreaterThan(0);
    }
    await call("records", 200, { query: { service_id: SERVICE } });
    await call("records", 400, { query: { type: "trance" } });
  },
  callGraph: async ({ call }) => {
    await call("callGraph", 200);
    await call("callGraph", 200, { query: { resolution: "1m" } });
    await call("callGraph", 400, { query: { since: iso(-10 * 86_400_000), until: iso() } });
  },
};

const ACCESS_CALLS: typeof CALLS = {
  permissions: async ({ call }) => {
    expect(await call("permissions", 200)).toMatchObject({ role: "super_admin", level: 40 });
  },
  createKey: async ({ call }) => {
    const body = { name: "made", scope: "ingestion", rate_limit_rps: 5, expires_at: "2999-01-01T00:00:00Z" };
    await call("createKey", 201, { body });
    await call("createKey", 201, { body: { name: "bare", scope: "readonly" } });
    await call("createKey", 400, { body: { ...body, scope: "all" } });
    await call("createKey", 400, { body: { ...body, expires_at: iso(-1000) } });
  },
  keys: async ({ call }) => {
    const first = await call("keys", 200, { query: { limit: "1" } });
    await call("keys", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  rotateKey: async (bound) => {
    await bound.call("rotateKey", 201, { path: { key_id: await keyId(bound) } });
    await bound.call("rotateKey", 404, { path: { key_id: "00000000" } });
  },
  rotateKeyOtherSpelling: async (bound) => {
    await bound.call("rotateKeyOtherSpelling", 201, { path: { key_id: await keyId(bound) } });
  },
  revokeKey: async (bound) => {
    const path = { key_id: await keyId(bound) };
    await bound.call("revokeKey", 204, { path });
    await bound.call("revokeKey", 404, { path });
  },
  createUser: async ({ call }) => {
    await call("createUser", 201, { body: { user_id: "ada@example.com", role: "operator", name: "Ada" } });
    await call("createUser", 409, { body: { user_id: "ada@example.com", role: "viewer" } });
    await call("createUser", 403, { body: { user_id: "root", role: "system" } });
  },
  putUser: async ({ call }) => {
    await call("putUser", 200, { path: { user_id: "ada@example.com" }, body: { role: "viewer" } });
    await call("putUser", 201, { path: { user_id: "bob" }, body: { role: "viewer", disabled: true } });
    await call("putUser", 400, { path: { user_id: "x".repeat(300) }, body: { role: "viewer" } });
  },
  patchUser: async ({ call }) => {
    await call("patchUser", 200, { path: { user_id: "bob" }, body: { disabled: false } });
    await call("patchUser", 404, { path: { user_id: "nobody" }, body: { disabled: false } });
  },
  users: async ({ call }) => {
    await call("users", 200, { query: { limit: "1" } });
    await call("users", 200, { query: { user_id: "bob" } });
  },
  deleteUser: async ({ call }) => {
    await call("deleteUser", 204, { path: { user_id: "bob" } });
    await call("deleteUser", 404, { path: { user_id: "bob" } });
  },
};

const TENANT_CALLS: typeof CALLS = {
  createTenant: async ({ call }) => {
    const body = { tenant_id: "acme", name: "Acme Corp", plan: "starter", contact_email: "ops@example.com" };
    await call("createTenant", 201, { body });
    await call("createTenant", 409, { body });
    await call("createTenant", 400, { body: { ...body, plan: "gold" } });
  },
  changeTenant: async ({ call }) => {
    await call("changeTenant", 200, { path: { id: "acme" }, body: { plan: "pro" } });
    await call("changeTenant", 404, { path: { id: "nobody" }, body: { plan: "pro" } });
  },
  tenants: async ({ call }) => {
    const first = await call("tenants", 200, { query: { limit: "1" } });
    await call("tenants", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  billingUsage: async ({ call }) => {
    expect((await call("billingUsage", 200)).total_events).toBeGreaterThan(0);
    for (const month of ["2026-01", "1970-01", "4999-12"]) await call("billingUsage", 200, { query: { month } });
    for (const month of ["0000-01", "5000-01", "January"]) await call("billingUsage", 400, { query: { month } });
  },
};

const MAP_CALLS: typeof CALLS = {
  setServiceMap: async ({ call }) => {
    const entry = { service_id: SERVICE, tenant_id: "acme", product_id: "", custom_keys: { region: "eu" } };
    await call("setServiceMap", 200, { body: { entries: [entry, { ...entry, service_id: "other" }] } });
    const refused = await call("setServiceMap", 400, { body: { entries: [entry, { service_id: "" }] } });
    expect(refused).toMatchObject({ error: "invalid_field", field: "entries.1.service_id", index: 1 });
    await call("setServiceMap", 400, { body: { entries: [{ ...entry, owner: "x" }] } });
  },
  serviceMap: async ({ call }) => {
    const first = await call("serviceMap", 200, { query: { limit: "1" } });
    await call("serviceMap", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  pillarScores: async ({ call }) => {
    await call("pillarScores", 200, { query: { pillar: "tenant" } });
  },
  setLabel: async ({ call }) => {
    const body = { service_id: SERVICE, key: "team", value: "payments" };
    await call("setLabel", 201, { body });
    await call("setLabel", 200, { body: { ...body, value: "shop" } });
    await call("setLabel", 400, { body: { ...body, key: "9" } });
  },
  labels: async ({ call }) => {
    expect((await call("labels", 200, { query: { service_id: SERVICE } })).labels).toHaveLength(1);
  },
  deleteLabel: async ({ call }) => {
    const query = { service_id: SERVICE, key: "team" };
    await call("deleteLabel", 204, { query });
    await call("deleteLabel", 404, { query });
    await call("deleteLabel", 400, { query: { key: "team" } });
  },
  importCatalog: async ({ call }) => {
    const yaml = `kind: Component\nmetadata: { name: ${SERVICE} }\nspec: { owner: "group:payments" }\n---\nkind: Unknown\n`;
    const headers = { "Content-Type": "application/yaml" };
    await call("importCatalog", 200, { query: { dry_run: "true" }, body: yaml, headers });
    await call("importCatalog", 200, { body: yaml, headers });
    await call("importCatalog", 422, { body: "a: [", headers });
    await call("importCatalog", 400, { body: "# nothing", headers });
  },
  declareLimit: async ({ call }) => {
    const body = { metric: "heap", limit_value: 10, unit: "bytes" };
    await call("declareLimit", 201, { body });
    await call("declareLimit", 200, { body: { ...body, limit_value: 20 } });
    await call("declareLimit", 400, { body: { ...body, limit_value: 0 } });
  },
  ...ALERT_CALLS,
  ...HOLDING_CALLS,
  ...ROUTING_CALLS,
  ...WEBHOOK_CALLS,
  ...RUNBOOK_CALLS,
  ...ANALYSIS_CALLS,
  ...PROMETHEUS_CALLS,
  ...PREDICTION_CALLS,
  ...OPERATION_CALLS,
  alertLedger: async ({ call }) => {
    await call("alertLedger", 200, { query: { service_id: SERVICE } });
    await call("alertLedger", 200, { query: { service_id: SERVICE, metric_name: "m", at: iso() } });
    await call("alertLedger", 400, { query: { service_id: SERVICE, at: iso() } });
  },
  coverage: async ({ call }) => {
    await call("coverage", 200);
    await call("coverage", 200, { query: { service_id: SERVICE, environment: "prod" } });
    await call("coverage", 400, { query: { service_id: "" } });
  },
  saturationFires: async ({ call }) => {
    await call("saturationFires", 200, { query: { state: "firing" } });
  },
  limits: async ({ call }) => {
    await call("limits", 200, { query: { metric: "heap" } });
  },
  deleteLimit: async ({ call }) => {
    await call("deleteLimit", 204, { query: { metric: "heap" } });
    await call("deleteLimit", 404, { query: { metric: "heap" } });
  },
  setWatchdogSettings: async ({ call }) => {
    const body = { service_id: SERVICE, z_threshold: 4 };
    await call("setWatchdogSettings", 201, { body });
    await call("setWatchdogSettings", 200, { body: { ...body, direction: "high" } });
    await call("setWatchdogSettings", 400, { body: { ...body, z_threshold: 0 } });
  },
  watchdogSettings: async ({ call }) => {
    await call("watchdogSettings", 200, { query: { service_id: SERVICE, metric_name: "latency" } });
    await call("watchdogSettings", 400, { query: { metric_name: "latency" } });
  },
  deleteWatchdogSettings: async ({ call }) => {
    await call("deleteWatchdogSettings", 204, { query: { service_id: SERVICE } });
    await call("deleteWatchdogSettings", 404, { query: { service_id: SERVICE } });
  },
  setCalendar: async ({ call }) => {
    const day = { date: "2026-11-27", name: "sale", like: "unusual" };
    await call("setCalendar", 200, { body: { days: [day, { date: "2026-12-25", name: "Christmas", like: "weekend", yearly: true }] } });
    await call("setCalendar", 400, { body: { days: [{ ...day, date: "2026-02-30" }] } });
    await call("setCalendar", 400, { body: { days: [day, day] } });
  },
  calendar: async ({ call }) => {
    await call("calendar", 200);
  },
  backtest: async ({ call }) => {
    const body = { service_id: SERVICE, since: "2026-01-01T00:00:00Z", until: "2100-01-01T00:00:00Z", settings: { z_threshold: 5 } };
    await call("backtest", 200, { body });
    await call("backtest", 400, { body: { ...body, until: body.since } });
  },
  audit: async ({ call }) => {
    const first = await call("audit", 200, { query: { limit: "1" } });
    await call("audit", 200, { query: { limit: "1", page_token: first.page_token } });
    await call("audit", 200, { query: { action: "label.set" } });
  },
};

/** A key that somebody may lose. */
async function keyId({ call }: Bound): Promise<string> {
  return (await call("createKey", 201, { body: { name: "spare", scope: "readonly" } })).key_id;
}

/** A letter of this service. */
async function deadLetterId({ call }: Bound): Promise<string> {
  return (await call("deadLetters", 200, { query: { service_id: SERVICE, reason: "invalid_value" } })).entries[0].dlq_id;
}

/** An alert that somebody has declared and that fires. */
async function alertId({ call }: Bound): Promise<string> {
  return (await call("alerts", 200, { query: { service_id: SERVICE, state: "firing", family: "manual" } })).alerts[0].alert_id;
}

/** Something to find: a series that leaves its level. */
async function anomalyId({ call }: Bound): Promise<string> {
  const quiet = Array.from({ length: 40 }, (_, i) => ({ ...metric(100 + (i % 5), -60_000 + i * 1000), metric_name: "level" }));
  const loud = Array.from({ length: 4 }, (_, i) => ({ ...metric(900, -20_000 + i * 1000), metric_name: "level" }));
  await call("telemetryBatch", 200, { body: [...quiet, ...loud] });
  const { anomalies } = await call("anomalies", 200, { query: { service_id: SERVICE } });
  return anomalies[0].anomaly_id;
}

/** By the endpoint's name. */
export const CONTRACT_CALLS: Calls = Object.fromEntries(
  Object.entries({ ...CALLS, ...ACCESS_CALLS, ...TENANT_CALLS, ...MAP_CALLS }).map(([name, calls]) => [
    name,
    (driver) => calls({ call: driver.call.bind(driver), driver }),
  ]),
);
