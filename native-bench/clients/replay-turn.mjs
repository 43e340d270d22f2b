// One turn of the row on dead letters: a server whose queue is full is started again, and its letters are replayed beside a load with planted anomalies.
import { setTimeout as pause } from "node:timers/promises";
import { coldPlantCount, plantOf, quietRequestsOf } from "../bodies/planted.mjs";
import { TOKEN_ENV, tenantHeader } from "../servers/bench-tenants.mjs";
import { BATCH_PATH, JSON_HEADERS } from "../servers/vedette.mjs";
import { histogramP99 } from "./detection-turn.mjs";

const pollMs = 250;
const fillMsMax = 60_000;
/** Plants before the replay, behind the cold ones: for the latency without it. */
const quietPlants = 1_000;
/** The first stream takes all that are allowed: every further record becomes a dead letter that a server with its usual limit takes. */
const fillEnv = { SERIES_LIMIT: "1" };

/**
 * @typedef {object} ReplayResult
 * @property {object} job                 its last state
 * @property {number} seconds             of the replay
 * @property {number} fillSeconds         in which the letters were taken
 * @property {number} depth               letters left
 * @property {number} loadRate            samples a second beside the replay
 * @property {number} cores               CPU of the server per second, meanwhile
 * @property {number} rssMiB              after it
 * @property {{p99Ms: number, boundMs: number, count: number}} before    detection latency of the load alone
 * @property {{p99Ms: number, boundMs: number, count: number}} meanwhile the same beside the replay
 * @property {number} planted             spikes sent and answered 2xx
 * @property {number} stored              anomalies
 */

/**
 * Throws unless each letter has entered once, and unless all of the load was taken.
 * @param {import("../context.mjs").Context} context
 * @param {{refused: string, planted: string, letters: number, requestsPerSecond: number}} options
 *   `refused` are bodies that fill the queue, `planted` those of the load: sent by one tenant after the other until the replay is done
 * @returns {Promise<ReplayResult>}
 */
export async function replayTurn(context, { refused, planted, letters, requestsPerSecond }) {
  const { dataDir, fillSeconds } = await filledFolder(context, refused, letters);
  const server = await context.startServer("vedette", { env: TOKEN_ENV, dataDir });
  try {
    const acceptedBefore = await server.accepted();
    let isOver = false;
    const replaying = replayBeside(server).finally(() => {
      isOver = true;
    });
    replaying.catch(() => undefined);
    const load = await sendUntil(context, { server, file: planted, requestsPerSecond }, () => isOver);
    const replay = await replaying;
    const sent = load.samples + letters;
    const accepted = (await settled(() => server.accepted(), sent)) - acceptedBefore;
    const stored = await settled(async () => (await server.metrics()).sum("vedette_anomalies_stored_total"), load.plants);
    const { job, depth } = replay;
    if (job.replayed !== letters || depth !== 0) throw new Error(`the replay left letters: ${JSON.stringify(job)}, depth ${depth}`);
    if (accepted !== sent) throw new Error(`the server counts ${accepted} samples, sent were ${load.samples} and replayed ${letters}`);
    return { ...replay, fillSeconds, planted: load.plants, stored };
  } finally {
    await server.kill();
  }
}

/** A data folder, closed in order, with so many letters in it. */
async function filledFolder(context, file, letters) {
  const server = await context.startServer("vedette", { env: fillEnv, keepData: true });
  try {
    const sent = await context.send({ server, file, path: BATCH_PATH, headers: JSON_HEADERS, connections: 1 });
    if (sent.firstRefusal !== "") throw new Error(`refused: ${sent.firstRefusal}`);
    const depth = await settled(async () => (await server.metrics()).sum("svc_dlq_depth"), letters);
    if (depth !== letters) throw new Error(`the server holds ${depth} dead letters, not ${letters}`);
    return { dataDir: server.dataDir, fillSeconds: sent.seconds };
  } finally {
    await server.stop();
  }
}

/** Sends the bodies as one tenant after the other: a body that comes twice is no load. */
async function sendUntil(context, { server, file, requestsPerSecond }, isOver) {
  const total = { samples: 0, plants: 0 };
  for (let tenant = 0; !isOver(); tenant++) {
    const header = await tenantHeader(server, `load-${tenant}`, "enterprise");
    const headers = [...server.headers, header];
    const sent = await context.send({ server, file, headers, connections: 5, coldRequests: quietRequestsOf({}), requestsPerSecond });
    if (sent.firstRefusal !== "") throw new Error(`refused ${JSON.stringify(sent.statuses)}: ${sent.firstRefusal}`);
    total.samples += sent.samples;
    for (let request = 0; request < sent.requests; request++) if (plantOf(request, {}) !== undefined) total.plants++;
  }
  return total;
}

async function replayBeside(server) {
  const cold = await untilStored(server, coldPlantCount);
  const begin = await untilStored(server, coldPlantCount + quietPlants);
  const url = `http://127.0.0.1:${server.port}/api/v1/dlq/replay`;
  const startMs = performance.now();
  const cpuSeconds = server.cpuSeconds();
  const headers = { "Content-Type": "application/json" };
  let job = await (await fetch(url, { method: "POST", headers, body: JSON.stringify({ filter: {} }) })).json();
  while (job.state !== "done") {
    await pause(pollMs);
    job = await (await fetch(`${url}/${job.job_id}`)).json();
  }
  const seconds = (performance.now() - startMs) / 1000;
  const cores = (server.cpuSeconds() - cpuSeconds) / seconds;
  const end = await server.metrics();
  const taken = end.sum("svc_ingestion_events_total", 'status="accepted"') - begin.sum("svc_ingestion_events_total", 'status="accepted"');
  return {
    job,
    seconds,
    cores,
    depth: end.sum("svc_dlq_depth"),
    loadRate: (taken - job.replayed) / seconds,
    rssMiB: server.rssBytes() / 2 ** 20,
    before: histogramP99(begin.text, cold.text),
    meanwhile: histogramP99(end.text, begin.text),
  };
}

/** The metrics once so many anomalies are stored. */
async function untilStored(server, count) {
  for (const deadline = performance.now() + fillMsMax; performance.now() < deadline; await pause(pollMs)) {
    const metrics = await server.metrics();
    if (metrics.sum("vedette_anomalies_stored_total") >= count) return metrics;
  }
  throw new Error(`${count} anomalies were not stored in ${fillMsMax / 1000} s`);
}

/** A count once it is what is expected, or as it is after a while. */
async function settled(read, expected) {
  let count = await read();
  for (const deadline = performance.now() + fillMsMax; count < expected && performance.now() < deadline; ) {
    await pause(pollMs);
    count = await read();
  }
  return count;
}
