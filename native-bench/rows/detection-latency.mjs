// Row 8: how long an anomaly takes from its bytes to the store, and to a client that listens.
import { coldPlantCount } from "../bodies/planted.mjs";
import { detectionTurn, STAGES } from "../clients/detection-turn.mjs";
import { median, shown } from "../measure.mjs";
import { saturationTurn, takeTurns } from "../turns.mjs";

const samplesPerRequest = 2_000;
/** The series of row 1, whose rate is the load, and full mantissas as there. One spike in each third request took a third of the CPU beside the samples, so that half of row 1's rate was more than half of what the server can. */
const planting = { series: 10_000, every: 8, coldEvery: 3 };
/** Less the cold ones these are 10,005 in three turns. Whole rounds of the five shards. */
const plants = 5_335;
/** What comes first comes slower: see below. */
const earlyShare = 0.7;
/** Fewer of a turn's warm plants than this in quiet windows: all of them are taken. */
const quietPlantsMin = (plants - coldPlantCount) / 3;
const marks = { half: { bar: 20, goal: 5 }, full: { bar: 100, goal: 50 } };

/** @type {import("../turns.mjs").Row} */
export const detectionLatency = {
  name: "detection-latency",
  what:
    "detection latency over 10,000 planted anomalies, a third of them in each of three turns: one in every eighth request of 2,000 samples, one a series, behind 2,000, one in every third, that are left out and, in the open loop, come at 0.7 of the rate (the server is fresh: what an anomaly runs through is being compiled); quiet noise around them, 10,000 series; at half of row 1's " +
    "closed-loop rate, measured just before (open loop), and at full (closed loop, 5 connections). Stored: the server's histogram, from the last byte of the " +
    "body to the commit. As the sender sees it: from sending (open loop: from the due time) to its event on GET /api/v1/stream; of the windows of 3 s in which " +
    "the hypervisor took less than 0.01 of a core from us, where a third of the plants or more lie in such; of all beside it",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("planted", { ...planting, plants });
    const saturating = await context.bodies.get("A");
    const contestants = {
      saturation: () => saturationTurn(context, saturating),
      half: (_repeat, { saturation }) => {
        const requestsPerSecond = saturation.at(-1).warm.samplesPerSecond / 2 / samplesPerRequest;
        // What waits behind the cold ones would wait before those that count: up to half a minute, where the server has little to spare.
        return detectionTurn(context, {
          file,
          planting,
          requestsPerSecond,
          earlyPerSecond: earlyShare * requestsPerSecond,
          inWindows: true,
        });
      },
      full: () => detectionTurn(context, { file, planting, inWindows: true }),
    };
    const turns = await takeTurns(context, contestants, { attemptsMax: 3 });
    return { lines: ["half", "full"].flatMap((load) => detectionLines(load, turns[load], marks[load])), notMeasured: [] };
  },
};

function detectionLines(load, turns, { bar, goal }) {
  const rates = turns.map(({ warm }) => shown(warm.samplesPerSecond)).join(", ");
  const judged = turns.map((turn) => (turn.quiet.plants < quietPlantsMin ? turn : turn.quiet));
  const counted = turns.map((turn, place) => (judged[place] === turn ? "all" : shown(turn.quiet.plants))).join(", ");
  const bounds = turns.map(({ server }) => `${shown(server.boundMs)} ms`).join(", ");
  const seen = judged.map(({ seen: { p50Ms, maxMs } }) => `p50 ${shown(p50Ms)}, max ${shown(maxMs)}`).join("; ");
  const all = (values) => `of all ${values.map(shown).join(", ")} ms`;
  const others = Math.max(...turns.map((turn) => turn.others));
  return [
    {
      label: `${load} saturation, stored, p99`,
      values: turns.map(({ server }) => server.p99Ms),
      unit: "ms",
      bar,
      goal,
      lowerIsBetter: true,
      note: `interpolated in its bucket, at most ${bounds}; ${rates} samples/s`,
    },
    {
      label: `${load} saturation, as the sender sees it, p99`,
      values: judged.map(({ seen }) => seen.p99Ms),
      unit: "ms",
      bar,
      goal,
      lowerIsBetter: true,
      note: `${seen} ms; ${all(turns.map(({ seen }) => seen.p99Ms))}; in quiet windows ${counted} of ${shown(plants - coldPlantCount)}; ${Math.min(...turns.map(({ heard }) => heard))} heard of`,
    },
    {
      label: `${load} saturation, as the sender sees it, p99 of the first ${shown(coldPlantCount)}`,
      values: turns.map(({ coldSeen }) => coldSeen.p99Ms),
      unit: "ms",
      note: "left out above",
    },
    {
      label: `${load} saturation, committed, mean`,
      values: turns.map(({ stages }) => stages.committed),
      unit: "ms",
      note: `from the arrival of the bytes to the end of each stage, medians: ${STAGES.map((stage) => `${stage} ${shown(median(turns.map(({ stages }) => stages[stage])))}`).join(", ")} ms`,
    },
    {
      label: `${load} saturation, planted anomalies stored`,
      values: turns.map(({ stored }) => stored),
      unit: `of ${shown(plants)}`,
      bar: plants,
      goal: plants,
      note: `${others} others`,
    },
  ];
}
