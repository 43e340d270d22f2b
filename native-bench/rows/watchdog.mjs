// The Watchdog's cycle over many series beside a load: how long it takes, what it does to detection, and what a long baseline takes of memory.
import { seriesPerService } from "../bodies/mapped-services.mjs";
import { ripePairs, watchCycles } from "../clients/cycle-watch.mjs";
import { detectionTurn } from "../clients/detection-turn.mjs";
import { shown } from "../measure.mjs";
import { serverTurn, takeTurns } from "../turns.mjs";

const series = { whole: 100_000, quick: 20_000 };
const samplesPerRequest = 2_000;
/** Spikes sent, of which the first 2,000 are left out. */
const plants = { whole: 5_000, quick: 2_500 };

/** @type {import("../turns.mjs").Row} */
export const watchdog = {
  name: "watchdog",
  what:
    `a cycle of the Watchdog over ${shown(series.whole)} series of ${shown(series.whole / seriesPerService)} services (--quick: ${shown(series.quick)}) and the 14,000 of the load, every 15 s, ` +
    "beside a load of half of what saturates the server: its duration and its work, and the detection latency of planted anomalies meanwhile; the first cycles, which take the whole past in, are left out",
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const services = series[size] / seriesPerService;
    const endMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    const files = {
      loaded: await context.bodies.get("mapped-services", { services, endMs }),
      planted: await context.bodies.get("planted"),
      saturating: await context.bodies.get("A"),
    };
    let rate = 0;
    const turns = await takeTurns(context, {
      saturation: async () => {
        const result = await serverTurn(context, "vedette", { file: files.saturating, connections: 5, coldRequests: 50 });
        rate = result.warm.samplesPerSecond;
        return result;
      },
      cycles: () =>
        detectionTurn(context, {
          file: files.planted,
          requestsPerSecond: rate / 2 / samplesPerRequest,
          requests: plants[size],
          env: { WATCHDOG_INTERVAL_SECONDS: "15" },
          during: async (server) => {
            const loaded = await context.send({ server, file: files.loaded, connections: 5 });
            if (loaded.firstRefusal !== "") throw new Error(`refused: ${loaded.firstRefusal}`);
            return watchCycles(server, await ripePairs(server, series[size]));
          },
        }),
    });
    const cycles = turns.cycles.map(({ bystanders }) => bystanders);
    return {
      lines: [
        {
          label: "longest cycle",
          values: cycles.map(({ longestMs }) => longestMs),
          unit: "ms",
          bar: 5_000,
          lowerIsBetter: true,
          note: `${shown(cycles[0].pairs)} long baselines; ${shown(Math.min(...cycles.map(({ cycles: n }) => n)))} cycles at least`,
        },
        {
          label: "work of a cycle, all threads",
          values: cycles.map(({ workMs }) => workMs),
          unit: "ms",
          note: "mean; time that bystanders took counts in",
        },
        {
          label: "detection p99, stored, beside it",
          values: turns.cycles.map(({ server }) => server.p99Ms),
          unit: "ms",
          bar: 100,
          lowerIsBetter: true,
          note: `in its bucket, at most ${turns.cycles.map(({ server }) => `${shown(server.boundMs)} ms`).join(", ")}`,
        },
      ],
      notMeasured: [],
    };
  },
};
