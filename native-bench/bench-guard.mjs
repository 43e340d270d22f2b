// Whether a later change made a main row worse: the commit of the last page of the whole bench is built beside this checkout, and five rows are compared in alternating pairs of CPU.
// usage: node native-bench/bench-guard.mjs [--base COMMIT] [--pairs 9]; exits with 1 where the median of a row's pairs is above 1.05
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createPairContext } from "./pair-context.mjs";
import { comparePairs } from "./pairs.mjs";
import { lastWholePage } from "./result-file.mjs";

const RATIO_MAX = 1.05;
const MAIN_ROWS = ["remote-write-10k", "remote-write-10-samples", "json-batches", "otlp-traces", "anomalies"];

const root = resolve(import.meta.dirname, "..");
const run = (command, args, cwd = root) => execFileSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });

/** A checkout of `commit`, built, in dist/; one that is there is used again. */
function buildBase(commit) {
  const folder = join(root, "dist", "native-bench", `base-${commit}`);
  if (existsSync(join(folder, "dist", ".server"))) return folder;
  console.error(`Building ${commit} ...`);
  rmSync(folder, { recursive: true, force: true });
  run("git", ["clone", "--quiet", "--shared", "--no-checkout", root, folder]);
  run("git", ["checkout", "--quiet", commit], folder);
  run("make", ["build"], folder);
  return folder;
}

async function main() {
  const { values } = parseArgs({ options: { base: { type: "string" }, pairs: { type: "string", default: "9" } } });
  const commit = values.base ?? lastWholePage(join(import.meta.dirname, "results"))?.commit;
  if (commit === undefined)
    throw new Error("no page of the whole bench in native-bench/results: name a commit, make bench-guard BENCH_BASE=COMMIT");
  const sides = { before: buildBase(commit), after: root, pairs: Number(values.pairs) };
  const context = createPairContext();
  const worse = [];
  for (const name of MAIN_ROWS) {
    const { ratio, line } = await comparePairs(context, name, sides);
    console.log(line);
    if (ratio > RATIO_MAX) worse.push(name);
  }
  console.log(worse.length === 0 ? `no row is more than 5 % above ${commit}` : `more than 5 % above ${commit}: ${worse.join(", ")}`);
  process.exitCode = worse.length === 0 ? 0 : 1;
}

await main();
