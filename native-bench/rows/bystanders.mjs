// Bounded: ten thousand connections and slow clients do not move the detection latency of others.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { clientCore, detectionTurn, untilFile } from "../clients/detection-turn.mjs";
import { shown } from "../measure.mjs";
import { ratioLine, takeTurns } from "../turns.mjs";

const crowdFile = fileURLToPath(new URL("../clients/connection-crowd.mjs", import.meta.url));
const requestsPerSecond = 250;
/** Of the requests that are left out. */
const earlyPerSecond = 400;
/** The last twelve seconds count: 750 anomalies. */
const requests = 5_000;
const plants = 2_750;

/** @type {import("../turns.mjs").Row} */
export const bystanders = {
  name: "bystanders",
  what:
    "detection latency p99 over 750 planted anomalies, one in each fourth request, behind 2,000 that are left out, at a fixed 500,000 samples/s (open loop, 5 connections; 800,000 of what is left out), alone and beside 10,000 connections: 3,000 that never ask, " +
    "6,600 that ask for /healthz every 6 s, 200 that send a batch at 5 bytes a second, 200 that ask for event streams and pages of anomalies and read nothing; " +
    "what the server closes is opened again",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("planted");
    const turn = (during) => () => detectionTurn(context, { file, requestsPerSecond, earlyPerSecond, requests, during });
    const turns = await takeTurns(context, { alone: turn(), crowded: turn((server) => startCrowd(context, server)) });
    const { alone, crowded } = turns;
    const p99 = (results) => results.map(({ server }) => server.p99Ms);
    const crowd = crowded.map(({ bystanders: { opened, usuallyOpen, fewestOpen } }) => {
      return `${shown(usuallyOpen)} open (median; at least ${shown(fewestOpen)}), ${shown(opened)} opened in all`;
    });
    return {
      lines: [
        ...latencyLines("alone", alone),
        ...latencyLines("beside 10,000 connections", crowded),
        ratioLine("beside 10,000 connections / alone, stored", p99(crowded), p99(alone), { lowerIsBetter: true, note: crowd.join("; ") }),
      ],
      notMeasured: [],
    };
  },
};

function latencyLines(label, turns) {
  const bounds = turns.map(({ server }) => `${shown(server.boundMs)} ms`).join(", ");
  const found = Math.min(...turns.map(({ stored }) => stored));
  return [
    {
      label: `${label}, stored, p99`,
      values: turns.map(({ server }) => server.p99Ms),
      unit: "ms",
      note: `interpolated in its bucket, at most ${bounds}; ${shown(found)} of ${shown(plants)} found at least`,
    },
    { label: `${label}, as the sender sees it, p99`, values: turns.map(({ seen }) => seen.p99Ms), unit: "ms" },
  ];
}

/** Resolves once all are connected, with what ends with the server and then tells what became of them. */
async function startCrowd(context, server) {
  const readyFile = join(context.workDir, `crowd-${server.port}.ready`);
  const totals = context.runPinned(process.execPath, [crowdFile, server.port, readyFile].map(String), clientCore(context)).then(JSON.parse);
  await Promise.race([untilFile(readyFile), totals]);
  return () => totals;
}
