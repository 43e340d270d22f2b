// Spans a second on one core, from the socket to windows, call graph and stored records; the whole and its decoding beside a native walk of the same bytes.
import { fileURLToPath } from "node:url";
import { binaryOf, missingTool } from "../binaries.mjs";
import { OTLP_HEADERS, OTLP_TRACES_PATH } from "../servers/vedette.mjs";
import { conditions, ratioLine, serverTurn, takeTurns } from "../turns.mjs";

/** Compilation of what spans run through takes about a second. */
const coldRequests = 150;
const loader = fileURLToPath(new URL("../../scripts/typescript-loader.mjs", import.meta.url));
const kernelWalkFile = fileURLToPath(new URL("../otlp-spans-walk.mjs", import.meta.url));

/** @type {import("../turns.mjs").Row} */
export const otlpTraces = {
  name: "otlp-traces",
  what:
    "OTLP traces in protobuf: requests of 2,000 spans, traces of ten spans through 20 services with 30 operations each, four attributes a span; every span is counted, joined " +
    "and kept; 5 connections, closed loop, server on one core, sender on the other; against a walk of the same bytes in C++; 150 requests left out",
  quick: true,
  run: async (context) => {
    const file = await context.bodies.get("otlp-traces", context.quick ? { spans: 1_000_000 } : {});
    const sending = { file, path: OTLP_TRACES_PATH, headers: OTLP_HEADERS, connections: 5, coldRequests };
    const missing = missingTool("limit-spans");
    const walk = [file, String(coldRequests), String(context.warmSeconds)];
    const turns = await takeTurns(context, {
      vedette: () => serverTurn(context, "vedette", sending),
      kernel: async () => JSON.parse(await context.runPinned(process.execPath, ["--import", loader, kernelWalkFile, ...walk])),
      ...(missing === undefined && { walk: async () => JSON.parse(await context.runPinned(binaryOf("limit-spans"), walk)) }),
    });
    const rate = turns.vedette.map(({ warm }) => warm.samplesPerSecond);
    const cost = turns.vedette.map(({ warm }) => (warm.serverCpuSeconds / warm.samples) * 1e6);
    const kernel = turns.kernel.map(({ spansPerSecond }) => spansPerSecond);
    const native = turns.walk?.map(({ spansPerSecond }) => spansPerSecond);
    return {
      lines: [
        { label: "Vedette", values: rate, unit: "spans/s", bar: 300_000, note: conditions(turns.vedette) },
        { label: "Vedette, CPU", values: cost, unit: "us a span" },
        {
          label: "Vedette's decoding alone",
          values: kernel,
          unit: "spans/s",
          note: "CPU time of one core: check, walk, keys, texts by number; no HTTP, nothing joined or stored",
        },
        ...(native === undefined
          ? []
          : [
              { label: "native walk", values: native, unit: "spans/s", note: "CPU time of one core, no HTTP, nothing joined or stored" },
              ratioLine("Vedette's decoding / native walk", kernel, native, { bar: 0.25 }),
              ratioLine("Vedette / native walk", rate, native, { bar: 0.25 }),
            ]),
      ],
      notMeasured: missing === undefined ? [] : [missing],
    };
  },
};
