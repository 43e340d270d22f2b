// Root-cause analysis: from an alert to its report over many series, one incident of many alerts, the memory of incidents, and the coordinator's parts alone.
import { fileURLToPath } from "node:url";
import { shown } from "../measure.mjs";
import { takeTurns } from "../turns.mjs";

const loopFile = fileURLToPath(new URL("../clients/root-cause-loop.mjs", import.meta.url));
const services = 200;
const metrics = 40;
const values = 60;
const stepMs = 10_000;
const stormAlerts = { whole: 10_000, quick: 2_000 };
const alertsPerRequest = 500;
const analyses = { whole: 20, quick: 5 };
const pollMs = 2;
const reportMsMax = 60_000;

/** @type {import("../turns.mjs").Row} */
export const rootCauses = {
  name: "root-causes",
  what:
    `${shown(services)} services of ${metrics} series with ten minutes of values: from the answer to an alert until its report can be read (the first, cold), analyses on demand of other moments one after another; ` +
    `then ${shown(stormAlerts.whole)} alerts of as many pairs in requests of ${alertsPerRequest} (--quick: ${shown(stormAlerts.quick)}); in loops of their own: the ranking, 10,000 pairs joining, the nearest of 100,000 incidents`,
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const loop = (shape) => async () => JSON.parse(await context.runPinned(process.execPath, ["--expose-gc", loopFile, shape, "20"]));
    const turns = await takeTurns(context, {
      live: () => liveTurn(context, size),
      flood: () => stormTurn(context, stormAlerts[size]),
      analyse: loop("analyse"),
      storm: loop("storm"),
      similar: loop("similar"),
    });
    const of = (name, read) => turns[name].map(read);
    const ms = { unit: "ms", lowerIsBetter: true };
    return {
      lines: [
        { label: "alert to report, the first", values: of("live", ({ firstMs }) => firstMs), ...ms },
        { label: "analysis on demand, median", values: of("live", ({ analyseMs }) => median(analyseMs)), bar: 50, goal: 20, ...ms },
        { label: "CPU of an analysis on demand, all threads", values: of("live", ({ analyseCpuMs }) => analyseCpuMs), ...ms },
        { label: "incidents of the storm", values: of("flood", ({ incidents }) => incidents), unit: "", bar: 1, lowerIsBetter: true },
        {
          label: "analyses of the storm",
          values: of("flood", ({ revisions }) => revisions),
          unit: "",
          bar: 1,
          lowerIsBetter: true,
        },
        { label: "looks at the storm, waiting included", values: of("flood", ({ lookedMs }) => lookedMs), ...ms },
        { label: "ranking of 8,000 series, CPU", values: of("analyse", ({ cpuMs }) => median(cpuMs)), ...ms },
        { label: "10,000 pairs joining, CPU", values: of("storm", ({ cpuMs }) => median(cpuMs)), ...ms },
        { label: "nearest 5 of 100,000 incidents, CPU", values: of("similar", ({ cpuMs }) => median(cpuMs)), bar: 50, goal: 10, ...ms },
        { label: "memory of 100,000 incidents", values: of("similar", ({ mb }) => mb), unit: "MB", bar: 80, goal: 40, lowerIsBetter: true },
      ],
      notMeasured: [],
    };
  },
};

async function liveTurn(context, size) {
  return withSeries(context, async (base, server) => {
    const first = await firstReport(base);
    const cpuBefore = server.cpuSeconds();
    const analyseMs = [];
    for (let i = 0; i < analyses[size]; i++) {
      const timestamp = new Date(Date.now() - 60_000 - i * 1_000).toISOString();
      const beganMs = performance.now();
      await post(base, "/api/v1/ml/analyze", { service_id: `service-${i}`, metric_name: "metric-1", timestamp });
      analyseMs.push(performance.now() - beganMs);
    }
    const analyseCpuMs = (1_000 * (server.cpuSeconds() - cpuBefore)) / analyses[size];
    return { firstMs: first, analyseMs, analyseCpuMs };
  });
}

/** A server of its own: an incident that has its report already would take the storm in without an analysis. */
async function stormTurn(context, count) {
  return withSeries(context, (base, server) => storm(base, server, count));
}

async function withSeries(context, measure) {
  const server = await context.startServer("vedette", { env: { WATCHDOG_WARMUP_MINUTES: "0" } });
  try {
    const base = `http://127.0.0.1:${server.port}`;
    const startMs = Date.now() - values * stepMs;
    for (let i = 0; i < values; i++) await post(base, "/api/v1/telemetry/batch", records(startMs + i * stepMs));
    return await measure(base, server);
  } finally {
    await server.kill();
  }
}

/** Two batches' worth of a moment: 8,000 values. */
function records(atMs) {
  const timestamp = new Date(atMs).toISOString();
  return Array.from({ length: services * metrics }, (_, i) => ({
    service_id: `service-${i % services}`,
    metric_name: `metric-${Math.floor(i / services)}`,
    value: 50 + 10 * Math.random(),
    timestamp,
  }));
}

async function post(base, path, body) {
  const answer = await fetch(base + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

const alert = (name, service) => ({
  status: "firing",
  labels: { alertname: name, service, severity: "critical" },
  startsAt: new Date(Date.now() - 30_000).toISOString(),
});

async function firstReport(base) {
  const { anomaly_id: id } = await post(base, "/api/v1/alerts/webhook", { alerts: [alert("First", "service-3")] });
  const beganMs = performance.now();
  while (performance.now() - beganMs < reportMsMax) {
    const { total } = await (await fetch(`${base}/api/v1/rca/reports?anomaly_id=${id}`)).json();
    if (total > 0) return performance.now() - beganMs;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error("no report has come");
}

/** Incidents by their reports, and what their analysis took by the counters, once these have it. */
async function storm(base, server, count) {
  for (let i = 0; i < count; i += alertsPerRequest) {
    const alerts = Array.from({ length: alertsPerRequest }, (_, k) => alert(`Storm ${i + k}`, `service-${(i + k) % services}`));
    await post(base, "/api/v1/alerts/webhook", { alerts });
  }
  const incidents = await untilReported(base);
  const beganMs = performance.now();
  while (performance.now() - beganMs < reportMsMax) {
    const metrics = await server.metrics();
    const [revisions, seconds] = [metrics.sum("vedette_rca_revisions_total"), metrics.sum("vedette_rca_seconds_total")];
    if (revisions > 0 && seconds > 0) return { incidents, revisions, lookedMs: 1_000 * seconds };
  }
  throw new Error("no analysis of the storm was counted");
}

/** Reports that there are, once there are any. */
async function untilReported(base) {
  const beganMs = performance.now();
  while (performance.now() - beganMs < reportMsMax) {
    const { total } = await (await fetch(`${base}/api/v1/rca/reports?limit=1`)).json();
    if (total > 0) return total;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error("no report has come");
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
