// Each kernel beside its slow twin, with tinybench by CPU time: `node native-bench/kernels.mjs [--json] [name ...]`. Needs a built kernel (make build).
// Before a case is timed its contestants must agree. Cases are one list in kernels/kernel-cases.mjs.
import { register } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { shown, table } from "./measure.mjs";
import { importOfTests } from "./test-packages.mjs";

const { Bench } = await importOfTests("tinybench");

/** Milliseconds that each contestant is measured for, and warmed up before. */
const measureMs = 500;
const warmupMs = 200;
/** Of one measurement, at least. */
const measurementMs = 1;

/** Of this process with all its threads, in ms: other programs cost no contestant anything, and its garbage counts. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function main() {
  process.chdir(join(import.meta.dirname, ".."));
  register("./kernels/typescript-hooks.mjs", import.meta.url);
  const { KERNEL_CASES } = await import("./kernels/kernel-cases.mjs");
  const { values, positionals: wanted } = parseArgs({ options: { json: { type: "boolean", default: false } }, allowPositionals: true });
  const cases = KERNEL_CASES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  if (cases.length === 0) throw new Error(`no such case; there are ${KERNEL_CASES.map(({ name }) => name).join(", ")}`);
  const results = [];
  for (const each of cases) results.push(await measure(each));
  if (values.json) return console.log(JSON.stringify(results));
  console.log(table(["kernel", "who", "CPU ns a unit, median", "unit", "units/s", "times the first"], results.flatMap(linesOf)));
}

/** How often a contestant runs for one measurement, so that the clock's microseconds do not show. */
function timesFor(run) {
  for (let times = 1; ; times *= 2) {
    const startMs = cpuMs();
    for (let i = 0; i < times; i++) run();
    if (cpuMs() - startMs >= measurementMs) return times;
  }
}

/** Median nanoseconds a unit of each contestant by name; the first is the kernel. */
async function measure({ name, unit, prepare }) {
  const { units, contestants } = await prepare();
  const bench = new Bench({ time: measureMs, warmupTime: warmupMs, now: cpuMs });
  const repeats = new Map();
  for (const [who, run] of Object.entries(contestants)) {
    const times = timesFor(run);
    repeats.set(who, times);
    bench.add(who, () => {
      for (let i = 0; i < times; i++) run();
    });
  }
  await bench.run();
  const medians = bench.tasks.map(({ name: who, result }) => {
    if (result.latency === undefined) throw new Error(`${name}, ${who}: ${result.error?.message ?? result.state}`);
    return [who, (result.latency.p50 * 1e6) / units / repeats.get(who)];
  });
  return { name, unit, contestants: Object.fromEntries(medians) };
}

function linesOf({ name, unit, contestants }) {
  const [[, first]] = Object.entries(contestants);
  return Object.entries(contestants).map(([who, nanoseconds], place) => {
    const times = place === 0 ? "" : shown(nanoseconds / first);
    return [place === 0 ? name : "", who, shown(nanoseconds), unit, shown(1e9 / nanoseconds), times];
  });
}

await main();
