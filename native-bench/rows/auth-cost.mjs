// What authenticating costs: the CPU time of the gate with a credential beyond that without one, as a share of the CPU time of a whole request.
import { fileURLToPath } from "node:url";
import { makeToken } from "../clients/gate-loop.mjs";
import { JSON_HEADERS, SINGLE_PATH } from "../servers/vedette.mjs";
import { conditions, serverTurn, takeTurns } from "../turns.mjs";

const gateFile = fileURLToPath(new URL("../clients/gate-loop.mjs", import.meta.url));
const secret = "the secret of a bench: 32 bytes or more";
const passes = 400_000;

/** @type {import("../turns.mjs").Row} */
export const authCost = {
  name: "auth-cost",
  what:
    "CPU a request with a known credential (1,000 different ones in the loop of the gate alone; one token before the server) against none: single records " +
    "and remote-write of 2,000 samples, 5 connections, closed loop, server on one core. Judged is the gate's share, because a difference of whole requests " +
    "is smaller than what two turns of one server differ by",
  quick: false,
  async run(context) {
    const token = `Authorization: Bearer ${makeToken(secret, "bench")}`;
    const singles = { file: await context.bodies.get("json-singles", context.quick ? { records: 300_000 } : {}), path: SINGLE_PATH };
    const batches = { file: await context.bodies.get("A", context.quick ? { samples: 5_000_000 } : {}) };
    const starting = { env: { JWT_SECRET: secret } };
    const single = (headers) => () =>
      serverTurn(
        context,
        "vedette",
        { ...singles, headers: [...JSON_HEADERS, ...headers], connections: 5, coldRequests: 20_000 },
        starting,
      );
    const batch = (headers) => () => batchTurn(context, { ...batches, connections: 5, coldRequests: 50 }, headers, starting);
    const gate = (kind) => async () => Number(await context.runPinned(process.execPath, [gateFile, kind, String(passes)]));
    const turns = await takeTurns(context, {
      "single, nobody": single([]),
      "single, token": single([token]),
      "2,000 samples, nobody": batch([]),
      "2,000 samples, token": batch([token]),
      "gate, nobody": gate("nobody"),
      "gate, key": gate("key"),
      "gate, token": gate("token"),
    });
    return { lines: linesOf(turns), notMeasured: [] };
  },
};

/** Remote-write with headers of its own beside those of the server. */
async function batchTurn(context, sending, headers, starting) {
  const withHeaders = { ...context, send: (options) => context.send({ ...options, headers: [...options.server.headers, ...headers] }) };
  return serverTurn(withHeaders, "vedette", sending, starting);
}

const cpuMicroseconds = (results) => results.map(({ warm }) => (warm.serverCpuSeconds / warm.requests) * 1e6);

function linesOf(turns) {
  const lines = [];
  for (const [request, bar] of Object.entries({ single: 0.15, "2,000 samples": 0.03 })) {
    const [alone, known] = [turns[`${request}, nobody`], turns[`${request}, token`]];
    const whole = cpuMicroseconds(alone);
    lines.push({ label: `${request}, nobody`, values: whole, unit: "us of CPU a request", note: conditions(alone) });
    lines.push({ label: `${request}, token`, values: cpuMicroseconds(known), unit: "us of CPU a request", note: conditions(known) });
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
