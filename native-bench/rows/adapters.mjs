// What node:http costs where uWebSockets.js does not load: the same remote-write over both, in turns.
import { conditions, ratioLine, SATURATION_COLD_REQUESTS, serverTurn, takeTurns } from "../turns.mjs";

/** @type {import("../turns.mjs").Row} */
export const adapters = {
  name: "adapters",
  what:
    "node:http against uWebSockets.js: remote-write of 10,000 series, 2,000 samples a request; 5 connections, closed loop, server on one core, sender on the other; " +
    `${SATURATION_COLD_REQUESTS} requests left out`,
  quick: false,
  async run(context) {
    const file = await context.bodies.get("A", context.quick ? { samples: 7_000_000 } : {});
    const coldRequests = context.quick ? 800 : SATURATION_COLD_REQUESTS;
    const over = (kind) => () => serverTurn(context, "vedette", { file, connections: 5, coldRequests }, { env: { HTTP_ENGINE: kind } });
    const turns = await takeTurns(context, { uws: over("uws"), node: over("node") });
    const rate = (name) => turns[name].map(({ warm }) => warm.samplesPerSecond);
    const cpu = (name) => turns[name].map(({ warm }) => (warm.serverCpuSeconds / warm.samples) * 1e6);
    return {
      lines: [
        { label: "uWebSockets.js", values: rate("uws"), unit: "samples/s", note: conditions(turns.uws) },
        { label: "node:http", values: rate("node"), unit: "samples/s", note: conditions(turns.node) },
        ratioLine("node:http / uWebSockets.js, rate", rate("node"), rate("uws"), { goal: 0.8 }),
        ratioLine("node:http / uWebSockets.js, CPU a sample", cpu("node"), cpu("uws"), { lowerIsBetter: true }),
      ],
      notMeasured: [],
    };
  },
};
