// Root-cause analysis beside detection: what each takes where the other works. One server under half of the load that saturates it, in pairs of windows: in one of
// each pair an analysis over all series, in the other none.
import { setTimeout as pause } from "node:timers/promises";
import { coldPlantCount, coldRequestsOf, quietRequestsOf } from "../bodies/planted.mjs";
import { bucketsOf, quantileOf } from "../clients/detection-turn.mjs";
import { saturationTurn, takeTurns } from "../turns.mjs";

const samplesPerRequest = 2_000;
const planting = { series: 10_000, every: 8, coldEvery: 3 };
/** A turn; three turns make nine. */
const pairs = 3;
/** Analyses before the windows, left out: until then they are being compiled. */
const coldAnalyses = 4;
const windowMs = 4_000;
/** Spikes of the windows, with some to spare. */
const plants = coldPlantCount + 3_200;
/** Before the newest values: the onset that is looked at; seconds of the bodies, whose rings are two minutes. */
const onsetAgeMs = 20_000;

/** @type {import("../turns.mjs").Row} */
export const rootCausesBeside = {
  name: "root-causes-beside",
  what:
    `beside half of the load that saturates the server, 10,000 series with one planted anomaly in each eighth request: ${pairs} pairs of windows of ${windowMs / 1000} s a turn, with one analysis on demand over all series in each and with none, ` +
    `alternating, after ${coldAnalyses} that are left out: CPU a value, detection p99 by the server's own histogram, wall clock of the analyses; the server has one core`,
  quick: false,
  async run(context) {
    const file = await context.bodies.get("planted", { ...planting, plants });
    const saturating = await context.bodies.get("A");
    const turns = await takeTurns(context, {
      saturation: () => saturationTurn(context, saturating),
      windows: (_repeat, { saturation }) => windowsTurn(context, file, saturation.at(-1).warm.samplesPerSecond / 2 / samplesPerRequest),
    });
    const of = (read) => turns.windows.map(read);
    const ms = { unit: "ms", lowerIsBetter: true };
    return {
      lines: [
        {
          label: "CPU a value, with an analysis over without",
          values: turns.windows.flatMap(({ ratios }) => ratios),
          unit: "x",
          bar: 1.05,
          lowerIsBetter: true,
        },
        { label: "detection p99 without", values: of(({ without }) => without), ...ms },
        { label: "detection p99 with an analysis, above without", values: of(({ beside, without }) => beside - without), bar: 10, ...ms },
        {
          label: "analysis on demand beside half load, median",
          values: of(({ analyseMs }) => median(analyseMs)),
          bar: 2_000,
          goal: 500,
          ...ms,
        },
        { label: "the longest", values: of(({ analyseMs }) => Math.max(...analyseMs)), ...ms },
      ],
      notMeasured: [],
    };
  },
};

async function windowsTurn(context, file, requestsPerSecond) {
  const server = await context.startServer("vedette");
  try {
    const quiet = quietRequestsOf(planting);
    const early = quiet + coldRequestsOf(planting);
    const maxRequests = early + Math.ceil(((2 * pairs * windowMs) / 1_000) * requestsPerSecond * 1.5);
    const sending = context.send({ server, file, connections: 5, coldRequests: quiet, requestsPerSecond, maxRequests });
    sending.catch(() => undefined);
    while ((await server.accepted()) < early * samplesPerRequest) await pause(200);
    const measured = await takeWindows(server);
    await server.kill();
    await sending.catch(() => undefined);
    return measured;
  } finally {
    await server.kill();
  }
}

/** Windows by turns, the first of each pair by turns too. */
async function takeWindows(server) {
  for (let i = 0; i < coldAnalyses; i++) await analysisMs(server);
  const ratios = [];
  const analyseMs = [];
  const buckets = { with: [], without: [] };
  for (let pair = 0; pair < pairs; pair++) {
    const cpu = {};
    for (const kind of pair % 2 === 0 ? ["with", "without"] : ["without", "with"]) {
      const { cpuAValue, counted } = await window(
        server,
        kind === "with" ? async () => analyseMs.push(await analysisMs(server)) : undefined,
      );
      cpu[kind] = cpuAValue;
      buckets[kind].push(counted);
    }
    ratios.push(cpu.with / cpu.without);
  }
  return {
    ratios,
    analyseMs,
    beside: quantileOf(summed(buckets.with), 0.99).p99Ms,
    without: quantileOf(summed(buckets.without), 0.99).p99Ms,
  };
}

async function window(server, work) {
  const before = { cpu: server.cpuSeconds(), accepted: await server.accepted(), buckets: bucketsOf((await server.metrics()).text) };
  await Promise.all([pause(windowMs), work?.()]);
  const values = (await server.accepted()) - before.accepted;
  if (values <= 0) throw new Error("the load has ended before the windows did");
  const cpuAValue = (server.cpuSeconds() - before.cpu) / values;
  const after = bucketsOf((await server.metrics()).text);
  return { cpuAValue, counted: after.map(({ boundMs, count }, i) => ({ boundMs, count: count - before.buckets[i].count })) };
}

function summed(windows) {
  return windows[0].map(({ boundMs }, i) => ({ boundMs, count: windows.reduce((sum, buckets) => sum + buckets[i].count, 0) }));
}

/** One analysis of what a series did a while before its newest value. */
async function analysisMs({ port }) {
  const base = `http://127.0.0.1:${port}`;
  const { series } = await (await fetch(`${base}/api/v1/series?limit=1`)).json();
  const { service_id, metric_name, environment, last_timestamp } = series[0];
  const timestamp = new Date(Date.parse(last_timestamp) - onsetAgeMs).toISOString();
  const beganMs = performance.now();
  const body = JSON.stringify({ service_id, metric_name, environment, timestamp });
  const answer = await fetch(`${base}/api/v1/ml/analyze`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`an analysis was answered with ${answer.status}: ${text.slice(0, 300)}`);
  return performance.now() - beganMs;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
