// Bounded: more than the server can take is refused at once, costs no memory, and is over when the senders are.
import { fileURLToPath } from "node:url";
import { clientCore } from "../clients/detection-turn.mjs";
import { shown } from "../measure.mjs";
import { takeTurns } from "../turns.mjs";

const floodFile = fileURLToPath(new URL("../clients/flood.mjs", import.meta.url));
const connections = 256;
const seconds = 10;
const records = 100;

/** @type {import("../turns.mjs").Row} */
export const overload = {
  name: "overload",
  what:
    "256 connections that each send a batch of 100 JSON records (30 KB) again as soon as it is answered, for 10 s: how long a 503 takes as the clients, one process on " +
    "the other core, see it (their own queue included), resident memory in the middle and at the end, and when the next request is taken after the flood",
  quick: false,
  async run(context) {
    const turns = await takeTurns(context, { flood: () => floodTurn(context) });
    const of = (key) => turns.flood.map((turn) => turn[key]);
    const statuses = turns.flood.map(
      ({ statuses: { 200: taken = 0, 503: refused = 0 } }) => `${shown(taken)} taken, ${shown(refused)} refused`,
    );
    return {
      lines: [
        { label: "503, p99", values: of("refusedP99Ms"), unit: "ms", bar: 100, lowerIsBetter: true, note: statuses.join("; ") },
        { label: "503, slowest", values: of("refusedMaxMs"), unit: "ms" },
        { label: "200, p99", values: of("answeredP99Ms"), unit: "ms" },
        { label: "first request taken after the flood", values: of("recoveredMs"), unit: "ms" },
        {
          label: "resident memory, end against middle",
          values: turns.flood.map(({ rssBytes: [middle, end] }) => end / middle),
          unit: "x",
          bar: 1.1,
          lowerIsBetter: true,
          note: turns.flood.map(({ rssBytes: [, end] }) => `${shown(end / 2 ** 20)} MiB`).join(", "),
        },
      ],
      notMeasured: [],
    };
  },
};

async function floodTurn(context) {
  const server = await context.startServer("vedette");
  try {
    const args = [floodFile, server.port, server.pid, connections, seconds, records].map(String);
    const result = JSON.parse(await context.runPinned(process.execPath, args, clientCore(context)));
    const others = Object.keys(result.statuses).filter((status) => status !== "200" && status !== "503");
    if (others.length > 0 || result.withoutRetryAfter > 0) throw new Error(`answers that must not be: ${JSON.stringify(result)}`);
    return result;
  } finally {
    await server.kill();
  }
}
