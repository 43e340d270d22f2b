// What is computed of models and of the future: a shadow beside the model in production, causes and forecasts.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { median, ratios, shown } from "../measure.mjs";
import { BATCH_PATH } from "../servers/vedette.mjs";

const MINUTE_MS = 60_000;
const METRICS = 20;
const cycleMs = 5_000;
/** Vectors of a model's training, a cycle apart. */
const HISTORY = 300;
const PAIRS = 4;
const IDLE_CYCLES = 3;
/** Of each metric in a cycle: what senders that tell every 15 s bring in one of a minute. */
const VALUES = 4;
/** Before the first pair, so that what is judged so seldom is compiled. */
const WARM_CYCLES = 8;
const services = { whole: 100, quick: 20 };
const cyclesPerPair = { whole: 3, quick: 2 };
const env = { WATCHDOG_INTERVAL_SECONDS: String(cycleMs / 1000), WATCHDOG_Z_SCORE_THRESHOLD: "10" };

/** @type {import("../turns.mjs").Row} */
export const shadowModels = {
  name: "shadow-models",
  what:
    `${shown(services.whole)} services of ${METRICS} metrics (--quick: ${shown(services.quick)}), ${VALUES} values of each in a cycle of the Watchdog of ${cycleMs / 1000} s, as of senders that tell every 15 s in one of a minute: CPU of the server a value where ` +
    `each service has a shadow beside the model in production, against one that has none, ${PAIRS} pairs, both at the same time and in alternating order`,
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const count = services[size];
    const sides = { shadows: undefined, none: undefined };
    try {
      // Both at the same time here too: most of it is waiting for cycles.
      await allSettled(Object.keys(sides), async (side) => {
        sides[side] = await preparedServer(context, count, side === "shadows");
      });
      const values = { shadows: [], none: [] };
      for (let pair = 0; pair < PAIRS; pair++) {
        const order = pair % 2 === 0 ? ["shadows", "none"] : ["none", "shadows"];
        // Both at the same time: what slows the machine slows both.
        await Promise.all(order.map(async (side) => values[side].push(await usPerValue(sides[side], count, cyclesPerPair[size]))));
        context.log(`${pair + 1}/${PAIRS}: ${shown(values.shadows.at(-1))} and ${shown(values.none.at(-1))} us a value`);
      }
      const scored = await scoredBy(sides.shadows);
      const idle = {};
      await allSettled(Object.entries(sides), async ([side, server]) => {
        const us = await cpuUs(server.pid, () => pause(IDLE_CYCLES * cycleMs));
        idle[side] = us / (IDLE_CYCLES * count * METRICS * VALUES);
      });
      const worked = (side) => values[side].map((us) => us - idle[side]);
      const ratio = { against: "without shadows", values: ratios(values.shadows, values.none) };
      return {
        lines: [
          {
            label: "with shadows",
            values: values.shadows,
            unit: "us a value",
            ratio,
            bar: 1.05,
            lowerIsBetter: true,
            note: `${shown(scored)} vectors scored by shadows; median of the differences ${shown(median(values.shadows.map((us, pair) => us - values.none[pair])))} us a value`,
          },
          {
            label: "without what the server takes when idle",
            values: worked("shadows"),
            unit: "us a value",
            ratio: { against: "without shadows", values: ratios(worked("shadows"), worked("none")) },
            lowerIsBetter: true,
            note: `idle: ${shown(idle.shadows)} and ${shown(idle.none)} us a value of a cycle`,
          },
        ],
        notMeasured: [],
      };
    } finally {
      for (const server of Object.values(sides)) await server?.stop();
    }
  },
};

/** Does all of `work` to its end before the first failure is thrown: who ends servers then finds each. */
async function allSettled(items, work) {
  const results = await Promise.allSettled(items.map(work));
  const failed = results.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** A server whose services have their models, and a shadow each where they are to have one. */
async function preparedServer(context, count, withShadows) {
  const server = await context.startServer("vedette", { env });
  const endMs = Date.now() - cycleMs;
  for (let service = 0; service < count; service += 5) {
    const records = [];
    for (let at = service; at < Math.min(count, service + 5); at++) {
      for (let i = 0; i < HISTORY; i++) records.push(...vector(at, endMs - (HISTORY - i) * cycleMs));
    }
    for (let at = 0; at < records.length; at += 10_000) await send(server, BATCH_PATH, records.slice(at, at + 10_000));
  }
  const untilMs = Date.now() + 300_000;
  const trained = async () => (await server.metrics()).sum("vedette_service_models_trained_total");
  while ((await trained()) < count) {
    if (Date.now() > untilMs) throw new Error(`${await trained()} of ${count} services have their models after five minutes`);
    await round(server, count);
  }
  for (let service = 0; withShadows && service < count; ) {
    const body = { service_id: `service-${service}`, training_window_days: 1, model_type: "isolation_forest" };
    if (await send(server, "/api/v1/ml/train", body)) service++;
    else await pause(500);
  }
  const shadows = async () => (await server.metrics()).sum("vedette_shadow_models");
  while (withShadows && (await shadows()) < count) {
    if (Date.now() > untilMs) throw new Error(`${await shadows()} of ${count} services have a shadow after five minutes`);
    await pause(500);
  }
  for (let i = 0; i < WARM_CYCLES; i++) await round(server, count);
  return server;
}

async function usPerValue(server, count, cycles) {
  const us = await cpuUs(server.pid, async () => {
    for (let i = 0; i < cycles; i++) await round(server, count);
  });
  return us / (cycles * count * METRICS * VALUES);
}

/** A cycle with its values. */
async function round(server, count) {
  for (let value = 0; value < VALUES; value++) {
    const startMs = performance.now();
    const nowMs = Date.now();
    const vectors = Array.from({ length: count }, (_, service) => vector(service, nowMs));
    await send(server, BATCH_PATH, vectors.flat());
    await pause(Math.max(0, cycleMs / VALUES - (performance.now() - startMs)));
  }
}

/** Metrics that follow one load. */
function vector(service, timeMs) {
  const load = Math.sin(timeMs / 40_000 + service) + 0.3 * (Math.random() - 0.5);
  const timestamp = new Date(timeMs).toISOString();
  return Array.from({ length: METRICS }, (_, metric) => ({
    service_id: `service-${service}`,
    metric_name: `metric.${metric}`,
    value: 50 + ((metric % 5) + 1) * load + Math.random(),
    timestamp,
  }));
}

/** False where the server has no room. */
async function send(server, path, body) {
  const token = readFileSync(`${server.dataDir}/admin-token`, "utf8").trim();
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok && response.status !== 503) throw new Error(`${path}: ${response.status} ${text}`);
  return response.ok;
}

async function scoredBy(server) {
  return (await server.metrics()).sum("vedette_shadow_vectors_total");
}

/** CPU that a process takes meanwhile, user and system, to the nanosecond; of threads that end meanwhile nothing counts. */
async function cpuUs(pid, meanwhile) {
  const read = () => {
    const tasks = readdirSync(`/proc/${pid}/task`);
    return new Map(
      tasks.map((task) => [task, Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ", 1)[0]) / 1000]),
    );
  };
  const before = read();
  await meanwhile();
  return [...read()].reduce((sum, [task, us]) => sum + us - (before.get(task) ?? 0), 0);
}

const COMPUTED = 9;

/** @type {import("../turns.mjs").Row} */
export const predictions = {
  name: "predictions",
  what: "in one thread without a server, by CPU: which of 30 metrics lead which in 720 minutes, and the forecast of 720 hours by the best of all methods, 24 and 168 hours ahead",
  quick: false,
  async run() {
    const { discoverLinks } = await import("../../dist/domain/causality/causal-discovery.js");
    const { forecastSeries } = await import("../../dist/domain/forecast/forecast.js");
    const metrics = Array.from({ length: 30 }, (_, metric) => course(720, 1_440, metric));
    const hours = course(720, 24, 1);
    const range = { lower: 0, upper: Number.POSITIVE_INFINITY };
    const forecast = (horizon) => forecastSeries({ values: hours, periods: [24, 168], horizon }, { algorithm: "auto", level: 0.95, range });
    const aims = { unit: "ms", lowerIsBetter: true };
    return {
      lines: [
        { label: "causes", values: cpuMs(() => discoverLinks(metrics, { stepMs: MINUTE_MS, lagMax: 12 })), ...aims, bar: 1_000, goal: 300 },
        { label: "forecast, 24 ahead", values: cpuMs(() => forecast(24)), ...aims, bar: 500, goal: 150 },
        { label: "forecast, 168 ahead", values: cpuMs(() => forecast(168)), ...aims, bar: 500, goal: 150 },
      ],
      notMeasured: [],
    };
  },
};

/** A season, and noise that resembles itself. */
function course(length, period, phase) {
  let noise = 0;
  return Float64Array.from({ length }, (_, step) => {
    noise = 0.7 * noise + Math.random() - 0.5;
    return 100 + 20 * Math.sin((2 * Math.PI * (step + 40 * phase)) / period) + noise;
  });
}

/** After one that is not counted. */
function cpuMs(work) {
  work();
  return Array.from({ length: COMPUTED }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
}
