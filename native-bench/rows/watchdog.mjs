// The Watchdog's cycle over many series beside a load: how long it takes, what it does to detection; the same of the first cycle, which takes the past in.
import { cpSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { seriesPerService } from "../bodies/watched-services.mjs";
import { untilFigures, watchCycles } from "../clients/cycle-watch.mjs";
import { detectionTurn } from "../clients/detection-turn.mjs";
import { sendRounds } from "../clients/live-rounds.mjs";
import { shown } from "../measure.mjs";
import { saturationTurn, takeTurns } from "../turns.mjs";

const services = { whole: 5_000, quick: 1_000 };
/** Of these so many have history enough for a model (256 vectors): the others would take minutes to train. */
const modelled = { whole: 500, quick: 200 };
const cycleMs = 15_000;
/** Of each series, a cycle apart: its ring is full. */
const history = 120;
/** Before these, of the services that are to have a model. */
const earlier = 180;
const samplesPerRequest = 2_000;
/** Sent with spikes: one in each of the first 2,000, which are left out, then one in each fourth. */
const requestsSent = { whole: 13_000, quick: 5_000 };
const roundsMax = 20;
/** Cycles that are left out after a start: those that take in what the store has of bounded series. */
const ripeCycles = 3;
/** Before a cycle is due: what the load leaves out has passed by then, and the cycle ends beside the load also where that is fast, and so short. */
const loadAheadMs = 2_000;
const env = { WATCHDOG_INTERVAL_SECONDS: String(cycleMs / 1000) };

/** @type {import("../turns.mjs").Row} */
export const watchdog = {
  name: "watchdog",
  what:
    `a cycle of the Watchdog over ${shown(services.whole)} services of ${seriesPerService} series (--quick: ${shown(services.quick)}) and the 10,000 series of the load, every ${cycleMs / 1000} s, each series with a new value in each, ` +
    `${shown(modelled.whole)} services with a model (--quick: ${shown(modelled.quick)}), beside a load of half of what saturates the server, measured once before, that begins ${loadAheadMs / 1000} s before a cycle is due: duration, work, and the detection latency of planted anomalies meanwhile; the same of the first cycle ` +
    `after ${history} values of each series have come at once. The server has one core, where the goal is one of two`,
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const series = services[size] * seriesPerService;
    const endMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    const shape = { stepMs: cycleMs };
    const files = {
      earlier: await context.bodies.get("watched-services", {
        ...shape,
        services: modelled[size],
        samplesPerSeries: earlier,
        endMs: endMs - history * cycleMs,
      }),
      history: await context.bodies.get("watched-services", { ...shape, services: services[size], samplesPerSeries: history, endMs }),
      planted: await context.bodies.get("planted"),
      saturating: await context.bodies.get("A"),
    };
    const prepared = await preparedFolder(context, files, modelled[size], series);
    const own = join(context.workDir, "watched-copy");
    const { samplesPerSecond } = (await saturationTurn(context, files.saturating)).warm;
    const beside = (requests) => ({ file: files.planted, requestsPerSecond: samplesPerSecond / 2 / samplesPerRequest, requests, env });
    const turns = await takeTurns(context, {
      cycles: () => cyclesTurn(context, beside(requestsSent[size]), { prepared, own, services: services[size], models: modelled[size] }),
      first: () => firstTurn(context, beside(requestsSent[size]), { file: files.history, series }),
    });
    rmSync(own, { recursive: true, force: true });
    rmSync(prepared, { recursive: true, force: true });
    const cycles = turns.cycles.map(({ bystanders }) => bystanders);
    const firsts = turns.first.map(({ bystanders }) => bystanders);
    const { pairs, models, saturated } = cycles[0];
    return {
      lines: [
        {
          label: "longest cycle",
          values: cycles.map(({ longestMs }) => longestMs),
          unit: "ms",
          bar: 5_000,
          lowerIsBetter: true,
          note: `${shown(pairs)} long baselines, ${shown(models)} models, ${shown(saturated)} bounded series; ${shown(Math.min(...cycles.map(({ cycles: n }) => n)))} cycles at least`,
        },
        {
          label: "work of a cycle, all threads",
          values: cycles.map(({ workMs }) => workMs),
          unit: "ms",
          note: "mean; time that bystanders took counts in",
        },
        p99Line("detection p99, stored, beside it", turns.cycles),
        {
          label: "first cycle after the past came",
          values: firsts.map(({ durationMs }) => durationMs),
          unit: "ms",
          note: `${shown(series * history)} values; the load may end before it`,
        },
        p99Line("detection p99, stored, beside the first", turns.first),
      ],
      notMeasured: [],
    };
  },
};

/** Cycles of a server that has all its baselines and models, each series with a new value in each. */
function cyclesTurn(context, load, { prepared, own, services, models: modelsWanted }) {
  rmSync(own, { recursive: true, force: true });
  cpSync(prepared, own, { recursive: true });
  let endRounds;
  return detectionTurn(context, {
    ...load,
    dataDir: own,
    during: async (server) => {
      endRounds = await sendRounds(context, server, { services, rounds: roundsMax, stepMs: cycleMs });
      const isRipe = ({ cycles, pairs, models }) => cycles >= ripeCycles && pairs >= services * seriesPerService && models >= modelsWanted;
      const ripe = await untilFigures(server, isRipe);
      const last = await untilFigures(server, ({ cycles }) => cycles > ripe.cycles);
      await pause(Math.max(0, cycleMs - last.durationMs - loadAheadMs));
      return watchCycles(server, last);
    },
    after: async () => {
      endRounds();
    },
  });
}

/** The first cycle over what came at once. */
function firstTurn(context, load, { file, series }) {
  let first;
  return detectionTurn(context, {
    ...load,
    during: async (server) => {
      await sendWhole(context, server, file);
      return async () => first;
    },
    after: async (server) => {
      first = await untilFigures(server, ({ cycles, pairs }) => cycles >= 2 && pairs >= series);
    },
  });
}

function p99Line(label, results) {
  const note = `in its bucket, at most ${results.map(({ server }) => `${shown(server.boundMs)} ms`).join(", ")}`;
  return { label, values: results.map(({ server }) => server.p99Ms), unit: "ms", bar: 100, lowerIsBetter: true, note };
}

async function sendWhole(context, server, file) {
  const { firstRefusal } = await context.send({ server, file, connections: 5 });
  if (firstRefusal !== "") throw new Error(`refused: ${firstRefusal}`);
}

/** A data folder of a server that has taken the history in and trained what it could, on all cores. */
async function preparedFolder(context, files, models, series) {
  const dataDir = join(context.workDir, "watched");
  rmSync(dataDir, { recursive: true, force: true });
  const startMs = performance.now();
  const server = await context.startServer("vedette", { core: `0-${availableParallelism() - 1}`, env, dataDir, keepData: true });
  try {
    await sendWhole(context, server, files.earlier);
    await sendWhole(context, server, files.history);
    await untilFigures(server, (now) => now.pairs >= series && now.models >= models && now.modelsWaiting === 0);
  } finally {
    await server.stop();
  }
  context.log(`${shown(models)} models were trained in ${shown((performance.now() - startMs) / 1000)} s`);
  return dataDir;
}
