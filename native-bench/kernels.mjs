// Each kernel beside its slow twin, with tinybench: `node native-bench/kernels.mjs [name ...]`. Needs a built kernel (make build).
// Before a case is timed its contestants must agree. Cases are one list in kernels/kernel-cases.mjs.
import { register } from "node:module";
import { join } from "node:path";
import { Bench } from "tinybench";
import { shown, table } from "./measure.mjs";

/** Milliseconds that each contestant is measured for, and warmed up before. */
const measureMs = 500;
const warmupMs = 200;

async function main() {
  process.chdir(join(import.meta.dirname, ".."));
  register("./kernels/typescript-hooks.mjs", import.meta.url);
  const { KERNEL_CASES } = await import("./kernels/kernel-cases.mjs");
  const wanted = process.argv.slice(2);
  const cases = KERNEL_CASES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  if (cases.length === 0) throw new Error(`no such case; there are ${KERNEL_CASES.map(({ name }) => name).join(", ")}`);
  const lines = [];
  for (const each of cases) lines.push(...(await measure(each)));
  console.log(table(["kernel", "who", "ns a unit, median", "unit", "units/s", "times the first"], lines));
}

/** Lines of one case; the first contestant is the kernel. */
async function measure({ name, unit, prepare }) {
  const { units, contestants } = await prepare();
  const bench = new Bench({ time: measureMs, warmupTime: warmupMs });
  for (const [who, run] of Object.entries(contestants)) bench.add(who, run);
  await bench.run();
  const medians = bench.tasks.map(({ name: who, result }) => {
    if (result.latency === undefined) throw new Error(`${name}, ${who}: ${result.error?.message ?? result.state}`);
    return { who, nanoseconds: (result.latency.p50 * 1e6) / units };
  });
  return medians.map(({ who, nanoseconds }, place) => {
    const times = place === 0 ? "" : shown(nanoseconds / medians[0].nanoseconds);
    return [place === 0 ? name : "", who, shown(nanoseconds), unit, shown(1e9 / nanoseconds), times];
  });
}

await main();
