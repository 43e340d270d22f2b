// CPU before and after a change, in alternating pairs: `node native-bench/before-after.mjs FOLDER [--pairs 9] [--only name,name]`, FOLDER being another checkout with a
// build. What is compared is user and system time of the whole server process a sample, so that a busy machine moves both sides alike; prints only.
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compileBinaries } from "./binaries.mjs";
import { detectionTurn } from "./clients/detection-turn.mjs";
import { createContext } from "./context.mjs";
import { median, shown, shownRange } from "./measure.mjs";
import { BATCH_PATH, JSON_HEADERS, OTLP_HEADERS, OTLP_LOGS_PATH, OTLP_TRACES_PATH } from "./servers/vedette.mjs";
import { serverTurn } from "./turns.mjs";

const PLANTING = { series: 10_000, every: 8, coldEvery: 3 };
/** A third of those of the row detection-latency: CPU is what is compared here, and the machine may be busy. */
const PLANTS = 2_667;

/** Bodies and how they are sent, by row. */
const ROWS = {
  "remote-write-10k": { shape: "A", size: { samples: 7_000_000 }, sending: { connections: 5, coldRequests: 800 } },
  "remote-write-10-samples": { shape: "C", size: { samples: 7_000_000 }, sending: { connections: 5, coldRequests: 300 } },
  "json-batches": {
    shape: "json-batches",
    size: { records: 1_000_000 },
    sending: { path: BATCH_PATH, headers: JSON_HEADERS, connections: 5, coldRequests: 200 },
  },
  "otlp-logs": {
    shape: "otlp-logs",
    size: { logs: 500_000 },
    sending: { path: OTLP_LOGS_PATH, headers: OTLP_HEADERS, connections: 5, coldRequests: 200 },
  },
  "otlp-traces": {
    shape: "otlp-traces",
    size: { spans: 1_000_000 },
    sending: { path: OTLP_TRACES_PATH, headers: OTLP_HEADERS, connections: 5, coldRequests: 150 },
  },
  detection: { shape: "planted", size: { ...PLANTING, plants: PLANTS } },
};

async function turn(context, { sending }, file) {
  if (sending === undefined) return detectionTurn(context, { file, planting: PLANTING });
  return serverTurn(context, "vedette", { file, ...sending });
}

const both = (values) => `${shown(median(values))} (${shownRange(values)})`;

async function main() {
  const { values, positionals } = parseArgs({
    options: { pairs: { type: "string", default: "9" }, only: { type: "string" } },
    allowPositionals: true,
  });
  const [before] = positionals;
  if (before === undefined) throw new Error("which checkout stands for before? node native-bench/before-after.mjs FOLDER");
  const log = (text) => console.error(text);
  compileBinaries(log);
  const workDir = resolve(join(import.meta.dirname, "..", "dist", "native-bench"), `before-after-${process.pid}`);
  process.on("exit", () => rmSync(workDir, { recursive: true, force: true }));
  const context = { ...createContext({ repeats: 1, quick: true, workDir, log }), warmSeconds: 3 };
  const mainFiles = { before: resolve(before, "dist", "main.js"), after: resolve(import.meta.dirname, "..", "dist", "main.js") };
  const sides = Object.fromEntries(
    Object.entries(mainFiles).map(([side, mainFile]) => [
      side,
      { ...context, startServer: (kind, options) => context.startServer(kind, { ...options, mainFile }) },
    ]),
  );
  for (const name of values.only?.split(",") ?? Object.keys(ROWS)) {
    const file = await context.bodies.get(ROWS[name].shape, ROWS[name].size);
    const cpu = { before: [], after: [] };
    for (let pair = 0; pair < Number(values.pairs); pair++) {
      for (const side of pair % 2 === 0 ? ["before", "after"] : ["after", "before"]) {
        const { warm } = await turn(sides[side], ROWS[name], file);
        cpu[side].push((warm.serverCpuSeconds / warm.samples) * 1e6);
      }
      log(`${name} ${pair + 1}: ${shown(cpu.before.at(-1))} and ${shown(cpu.after.at(-1))} us a sample`);
    }
    const ratios = cpu.after.map((value, pair) => value / cpu.before[pair]);
    console.log(`${name}: before ${both(cpu.before)}, after ${both(cpu.after)} us a sample; ratio, median of pairs ${both(ratios)}`);
  }
}

await main();
