// Root-cause analysis: from an alert to its report over many series, one incident of many alerts, the memory of incidents, and the coordinator's parts alone.
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { shown } from "../measure.mjs";
import { takeTurns } from "../turns.mjs";

const loopFile = fileURLToPath(new URL("../clients/root-cause-loop.mjs", import.meta.url));
const services = 200;
const metrics = 40;
/** Of each series, so that all that begins up to a quarter of an hour ago has a past. */
const values = 120;
const stepMs = 10_000;
/** How long ago alerts of one incident each began: more than five minutes apart they are incidents of their own. */
const onsetAgesMs = [30_000, 390_000, 750_000];
const stormAlerts = { whole: 10_000, quick: 2_000 };
const alertsPerRequest = 500;
const analyses = { whole: 20, quick: 5 };
const pollMs = 4;
/** Joined anomalies are named a second later. */
const namedMs = 3_000;
const reportMsMax = 60_000;
/** Left to a look that nobody polls for. */
const lookMsMax = 500;

/** @type {import("../turns.mjs").Row} */
export const rootCauses = {
  name: "root-causes",
  what:
    `${shown(services)} services of ${metrics} series with ${values} values, a server with all cores: from the answer to an alert until its report can be read (the first, cold), two incidents more by the server's own count, analyses on demand of other moments one after another; ` +
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
        {
          label: "verdict to stored report, later ones",
          values: of("live", ({ laterMs }) => Math.max(...laterMs)),
          bar: 50,
          goal: 20,
          ...ms,
          note: `by the server's own count, the longer of two; nobody polls`,
        },
        { label: "analysis on demand, median", values: of("live", ({ analyseMs }) => median(analyseMs)), ...ms },
        { label: "CPU of an analysis on demand, all threads", values: of("live", ({ analyseCpuMs }) => analyseCpuMs), ...ms },
        { label: "incidents of the storm", values: of("flood", ({ incidents }) => incidents), unit: "", bar: 1, lowerIsBetter: true },
        {
          label: "analyses of the storm",
          values: of("flood", ({ revisions }) => revisions),
          unit: "",
          bar: 1,
          lowerIsBetter: true,
        },
        { label: "looks at the storm, waiting included", values: of("flood", ({ checkedMs }) => checkedMs), ...ms },
        {
          label: "of the coordinator's time in the storm, analysis",
          values: of("flood", ({ share }) => 100 * share),
          unit: "%",
          bar: 10,
          goal: 5,
          lowerIsBetter: true,
        },
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
    const firstMs = await msToReport(base);
    await pause(namedMs);
    const laterMs = [];
    for (let i = 1; i < onsetAgesMs.length; i++) laterMs.push(await lookMs(base, server, i));
    const cpuBefore = server.cpuSeconds();
    const analyseMs = [];
    for (let i = 0; i < analyses[size]; i++) {
      const timestamp = new Date(Date.now() - 60_000 - i * 1_000).toISOString();
      const beganMs = performance.now();
      await post(base, "/api/v1/ml/analyze", { service_id: `service-${i}`, metric_name: "metric-1", timestamp });
      analyseMs.push(performance.now() - beganMs);
    }
    const analyseCpuMs = (1_000 * (server.cpuSeconds() - cpuBefore)) / analyses[size];
    return { firstMs, laterMs, analyseMs, analyseCpuMs };
  });
}

/** A server of its own: an incident that has its report already would take the storm in without an analysis. */
async function stormTurn(context, count) {
  return withSeries(context, (base, server) => storm(base, server, count));
}

async function withSeries(context, measure) {
  const server = await context.startServer("vedette", { core: `0-${availableParallelism() - 1}`, env: { WATCHDOG_WARMUP_MINUTES: "0" } });
  try {
    const base = `http://127.0.0.1:${server.port}`;
    const startMs = Date.now() - (values - 1) * stepMs;
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
    value: 50 + 0.1 * Math.random(), // within the floor of the spread: none is an anomaly
    timestamp,
  }));
}

async function post(base, path, body) {
  const answer = await fetch(base + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

const alert = (name, service, ageMs = onsetAgesMs[0]) => ({
  status: "firing",
  labels: { alertname: name, service, severity: "critical" },
  startsAt: new Date(Date.now() - ageMs).toISOString(),
});

/** What the server counts of the look at the incident of alert `i`, from its verdict to its stored report. */
async function lookMs(base, server, i) {
  const read = async () => {
    const metrics = await server.metrics();
    return { seconds: metrics.sum("vedette_rca_seconds_total"), revisions: metrics.sum("vedette_rca_revisions_total") };
  };
  const before = await read();
  await post(base, "/api/v1/alerts/webhook", { alerts: [alert(`Alert ${i}`, "service-3", onsetAgesMs[i])] });
  await pause(lookMsMax);
  const after = await read();
  if (after.revisions !== before.revisions + 1)
    throw new Error(`${after.revisions - before.revisions} revisions of the report came, not one`);
  return 1_000 * (after.seconds - before.seconds);
}

/** From the answer to an alert until its report can be read. */
async function msToReport(base) {
  const { anomaly_id: id } = await post(base, "/api/v1/alerts/webhook", { alerts: [alert("First", "service-3")] });
  const beganMs = performance.now();
  while (performance.now() - beganMs < reportMsMax) {
    const { total } = await (await fetch(`${base}/api/v1/rca/reports?anomaly_id=${id}`)).json();
    if (total > 0) return performance.now() - beganMs;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error("no report has come");
}

/** Incidents by their reports, and what their analysis took by the counters, once all have been named; the share is of the time up to then. */
async function storm(base, server, count) {
  const beganMs = performance.now();
  for (let i = 0; i < count; i += alertsPerRequest) {
    const alerts = Array.from({ length: alertsPerRequest }, (_, k) => alert(`Storm ${i + k}`, `service-${(i + k) % services}`));
    await post(base, "/api/v1/alerts/webhook", { alerts });
  }
  const stormMs = performance.now() - beganMs;
  const incidents = await untilReported(base);
  await pause(namedMs);
  const metrics = await server.metrics();
  const [revisions, seconds] = [metrics.sum("vedette_rca_revisions_total"), metrics.sum("vedette_rca_seconds_total")];
  const busySeconds = metrics.sum("vedette_rca_busy_seconds_total");
  return { incidents, revisions, checkedMs: 1_000 * seconds, busyMs: 1_000 * busySeconds, stormMs, share: (1_000 * busySeconds) / stormMs };
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
