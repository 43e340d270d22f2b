// One turn of the row on what an anomaly costs: a fresh server, a history, ordinary requests, and the same requests with values far from it.
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { threadsCpuMs } from "../measure.mjs";
import { BATCH_PATH, SINGLE_PATH } from "../servers/vedette.mjs";

/** Values a series has before: one each ten seconds, so that a young series' bar is behind it. */
const HISTORY = 160;
const STEP_MS = 10_000;
/** Series of one service; all anomalies of a turn are of different series. */
const METRICS = 10;
const HISTORY_RECORDS = 1_000;
/** The server may still store what it found, for as long as one more comes in this time. */
const SETTLE_MS = 2_000;
/** A neighbour sends so often. */
const NEIGHBOUR_MS = 25;
/** Two servers that are compared take turns in so many slices, unless their burst says otherwise, and what a slice has left to do is done within SLICE_REST_MS: what gathers does so for 100 ms. */
const SLICES = 10;
const SLICE_REST_MS = 250;

/**
 * How the values come. `anomalies` series get one value far from their history, `services` bear them; requests of `records` records each, `perSecond` of them.
 * What comes at once is compared in slices of a request each, each until nothing more is stored.
 * @typedef {{anomalies: number, services: number, records: number, perSecond: number, slices?: number}} Burst
 * @type {Record<string, Burst>}
 */
export const BURSTS = {
  single: { anomalies: 1_000, services: 100, records: 1, perSecond: 100 },
  "at once": { anomalies: 2_000, services: 200, records: 1_000, perSecond: 1_000, slices: 2 },
  storm: { anomalies: 10_000, services: 1_000, records: 100, perSecond: 10 },
};

/**
 * @typedef {object} AnomalyCost
 * @property {number} cpuMs      of the whole server an anomaly, beyond the same requests with ordinary values
 * @property {number} ordinaryMs the same of an ordinary record
 * @property {number} stored
 * @property {number} seenMs     from the last request's answer until all were stored
 * @property {{aloneMs: number, besideMs: number}} neighbour  p99 of single ordinary requests for another service, beside the ordinary values and beside the anomalies
 */

/**
 * @param {import("../context.mjs").Context} context
 * @param {Burst} burst
 * @param {import("../context.mjs").StartOptions} [starting]
 * @returns {Promise<AnomalyCost>}
 */
export async function anomalyTurn(context, burst, starting) {
  const { server, send, at, end } = await startWithHistory(context, burst, starting);
  try {
    const warm = await phase(server, send, burst, at(HISTORY), ordinary);
    const plain = await phase(server, send, burst, at(HISTORY + 1), ordinary);
    const spiked = await phase(server, send, burst, at(HISTORY + 2), far);
    return {
      cpuMs: ((spiked.cpuSeconds - plain.cpuSeconds) * 1000) / burst.anomalies,
      ordinaryMs: (plain.cpuSeconds * 1000) / burst.anomalies,
      stored: spiked.stored - warm.stored,
      seenMs: spiked.seenMs,
      neighbour: { aloneMs: plain.neighbourMs, besideMs: spiked.neighbourMs },
    };
  } finally {
    await end();
  }
}

/**
 * CPU milliseconds an anomaly of several servers that run at the same time and take turns of some 100 anomalies, ordinary values and far ones one after the other:
 * what the machine does meanwhile, and what a server still compiles, hits both sides of each difference. Of servers one after another, the ratio varied by two.
 * @param {ReadonlyArray<import("../context.mjs").Context>} contexts one a server
 * @param {Burst} burst
 * @returns {Promise<number[]>} in the order of the contexts
 */
export async function anomalySlices(contexts, burst) {
  const { slices = SLICES } = burst;
  const sides = await Promise.all(contexts.map(async (context) => ({ ...(await startWithHistory(context, burst)), cpuMs: 0 })));
  try {
    const inTurns = (slice) => (slice % 2 === 0 ? sides : sides.toReversed());
    for (let slice = 0; slice < slices; slice++) {
      for (const side of inTurns(slice)) await sliceCpuMs(side, burst, { slice, step: HISTORY, draw: ordinary });
    }
    for (let slice = 0; slice < slices; slice++) {
      for (const side of inTurns(slice)) {
        side.cpuMs -= await sliceCpuMs(side, burst, { slice, step: HISTORY + 1, draw: ordinary });
        side.cpuMs += await sliceCpuMs(side, burst, { slice, step: HISTORY + 2, draw: far });
      }
    }
    return sides.map(({ cpuMs }) => cpuMs / burst.anomalies);
  } finally {
    for (const { end } of sides) await end();
  }
}

async function sliceCpuMs({ server, send, at }, burst, { slice, step, draw }) {
  const beforeMs = threadsCpuMs(server.pid);
  const [from, to] = [slice, slice + 1].map((edge) => Math.round((edge * burst.anomalies) / (burst.slices ?? SLICES)));
  await sendStep(send, burst, { timestamp: at(step), draw, from, to });
  if (burst.slices === undefined) await pause(SLICE_REST_MS);
  else await settled(server);
  return threadsCpuMs(server.pid) - beforeMs;
}

/** A fresh server that knows every series of a burst. */
async function startWithHistory(context, burst, starting) {
  const server = await context.startServer("vedette", starting);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const end = async () => {
    agent.destroy();
    await server.kill();
  };
  try {
    const send = (records) => post(agent, server.port, records);
    const beginMs = Date.now() - (HISTORY + 40) * STEP_MS;
    await sendHistory(send, burst, beginMs);
    await settled(server);
    return { server, send, at: (step) => new Date(beginMs + step * STEP_MS).toISOString(), end };
  } catch (error) {
    await end();
    throw error;
  }
}

const ordinary = (series, step) => 100 + 5 * Math.sin(series * 12.9898 + step * 78.233) * Math.cos(series + step * step);
const far = (series, step) => 400 + ordinary(series, step);

const record = (burst, series, timestamp, value) => ({
  service_id: `cost-${series % burst.services}`,
  metric_name: `metric_${Math.floor(series / burst.services) % METRICS}`,
  value,
  timestamp,
});

async function sendHistory(send, burst, beginMs) {
  for (let step = 0; step < HISTORY; step++) {
    const timestamp = new Date(beginMs + step * STEP_MS).toISOString();
    const all = Array.from({ length: burst.anomalies }, (_, series) => record(burst, series, timestamp, ordinary(series, step)));
    for (let from = 0; from < all.length; from += HISTORY_RECORDS) await send(all.slice(from, from + HISTORY_RECORDS));
  }
}

/** Sends one value of each series and waits until nothing more is stored. */
async function phase(server, send, burst, timestamp, draw) {
  const cpuBefore = server.cpuSeconds();
  const neighbour = startNeighbour(send, timestamp);
  await sendStep(send, burst, { timestamp, draw, from: 0, to: burst.anomalies });
  const answeredMs = performance.now();
  const { stored, atMs } = await settled(server);
  const neighbourMs = await neighbour.end();
  return { cpuSeconds: server.cpuSeconds() - cpuBefore, stored, seenMs: Math.max(0, atMs - answeredMs), neighbourMs };
}

/** Sends one value of each series from `from` to `to`, at the pace of the burst; resolves with the last answer. */
async function sendStep(send, burst, { timestamp, draw, from, to }) {
  const beginMs = performance.now();
  const step = Date.parse(timestamp) / STEP_MS;
  const waiting = [];
  for (let first = from, index = 0; first < to; first += burst.records, index++) {
    await pause(beginMs + (index * 1000) / burst.perSecond - performance.now());
    const records = Array.from({ length: Math.min(burst.records, to - first) }, (_, place) =>
      record(burst, first + place, timestamp, draw(first + place, step)),
    );
    waiting.push(send(records));
  }
  await Promise.all(waiting);
}

/** Sends ordinary values of another service, one after another; `end` resolves with the p99 of their answers. */
function startNeighbour(send, timestamp) {
  const tookMs = [];
  let isOver = false;
  const loop = async () => {
    for (let at = 0; !isOver; at++) {
      const startMs = performance.now();
      const time = new Date(Date.parse(timestamp) + at).toISOString();
      await send([{ service_id: "neighbour", metric_name: "metric", value: 100 + (at % 7), timestamp: time }]);
      tookMs.push(performance.now() - startMs);
      await pause(NEIGHBOUR_MS);
    }
    return tookMs.sort((a, b) => a - b)[Math.floor(0.99 * tookMs.length)];
  };
  const ended = loop();
  return {
    end: () => {
      isOver = true;
      return ended;
    },
  };
}

/** What is stored once no more comes, and when the last came. */
async function settled(server) {
  let [stored, atMs] = [Number.NaN, performance.now()];
  for (;;) {
    const now = (await server.metrics()).sum("vedette_anomalies_stored_total");
    if (now !== stored) [stored, atMs] = [now, performance.now()];
    else if (performance.now() - atMs > SETTLE_MS) return { stored, atMs };
    await pause(250);
  }
}

/** Resolves with the answer's status; throws where it is none of 2xx. */
function post(agent, port, records) {
  const [path, body] = records.length === 1 ? [SINGLE_PATH, JSON.stringify(records[0])] : [BATCH_PATH, JSON.stringify(records)];
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const sent = request({ agent, host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", () => (response.statusCode < 300 ? resolve() : reject(new Error(`POST ${path} answered ${response.statusCode}`))));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
