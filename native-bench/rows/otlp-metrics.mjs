// What an OTLP point costs, from the socket to the detector, beside what protobufjs alone costs to decode the same bytes.
import { fileURLToPath } from "node:url";
import { OTLP_HEADERS, OTLP_METRICS_PATH } from "../servers/vedette.mjs";
import { conditions, ratioLine, serverTurn, takeTurns } from "../turns.mjs";

const coldRequests = 50;
const loader = fileURLToPath(new URL("../../scripts/typescript-loader.mjs", import.meta.url));
const decoderFile = fileURLToPath(new URL("../otlp-decode.mjs", import.meta.url));

/** @type {import("../turns.mjs").Row} */
export const otlpMetrics = {
  name: "otlp-metrics",
  what:
    "OTLP metrics in protobuf, requests of 2,000 points over 10,000 streams, four attributes a point; 5 connections, closed loop, server on one core; CPU of the " +
    "whole process a point, against a process that only decodes the same bodies with protobufjs, on the same core; 50 requests left out",
  quick: true,
  async run(context) {
    const file = await context.bodies.get("otlp-metrics", context.quick ? { points: 500_000 } : {});
    const sending = { file, path: OTLP_METRICS_PATH, headers: OTLP_HEADERS, connections: 5, coldRequests };
    const turns = await takeTurns(context, {
      vedette: () => serverTurn(context, "vedette", sending),
      protobufjs: async () =>
        JSON.parse(await context.runPinned(process.execPath, ["--import", loader, decoderFile, file, "20", String(context.warmSeconds)])),
    });
    const ours = turns.vedette.map(({ warm }) => (warm.serverCpuSeconds / warm.samples) * 1e6);
    const decode = turns.protobufjs.map(({ cpuSeconds, points }) => (cpuSeconds / points) * 1e6);
    const rate = turns.vedette.map(({ warm }) => warm.samplesPerSecond);
    return {
      lines: [
        { label: "Vedette, CPU", values: ours, unit: "us a point", note: conditions(turns.vedette) },
        { label: "protobufjs, CPU", values: decode, unit: "us a point", note: "all threads, garbage collection included" },
        ratioLine("Vedette / protobufjs", ours, decode, { bar: 0.25, lowerIsBetter: true }),
        { label: "Vedette, rate", values: rate, unit: "points/s" },
      ],
      notMeasured: [],
    };
  },
};
