// `make check`: runs every checker, two at a time, one line each; shows the output of those that failed and exits with 1 if any did.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";

const atOnce = 2;
const stepMinutesMax = 5;
const linesShownMax = 200; // of one failed step
const bin = "node_modules/.bin";
const testBin = "test/node_modules/.bin";

/** What tsc has found of files that have not changed is kept. */
const kept = (name) => ["--incremental", "--tsBuildInfoFile", `node_modules/.cache/${name}.tsbuildinfo`];

// tests' code: files and exports of src that nothing of src reaches, but tests alone.
// format: `make format` repairs it, order of imports included. knip: src/core/layout is an entry, as it cannot parse AssemblyScript's decorators.
const steps = [
  { name: "types of src", command: [`${bin}/tsc`, "-p", "tsconfig.json", "--noEmit", ...kept("src")] },
  { name: "types of tests", command: [`${bin}/tsc`, "-p", "tsconfig.test.json", "--noEmit", ...kept("test")] },
  { name: "types of web", command: [`${bin}/tsc`, "-p", "src/web/tsconfig.json"] },
  { name: "lint", command: [`${testBin}/biome`, "lint", "--error-on-warnings", "--diagnostic-level=warn"] },
  { name: "format", command: [`${testBin}/biome`, "check", "--linter-enabled=false", "--reporter=summary"] },
  { name: "floors", command: [`${testBin}/depcruise`, "src", "--output-type", "err-long"], judge: judgeFloors },
  { name: "unused code", command: [`${testBin}/knip`, "--no-config-hints"] },
  {
    name: "tests' code",
    command: [`${testBin}/knip`, "--production", "--config", "knip.src.json", "--include", "files,exports", "--no-config-hints"],
  },
  { name: "snapshots", command: ["node", "--import", "./scripts/typescript-loader.mjs", "scripts/schema-snapshots.mjs"] },
  { name: "listeners", command: ["node", "scripts/check-listeners.mjs"], judge: judgeListeners },
  { name: "lock", command: ["node", "scripts/check-lock.mjs"] },
  { name: "advisories", command: ["node", "scripts/check-advisories.mjs"], judge: judgeAdvisories },
  { name: "quotes", command: ["node", "scripts/bench-quotes.mjs"], judge: judgeQuotes },
  { name: "links", command: ["node", "scripts/check-links.mjs"] },
  { name: "web sizes", command: ["node", "scripts/web-sizes.mjs"], judge: judgeSizes },
  { name: "records", command: ["node", "scripts/record-reads.mjs"] },
  { name: "limits", command: ["node", "scripts/check-limits.mjs"], judge: judgeLimits },
  { name: "house", command: ["node", "scripts/check-house.mjs"], judge: judgeHouse },
  { name: "tidy", command: ["node", "scripts/tidy.mjs"], judge: judgeTidy },
];

/** depcruise is content when it finds no modules at all: it must have seen every source file. Returns {failure?, note?}. */
function judgeFloors(output) {
  const cruised = Number(/(\d+) modules, \d+ dependencies cruised/.exec(output)?.[1] ?? 0);
  const sources = readdirSync("src", { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /\.tsx?$/.test(path) && !/^domain\/kernel\/assembly\//.test(path)).length;
  if (cruised === 0 || cruised < sources) {
    return { failure: `cruised ${cruised} modules, but src has ${sources} files` };
  }
  return { note: `${cruised} modules` };
}

function judgeAdvisories(output) {
  return { note: /^advisories: (.*)$/m.exec(output)?.[1] };
}

function judgeListeners(output) {
  return { note: /^listeners: (.*)$/m.exec(output)?.[1] };
}

function judgeQuotes(output) {
  return { note: /^quotes: (.*)$/m.exec(output)?.[1] };
}

function judgeSizes(output) {
  return { note: /^web: (.*)$/m.exec(output)?.[1] };
}

function judgeLimits(output) {
  return { note: /^limits: (.*)$/m.exec(output)?.[1] };
}

function judgeHouse(output) {
  return { note: /^house: (.*)$/m.exec(output)?.[1] };
}

function judgeTidy(output) {
  return { note: /^src: (.*)$/m.exec(output)?.[1] };
}

/** Runs one step to its end; never rejects. */
function runStep({ name, command, judge = () => ({}) }) {
  const [file, ...args] = command;
  const startMs = performance.now();
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], timeout: stepMinutesMax * 60_000 });
    let output = "";
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.on("error", (error) => collect(`${error.message}\n`));
    child.on("close", (code, signal) => {
      const { failure, note } = judge(output);
      const failed = code !== 0 || failure !== undefined;
      if (failure) collect(`${failure}\n`);
      if (signal) collect(`ended by ${signal}\n`);
      resolve({ name, command, failed, note, output, seconds: (performance.now() - startMs) / 1000 });
    });
  });
}

function print({ name, failed, note, seconds }) {
  const line = `${failed ? "failed" : "ok    "}  ${name.padEnd(15)} ${seconds.toFixed(1).padStart(5)} s`;
  console.log(note && !failed ? `${line}  ${note}` : line);
}

function printOutput({ name, command, output }) {
  const lines = (output.trimEnd() || "failed without output").split("\n");
  console.log(`\n--- ${name}\n${lines.slice(0, linesShownMax).join("\n")}`);
  if (lines.length > linesShownMax) console.log(`... ${lines.length - linesShownMax} lines more: ${command.join(" ")}`);
}

async function main() {
  const waiting = [...steps];
  const failures = [];
  const work = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const result = await runStep(step);
      print(result);
      if (result.failed) failures.push(result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  for (const failure of failures) printOutput(failure);
  if (failures.length > 0) console.log(`\nfailed: ${failures.map(({ name }) => name).join(", ")}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

await main();
