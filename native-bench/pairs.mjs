// CPU of two builds in alternating pairs: what before-after.mjs and bench-guard.mjs compare. User and system time of the whole server process a unit of work, so that a busy machine moves both sides alike.
import { resolve } from "node:path";
import { anomalySlices, BURSTS } from "./clients/anomaly-turn.mjs";
import { detectionTurn } from "./clients/detection-turn.mjs";
import { median, shown, shownRange } from "./measure.mjs";
import { BATCH_PATH, JSON_HEADERS, OTLP_HEADERS, OTLP_LOGS_PATH, OTLP_TRACES_PATH } from "./servers/vedette.mjs";
import { serverTurn } from "./turns.mjs";

const PLANTING = { series: 10_000, every: 8, coldEvery: 3 };
/** A third of those of the row detection-latency: CPU is what is compared here, and the machine may be busy. */
const PLANTS = 2_667;

/** Bodies and how they are sent, by row; `burst` where a row counts anomalies. */
export const ROWS = {
  "remote-write-10k": { shape: "A", size: { samples: 7_000_000 }, sending: { connections: 5, coldRequests: 800 } },
  "remote-write-10-samples": { shape: "C", size: { samples: 7_000_000 }, sending: { connections: 5, coldRequests: 300 } },
  "json-batches": {
    shape: "json-batches",
    size: { records: 1_000_000 },
    sending: { path: BATCH_PATH, headers: JSON_HEADERS, connections: 5, coldRequests: 200 },
  },
  "otlp-logs": {
    shape: "otlp-logs",
    size: { logs: 500_000 },
    sending: { path: OTLP_LOGS_PATH, headers: OTLP_HEADERS, connections: 5, coldRequests: 200 },
  },
  "otlp-traces": {
    shape: "otlp-traces",
    size: { spans: 1_000_000 },
    sending: { path: OTLP_TRACES_PATH, headers: OTLP_HEADERS, connections: 5, coldRequests: 150 },
  },
  anomalies: { burst: BURSTS.single },
  "anomalies-at-once": { burst: BURSTS["at once"] },
  detection: { shape: "planted", size: { ...PLANTING, plants: PLANTS } },
};

/** CPU microseconds of the server a unit of the row's work: a sample, a record or an anomaly. */
async function unitMicroseconds(context, { shape, size, sending }) {
  const file = await context.bodies.get(shape, size);
  const { warm } = await (sending === undefined
    ? detectionTurn(context, { file, planting: PLANTING })
    : serverTurn(context, "vedette", { file, ...sending }));
  return (warm.serverCpuSeconds / warm.samples) * 1e6;
}

/** The same of both sides, in their order; where a row counts anomalies both run at the same time, in slices. */
async function pairMicroseconds(contexts, row) {
  if (row.burst !== undefined) return (await anomalySlices(contexts, row.burst)).map((ms) => ms * 1000);
  const measured = [];
  for (const context of contexts) measured.push(await unitMicroseconds(context, row));
  return measured;
}

/** A context whose Vedette is that of another checkout. */
function ofCheckout(context, folder) {
  const mainFile = resolve(folder, "dist", "main.js");
  return { ...context, startServer: (kind, options) => context.startServer(kind, { ...options, mainFile }) };
}

const both = (values) => `${shown(median(values))} (${shownRange(values)})`;

/**
 * Runs one row in alternating pairs over the builds of two checkouts.
 * @returns {Promise<{ratio: number, line: string}>} the median of the pairs' ratios, after to before, and what people read
 */
export async function comparePairs(context, name, { before, after, pairs }) {
  const sides = { before: ofCheckout(context, before), after: ofCheckout(context, after) };
  const cpu = { before: [], after: [] };
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? ["before", "after"] : ["after", "before"];
    const measured = await pairMicroseconds(
      order.map((side) => sides[side]),
      ROWS[name],
    );
    for (const [place, side] of order.entries()) cpu[side].push(measured[place]);
    context.log(`${name} ${pair + 1}: ${shown(cpu.before.at(-1))} and ${shown(cpu.after.at(-1))} us`);
  }
  const ratios = cpu.after.map((value, pair) => value / cpu.before[pair]);
  const line = `${name}: before ${both(cpu.before)}, after ${both(cpu.after)} us; ratio, median of pairs ${both(ratios)}`;
  return { ratio: median(ratios), line };
}
