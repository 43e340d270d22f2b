// Row 5: what a JSON record costs beside what JSON.parse alone costs for the same bytes.
import { fileURLToPath } from "node:url";
import { BATCH_PATH, JSON_HEADERS } from "../servers/vedette.mjs";
import { conditions, ratioLine, serverTurn, takeTurns } from "../turns.mjs";

const coldRequests = 200;
const parserFile = fileURLToPath(new URL("../json-parse.mjs", import.meta.url));

/** @type {import("../turns.mjs").Row} */
export const jsonBatches = {
  name: "json-batches",
  what:
    "JSON batches of 1,000 metric records over 10,000 streams; 5 connections, closed loop, server on one core; CPU of the whole process a record, " +
    "against a process that only makes a string of the same bodies and JSON.parses it, on the same core; 200 requests left out",
  quick: true,
  async run(context) {
    const file = await context.bodies.get("json-batches", context.quick ? { records: 1_000_000 } : {});
    const sending = { file, path: BATCH_PATH, headers: JSON_HEADERS, connections: 5, coldRequests };
    const contestants = {
      vedette: () => serverTurn(context, "vedette", sending),
      "JSON.parse": async () =>
        JSON.parse(await context.runPinned(process.execPath, [parserFile, file, "50", String(context.warmSeconds)])),
    };
    const turns = await takeTurns(context, contestants, { attemptsMax: 3 });
    const ours = turns.vedette.map(({ warm }) => (warm.serverCpuSeconds / warm.samples) * 1e6);
    const parse = turns["JSON.parse"].map(({ cpuSeconds, records }) => (cpuSeconds / records) * 1e6);
    const rate = turns.vedette.map(({ warm }) => warm.samplesPerSecond);
    return {
      lines: [
        { label: "Vedette, CPU", values: ours, unit: "us a record", note: conditions(turns.vedette) },
        { label: "JSON.parse and string, CPU", values: parse, unit: "us a record", note: "all threads, garbage collection included" },
        ratioLine("Vedette / JSON.parse", ours, parse, { bar: 0.3, goal: 0.25, lowerIsBetter: true }),
        { label: "Vedette, rate", values: rate, unit: "records/s" },
      ],
      notMeasured: [],
    };
  },
};
