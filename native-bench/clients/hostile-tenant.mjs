// A tenant that floods one of the limits which all tenants share, for so many seconds. Prints {statuses, answers}.
//   node hostile-tenant.mjs <port> <attack, or "fill": 24,000 series for the lists> <seconds> <authorization>
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { spansOf } from "./steady-requests.mjs";

const [port, attack, seconds, authorization] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const statuses = {};
let next = 0;
const endMs = performance.now() + 1000 * Number(seconds);
const isOver = () => performance.now() >= endMs;
const records = "/api/v1/telemetry/batch";
const now = () => new Date().toISOString();
const many = (count, make) => Array.from({ length: count }, () => make(next++));
const post = (path, value) => ({ method: "POST", path, body: typeof value === "string" ? value : JSON.stringify(value) });

/** OTLP JSON of metrics that nobody knows yet, each with unit and help. */
function newMetrics() {
  const timeUnixNano = `${Date.now()}000000`;
  const metric = (i) => ({
    name: `evil.metric.${i}`,
    unit: "By",
    description: `number ${i}`,
    gauge: { dataPoints: [{ timeUnixNano, asDouble: i }] },
  });
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "evil" } }] };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: many(2_000, metric) }] }] };
}

function setting(i) {
  const service_id = `evil-${i}`;
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const matchers = [{ name: "service_id", operator: "=", value: service_id }];
  const kinds = [
    () => post("/api/v1/silences", { matchers, starts_at: now(), ends_at: soon }),
    () => post("/api/v1/inhibitions", { source_matchers: matchers, target_matchers: matchers }),
    () => ({ ...post("/api/v1/service-labels", { service_id, key: "team", value: "x".repeat(200) }), method: "PUT" }),
    () => ({ ...post("/api/v1/saturation/limits", { service_id, metric: "heap", limit_value: 100, unit: "bytes" }), method: "PUT" }),
  ];
  return kinds[i % kinds.length]();
}

const filling = (i) => ({ service_id: `evil-${i % 2_400}`, metric_name: `m-${Math.floor(i / 2_400)}`, value: i, timestamp: now() });
const log = (i) => ({ service_id: `evil-log-${i}`, type: "log", body: "went", timestamp: now() });
/** A week of ten series: 100,000 evaluations. */
const backtest = () => ({
  service_id: "evil-0",
  since: new Date(Date.now() - 7 * 86_400_000).toISOString(),
  until: now(),
  settings: { z_threshold: 5 },
});

/** Connections; what each asks again and again; how often at once, where it is one request a second afterwards. */
const attacks = {
  fill: [1, () => post(records, many(4_000, filling)), 6],
  "log services": [1, () => post(records, many(5_000, log)), 5],
  "span services": [1, () => post("/v1/traces", spansOf(many(5_000, (i) => `evil-span-${i}`))), 5],
  metadata: [1, () => post("/v1/metrics", newMetrics()), 25],
  lists: [25, () => ({ method: "GET", path: "/api/v1/series?limit=1000" })],
  backtests: [30, () => post("/api/v1/backtest", backtest())],
  settings: [8, () => setting(next++)],
  "event streams": [50, () => ({ method: "GET", path: "/api/v1/stream", isStream: true })],
};

/** Resolves with the answer's end; of an event stream with its beginning, it stays open. */
function ask({ method, path, body, isStream = false }) {
  return new Promise((resolve) => {
    const headers = {
      Authorization: authorization,
      ...(body && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
    };
    const end = (status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      resolve();
    };
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: isStream ? new Agent() : agent }, (answer) => {
      answer.on("error", () => undefined).resume();
      if (isStream && answer.statusCode === 200) end(200);
      else answer.on("end", () => end(answer.statusCode));
    });
    sent.on("error", (error) => end(error.code));
    sent.end(body);
  });
}

const [connections, make, bodiesAtOnce = Number.POSITIVE_INFINITY] = attacks[attack];
if (attack === "fill") for (let bodies = 0; bodies < bodiesAtOnce; bodies++) await ask(make());
else
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let asked = 1; !isOver(); asked++) {
        await ask(make());
        if (asked >= bodiesAtOnce) await pause(1_000);
      }
    }),
  );
process.stdout.write(JSON.stringify({ statuses }), () => process.exit(0));
