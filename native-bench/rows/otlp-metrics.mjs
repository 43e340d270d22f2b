// What an OTLP point costs, from the socket to the detector, beside what protobufjs or JSON.parse alone costs for the same bytes.
import { fileURLToPath } from "node:url";
import { JSON_HEADERS, OTLP_HEADERS, OTLP_METRICS_PATH } from "../servers/vedette.mjs";
import { conditions, ratioLine, serverTurn, takeTurns } from "../turns.mjs";

const loader = fileURLToPath(new URL("../../scripts/typescript-loader.mjs", import.meta.url));
const decoderFile = fileURLToPath(new URL("../otlp-decode.mjs", import.meta.url));

const parserFile = fileURLToPath(new URL("../json-parse.mjs", import.meta.url));
const shape =
  "requests of 2,000 points over 10,000 streams, four attributes a point; 5 connections, closed loop, server on one core; CPU of the whole process a point, " +
  "against a process that only decodes the same bodies, on the same core";

/** @type {import("../turns.mjs").Row} */
export const otlpMetrics = {
  name: "otlp-metrics",
  what: `OTLP metrics in protobuf, against protobufjs: ${shape}; 2,500 requests left out`,
  quick: true,
  run: async (context) => {
    const file = await context.bodies.get("otlp-metrics", context.quick ? { points: 6_000_000 } : {});
    const decode = ["--import", loader, decoderFile, file, "20", String(context.warmSeconds)];
    return compare(context, file, OTLP_HEADERS, { name: "protobufjs", decode, count: "points", bar: 0.25, coldRequests: 2_500 });
  },
};

/** @type {import("../turns.mjs").Row} */
export const otlpMetricsJson = {
  name: "otlp-metrics-json",
  what: `OTLP metrics in JSON, against making a string of a body and JSON.parse: ${shape}; 250 requests left out`,
  quick: true,
  run: async (context) => {
    const file = await context.bodies.get("otlp-metrics-json", context.quick ? { points: 1_000_000 } : {});
    const decode = [parserFile, file, "20", String(context.warmSeconds)];
    return compare(context, file, JSON_HEADERS, { name: "JSON.parse and string", decode, count: "records", bar: 1, coldRequests: 250 });
  },
};

async function compare(context, file, headers, { name, decode, count, bar, coldRequests }) {
  const sending = { file, path: OTLP_METRICS_PATH, headers, connections: 5, coldRequests };
  const turns = await takeTurns(context, {
    vedette: () => serverTurn(context, "vedette", sending),
    [name]: async () => JSON.parse(await context.runPinned(process.execPath, decode)),
  });
  const ours = turns.vedette.map(({ warm }) => (warm.serverCpuSeconds / warm.samples) * 1e6);
  const alone = turns[name].map((turn) => (turn.cpuSeconds / turn[count]) * 1e6);
  const rate = turns.vedette.map(({ warm }) => warm.samplesPerSecond);
  return {
    lines: [
      { label: "Vedette, CPU", values: ours, unit: "us a point", note: conditions(turns.vedette) },
      { label: `${name}, CPU`, values: alone, unit: "us a point", note: "all threads, garbage collection included" },
      ratioLine(`Vedette / ${name}`, ours, alone, { bar, lowerIsBetter: true }),
      { label: "Vedette, rate", values: rate, unit: "points/s" },
    ],
    notMeasured: [],
  };
}
