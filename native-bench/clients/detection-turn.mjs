// One turn of the rows on detection latency: a fresh server, the planted bodies, a reader of its event stream, and what both clocks say.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { coldPlantCount, coldRequestsOf, isSpike, pairKey, plantOf, quietRequestsOf } from "../bodies/planted.mjs";
import { quietWindows, watchEdges } from "./quiet-windows.mjs";

const watchFile = fileURLToPath(new URL("./event-watch.mjs", import.meta.url));
const histogram = "svc_detection_latency_seconds_bucket";
/** Stages of vedette_detection_stage_seconds, in order. */
export const STAGES = ["received", "decoded", "judged", "framed", "committed", "streamed"];
const readyMsMax = 10_000;
/** After the last answer: anomalies may still be on their way, for as long as one more comes in this time. */
const settleMs = 1_500;
/** Metrics are asked for seldom until most of what is waited for is stored: a page takes 1 to 9 ms of a fresh server's core, for which they wait. */
const metricsPollMs = { early: 500, late: 50 };
const lateShare = 0.8;

/** The core of the clients beside the sender: its own where there is one. */
export function clientCore({ pin }) {
  return availableParallelism() > 2 ? 2 : pin.sender;
}

/**
 * @typedef {object} DetectionResult
 * @property {import("../context.mjs").Phase} warm
 * @property {number} planted           spikes sent and answered 2xx
 * @property {number} stored            of these, the ones in GET /api/v1/anomalies
 * @property {number} others            anomalies that were not planted
 * @property {number} heard             planted ones that came over the event stream
 * @property {{p99Ms: number, boundMs: number, count: number}} server  of its own histogram without the cold plants: interpolated in the bucket, and the bucket's
 *   upper bound
 * @property {Record<string, number>} stages  mean milliseconds from the arrival of the bytes to the end of each stage, without the cold plants
 * @property {{p50Ms: number, p99Ms: number, maxMs: number}} seen      from the time a request was sent (open loop: was due) to its event, without the cold plants
 * @property {{p50Ms: number, p99Ms: number, maxMs: number}} coldSeen  the same of the cold plants
 * @property {Quiet} [quiet]           where windows were asked for: what was seen of the plants of moments in which the hypervisor left us our cores
 *
 * @typedef {object} Quiet
 * @property {{p50Ms: number, p99Ms: number, maxMs: number}} seen
 * @property {number} plants           due in such moments
 */

/**
 * @param {import("../context.mjs").Context} context
 * @param {{file: string, planting?: import("../bodies/planted.mjs").Planting, requestsPerSecond?: number, earlyPerSecond?: number, requests?: number, inWindows?: boolean, env?: Record<string, string>, dataDir?: string, after?: (server: import("../context.mjs").Server) => Promise<void>, during?: (server: import("../context.mjs").Server) => Promise<() => Promise<T>>}} options
 *   `planting`: as the bodies were made with; `earlyPerSecond`: rate of the quiet ones and of those with the cold plants; `requests` after the quiet ones; `inWindows` looks at the stolen time every few seconds, for `quiet`; `during` starts bystanders before the load, what it returns is called once the server has ended; `after` is waited for before that
 * @returns {Promise<DetectionResult & {bystanders?: T}>}
 * @template T
 */
export async function detectionTurn(
  context,
  { file, planting = {}, requestsPerSecond, earlyPerSecond, requests, inWindows = false, env, dataDir, during, after },
) {
  const server = await context.startServer("vedette", { env, dataDir });
  const timesFile = join(context.workDir, `times-${server.port}.txt`);
  const watch = startWatch(context, server);
  let finish;
  let result;
  try {
    await watch.ready;
    finish = await during?.(server);
    const quietRequests = quietRequestsOf(planting);
    const maxRequests = requests === undefined ? undefined : quietRequests + requests;
    const coldText = textWhenStored(server, coldPlantCount);
    const edges = inWindows ? watchEdges(coldText) : undefined;
    const sent = await context.send({
      server,
      file,
      connections: 5,
      coldRequests: quietRequests,
      requestsPerSecond,
      early: earlyPerSecond && { requests: quietRequests + coldRequestsOf(planting), perSecond: earlyPerSecond },
      maxRequests,
      timesFile,
    });
    if (sent.firstRefusal !== "") throw new Error(`refused ${JSON.stringify(sent.statuses)}: ${sent.firstRefusal}`);
    const metrics = await settledMetrics(server);
    const windows = edges && quietWindows(await edges.end());
    await after?.(server);
    const dueMs = plantTimes(readFileSync(timesFile, "utf8"), planting);
    const listed = await listedPairs(server.port);
    const stored = [...dueMs.keys()].filter((pair) => listed.pairs.has(pair)).length;
    const others = listed.total - stored;
    const cold = await coldText;
    const measured = { server: histogramP99(metrics.text, cold), stages: stageMeans(metrics.text, cold) };
    result = { ...sent, planted: dueMs.size, stored, others, ...measured, dueMs, windows };
  } finally {
    await server.kill();
    rmSync(timesFile, { force: true });
  }
  const { dueMs, windows, ...rest } = result;
  const { heardMs } = await watch.heard;
  return { ...rest, ...seenLatency(dueMs, heardMs), quiet: windows && quietLatency(dueMs, heardMs, windows), bystanders: await finish?.() };
}

/** The metrics once so many anomalies are stored, or the first ones where the server ends before. */
async function textWhenStored(server, count) {
  let metrics = await server.metrics();
  for (;;) {
    const stored = metrics.sum("vedette_anomalies_stored_total");
    if (stored >= count) return metrics.text;
    await pause(stored < lateShare * count ? metricsPollMs.early : metricsPollMs.late);
    try {
      metrics = await server.metrics();
    } catch {
      return "";
    }
  }
}

/** Starts the reader of events; it ends with the server. */
function startWatch(context, server) {
  const readyFile = join(context.workDir, `watch-${server.port}.ready`);
  const heard = context.runPinned(process.execPath, [watchFile, server.port, readyFile].map(String), clientCore(context)).then(JSON.parse);
  return { ready: Promise.race([untilFile(readyFile), heard]), heard };
}

/** Resolves once a client has written its file. */
export async function untilFile(/** @type {string} */ path) {
  const deadline = performance.now() + readyMsMax;
  while (!existsSync(path)) {
    if (performance.now() > deadline) throw new Error("a client beside the sender did not become ready");
    await pause(20);
  }
  rmSync(path);
}

async function settledMetrics(server) {
  let before = Number.NaN;
  for (;;) {
    const metrics = await server.metrics();
    const stored = metrics.sum("vedette_anomalies_stored_total");
    if (stored === before) return metrics;
    before = stored;
    await pause(settleMs);
  }
}

/** Unix milliseconds at which each plant was sent, from the sender's lines: index, due, answered, status. */
function plantTimes(text, planting) {
  const times = new Map();
  for (const line of text.trimEnd().split("\n")) {
    const [index, dueMs, , status] = line.split(" ").map(Number);
    const pair = plantOf(index, planting);
    if (pair !== undefined && status < 300) times.set(pair, dueMs);
  }
  return times;
}

/** What a client finds in the list afterwards. */
async function listedPairs(port) {
  const pairs = new Set();
  let total = 0;
  let token = "";
  do {
    const query = token === "" ? "" : `&page_token=${encodeURIComponent(token)}`;
    const page = await (await fetch(`http://127.0.0.1:${port}/api/v1/anomalies?limit=1000${query}`)).json();
    for (const anomaly of page.anomalies) {
      total++;
      if (isSpike(anomaly.verdict.observed)) pairs.add(pairKey(anomaly));
    }
    token = page.page_token;
  } while (token !== "");
  return { pairs, total };
}

/** The buckets of the detection latency, with their counts up to the bound. */
export function bucketsOf(/** @type {string} */ text) {
  return [...text.matchAll(new RegExp(`^${histogram}\\{le="([^"]+)"\\} (\\S+)$`, "gm"))].map(([, bound, count]) => ({
    boundMs: bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound) * 1000,
    count: Number(count),
  }));
}

/** p99 of a Prometheus histogram as histogram_quantile() takes it, of what came since `before`, and the bound of its bucket, both in milliseconds. */
export function histogramP99(/** @type {string} */ text, /** @type {string} */ before = "") {
  return quantileOf(bucketsBetween(before, text), 0.99);
}

/** Mean milliseconds of each stage of the detections that came since `before`; NaN for one that had none. */
export function stageMeans(/** @type {string} */ text, /** @type {string} */ before = "") {
  const read = (page, end, stage) =>
    Number(new RegExp(`^vedette_detection_stage_seconds_${end}\\{stage="${stage}"\\} (\\S+)$`, "m").exec(page)?.[1] ?? 0);
  const since = (end, stage) => read(text, end, stage) - read(before, end, stage);
  return Object.fromEntries(STAGES.map((stage) => [stage, (1000 * since("sum", stage)) / since("count", stage)]));
}

/** The buckets of what came between two pages. */
function bucketsBetween(/** @type {string} */ before, /** @type {string} */ after) {
  const earlier = bucketsOf(before);
  return bucketsOf(after).map(({ boundMs, count }, place) => ({ boundMs, count: count - (earlier[place]?.count ?? 0) }));
}

/** A quantile of cumulative buckets. */
export function quantileOf(/** @type {Array<{boundMs: number, count: number}>} */ buckets, /** @type {number} */ q) {
  const count = buckets.at(-1)?.count ?? 0;
  const rank = q * count;
  const place = buckets.findIndex((bucket) => bucket.count >= rank);
  if (count === 0) return { p99Ms: Number.NaN, boundMs: Number.NaN, count };
  const { boundMs, count: upTo } = buckets[place];
  const { boundMs: fromMs, count: below } = buckets[place - 1] ?? { boundMs: 0, count: 0 };
  if (boundMs === Number.POSITIVE_INFINITY) return { p99Ms: boundMs, boundMs, count };
  return { p99Ms: fromMs + ((boundMs - fromMs) * (rank - below)) / (upTo - below), boundMs, count };
}

function seenLatency(dueMs, heardMs) {
  const plants = inOrder(dueMs);
  const [cold, warm] = [plants.slice(0, coldPlantCount), plants.slice(coldPlantCount)].map((part) => latencies(part, heardMs));
  return { heard: cold.length + warm.length, seen: quantiles(warm), coldSeen: quantiles(cold) };
}

/** @returns {Quiet} */
export function quietLatency(/** @type {Map<string, number>} */ dueMs, /** @type {Record<string, number>} */ heardMs, windows) {
  const isQuiet = ([, due]) => windows.some(({ fromMs, toMs }) => due >= fromMs && due < toMs);
  const plants = inOrder(dueMs).slice(coldPlantCount).filter(isQuiet);
  return { seen: quantiles(latencies(plants, heardMs)), plants: plants.length };
}

function inOrder(dueMs) {
  return [...dueMs].sort(([, a], [, b]) => a - b);
}

function latencies(plants, heardMs) {
  return plants.flatMap(([pair, due]) => (pair in heardMs ? [heardMs[pair] - due] : []));
}

function quantiles(latencies) {
  const sorted = latencies.sort((a, b) => a - b);
  const quantile = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) };
}
