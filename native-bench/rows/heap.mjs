// Row 11: what the JavaScript heaps allocate a sample. The engine keeps samples in WebAssembly memory; garbage would be what is left to save.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { splitBodies } from "../bodies/body-split.mjs";
import { untilFigures } from "../clients/cycle-watch.mjs";
import { shown } from "../measure.mjs";
import { HeapTrace } from "../servers/heap-trace.mjs";
import { takeTurns } from "../turns.mjs";

const coldRequests = 500;
const samplesSent = { whole: 19_000_000, quick: 6_000_000 };
const samplesPerRequest = 2000;
/** A second apart, five requests each: the last minute of the body comes behind the cycle that takes in what was before. */
const lastRequests = 60 * 5;
const preload = fileURLToPath(new URL("../servers/trace-gc.mjs", import.meta.url));
/** Between two cycles of the Watchdog: the first comes with the start, the load ends before the second. */
const cycleSeconds = 10;
/** New objects are collected after 1 MiB of them: what no collection has told of yet is at most that, an isolate. */
const env = { NODE_OPTIONS: `--import ${preload} --max-semi-space-size=1`, WATCHDOG_INTERVAL_SECONDS: String(cycleSeconds) };

/** @type {import("../turns.mjs").Row} */
export const heap = {
  name: "heap",
  what:
    "V8 heap allocated per million samples, all threads: remote-write over 10,000 series, 2,000 samples a request, 5 connections, closed loop; every isolate " +
    "traces its garbage collections (--trace-gc); allocated is the sum of how much each heap grew from the end of one collection to the start of the next; " +
    "collections from the 500th answer to the last count; memory outside V8's heaps (bodies, WebAssembly, LMDB) is in no heap; the first cycle of the Watchdog " +
    "comes before the load and the second behind it, on its own: it takes in what the load brought of each series, half an hour's values; before the third one " +
    "more minute of each has come, as between any two",
  quick: false,
  async run(context) {
    const samples = samplesSent[context.quick ? "quick" : "whole"];
    const { head, tail } = splitBodies(await context.bodies.get("A", { samples }), coldRequests);
    const load = splitBodies(tail, samples / samplesPerRequest - coldRequests - lastRequests);
    const parts = { head, load: load.head, minute: load.tail };
    const { vedette: turns } = await takeTurns(context, { vedette: () => heapTurn(context, parts) });
    const perMillion = turns.map((turn) => turn.allocatedMB / (turn.samples / 1e6));
    const [{ byIsolate, collections, samples: counted, cyclesBeside }] = turns.toSorted((a, b) => b.allocatedMB - a.allocatedMB);
    const shares = byIsolate.map((megabytes) => `${(megabytes / (counted / 1e6)).toFixed(2)}`).join(" + ");
    return {
      lines: [
        {
          label: "allocated",
          values: perMillion,
          unit: "MB per million samples",
          bar: 50,
          goal: 5,
          lowerIsBetter: true,
          note: `by isolate at most ${shares} (first the main thread); ${collections} collections over ${(counted / 1e6).toFixed(1)} M samples, ${cyclesBeside} cycles of the Watchdog; error below ${((2 * byIsolate.length) / (counted / 1e6)).toFixed(2)}`,
        },
        cycleLine("a cycle of the Watchdog that takes the load in", turns, ({ firstMB }) => firstMB),
        cycleLine("a cycle of the Watchdog", turns, ({ cycleMB }) => cycleMB),
      ],
      notMeasured: [],
    };
  },
};

function cycleLine(label, turns, of) {
  const note = `${shown(turns[0].pairs)} series; one a minute unless set otherwise`;
  return { label, values: turns.map(of), unit: "MB", bar: 20, lowerIsBetter: true, note };
}

/** The cold requests as a send of their own, so that the trace can be cut behind them. */
async function heapTurn(context, { head, load, minute }) {
  const server = await context.startServer("vedette", { env });
  try {
    const trace = new HeapTrace(() => readFileSync(server.logPath, "utf8"));
    const first = await untilFigures(server, ({ cycles }) => cycles >= 1);
    await context.send({ server, file: head, connections: 5 });
    trace.mark();
    const result = await context.send({ server, file: load, connections: 5 });
    if (result.firstRefusal !== "") throw new Error(`refused: ${result.firstRefusal}`);
    const allocated = trace.sinceMark();
    const second = await cycleBehind(server, trace, first.cycles);
    await context.send({ server, file: minute, connections: 5 });
    const third = await cycleBehind(server, trace, second.cycles);
    return {
      samples: result.samples,
      ...allocated,
      pairs: third.pairs,
      cyclesBeside: second.cycles - first.cycles - 1,
      firstMB: second.allocatedMB,
      cycleMB: third.allocatedMB,
    };
  } finally {
    await server.kill();
  }
}

/** What the next cycle allocates. Nobody asks meanwhile: an answer of /metrics allocates 2 MB. */
async function cycleBehind(server, trace, cyclesBefore) {
  trace.mark();
  await pause(1000 * (cycleSeconds + 2));
  const { allocatedMB } = trace.sinceMark();
  const { cycles, pairs } = await untilFigures(server, (now) => now.cycles > cyclesBefore && now.pairs > 0);
  return { cycles, pairs, allocatedMB };
}
