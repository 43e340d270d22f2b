// What authenticating costs: the CPU time of the gate with a credential beyond that without one, as a share of the CPU time of a whole request.
import { fileURLToPath } from "node:url";
import { JSON_HEADERS, SINGLE_PATH } from "../servers/vedette.mjs";
import { conditions, serverTurn, takeTurns } from "../turns.mjs";

const authorizerFile = fileURLToPath(new URL("../clients/authorizer-loop.mjs", import.meta.url));
const secret = "the secret of a bench: 32 bytes or more";
const passes = 400_000;

/** @type {import("../turns.mjs").Row} */
export const authCost = {
  name: "auth-cost",
  what:
    "CPU of the gate a request with a known credential beyond that without one (1,000 different ones in a loop of the gate alone), as a share of the CPU of a whole request " +
    "without one: single records and remote-write of 2,000 samples, 5 connections, closed loop, server on one core. Whole requests with a credential are not sent: the " +
    "difference is smaller than what two turns of one server differ by",
  quick: false,
  async run(context) {
    const singles = { file: await context.bodies.get("json-singles", context.quick ? { records: 300_000 } : {}), path: SINGLE_PATH };
    const batches = { file: await context.bodies.get("A", context.quick ? { samples: 5_000_000 } : {}) };
    const starting = { env: { JWT_SECRET: secret } };
    const gate = (kind) => async () => Number(await context.runPinned(process.execPath, [authorizerFile, kind, String(passes)]));
    const turns = await takeTurns(context, {
      single: () => serverTurn(context, "vedette", { ...singles, headers: JSON_HEADERS, connections: 5, coldRequests: 20_000 }, starting),
      "2,000 samples": () => serverTurn(context, "vedette", { ...batches, connections: 5, coldRequests: 50 }, starting),
      "gate, nobody": gate("nobody"),
      "gate, key": gate("key"),
      "gate, token": gate("token"),
    });
    return { lines: linesOf(turns), notMeasured: [] };
  },
};

const cpuMicroseconds = (results) => results.map(({ warm }) => (warm.serverCpuSeconds / warm.requests) * 1e6);

function linesOf(turns) {
  const lines = [];
  for (const [request, bar] of Object.entries({ single: 0.15, "2,000 samples": 0.03 })) {
    const whole = cpuMicroseconds(turns[request]);
    lines.push({ label: `${request}, nobody`, values: whole, unit: "us of CPU a request", note: conditions(turns[request]) });
    for (const kind of ["key", "token"]) {
      const added = turns[`gate, ${kind}`].map((value, repeat) => value - turns["gate, nobody"][repeat]);
      const shares = added.map((value, repeat) => value / whole[repeat]);
      lines.push({
        label: `${request}: what a ${kind} adds / the request`,
        values: shares,
        unit: "x",
        bar,
        goal: bar / 3,
        lowerIsBetter: true,
      });
    }
  }
  for (const kind of ["nobody", "key", "token"])
    lines.push({ label: `gate alone, ${kind}`, values: turns[`gate, ${kind}`], unit: "us of CPU" });
  return lines;
}
