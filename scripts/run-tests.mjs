// Runs vitest and prints one plain line last: "N passed, N failed" (", N skipped" where tests were skipped).
// usage: node scripts/run-tests.mjs [vitest arguments], such as a folder
//
// Everything that went wrong is named once more just above that line: failed tests, files that could not be loaded, errors outside
// a test, and vitest itself crashing, hanging or finding nothing. Each counts as one failure. With CI=true a skipped test does too.
//
// A run has no bound of its own, since a slow machine takes as long as it takes: vitest is stopped once no test has ended for five minutes
// (TEST_SILENCE_MINUTES=n), and the files that were open are named. The time of a fixed calculation, before and behind, stands beside the run's.
//
// With TEST_RERUN=true up to three files that failed among those that talk to real programs over real time are run once more, alone. What
// passes then is named apart, counts as passed and goes into test/races.json: what that list names fails every later run, until it is mended and taken out. Kills, faults, simulations and properties never are:
// what fails there once in a while is what they look for.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fixedCalculationMs } from "./machine-speed.mjs";
import { listedFailures, noteRaces, readRaces } from "./test-races.mjs";
import { openFiles, readTallies, SilenceWatch } from "./test-tallies.mjs";

const silenceMinutesMax = Number(process.env.TEST_SILENCE_MINUTES || 5); // one test may take that long, no more
const silenceLookMs = 5_000;
const killAfterMs = 5_000;
const namedMax = 100; // failures named above the last line
const rerunFilesMax = 3; // more than that is no race
const rerunPaths = /^test\/(real|conformance|security)\//;

/** Runs vitest to its end and returns its exit code; 128 + n where signal n ended it. */
function runVitest(args, talliesPath) {
  const reporters = ["--reporter=default", "--reporter=./scripts/test-tally.mjs"];
  const command = ["test/node_modules/vitest/vitest.mjs", "run", "--allowOnly=false", "--includeTaskLocation", ...reporters, ...args];
  const env = { ...process.env, TEST_TALLY_PATH: talliesPath };
  const child = spawn(process.execPath, command, { stdio: "inherit", env });
  const watch = new SilenceWatch(silenceMinutesMax * 60_000, performance.now());
  const watchdog = setInterval(() => {
    const hanging = watch.hanging(readTallies(talliesPath), performance.now());
    if (hanging === undefined) return;
    clearInterval(watchdog);
    console.log(`No test has ended for ${silenceMinutesMax} minutes: stopping vitest. Open: ${hanging.join(", ") || "no file"}`);
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), killAfterMs).unref();
  }, silenceLookMs);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on("exit", (code, signal) => {
      clearInterval(watchdog);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** Counts the tallies; `failures` and `skips` are one line each. */
function count(tallies, exitCode, skipFails) {
  const tests = tallies.filter((tally) => tally.kind === "test");
  const failures = tallies.filter((tally) => tally.kind === "error" || (tally.kind === "test" && tally.state === "failed"));
  const skips = tests.filter((test) => test.state !== "passed" && test.state !== "failed");
  const lines = failures.map(({ where, name, error }) => `${where}  ${name}: ${error}`);
  lines.push(...openFiles(tallies).map((where) => `${where}  did not finish`));
  if (!tallies.some((tally) => tally.kind === "end")) {
    lines.push(`vitest ended early with code ${exitCode}`);
  } else if (tests.length === 0) {
    lines.push("no tests ran");
  } else if (exitCode !== 0 && lines.length === 0) {
    lines.push(`vitest ended with code ${exitCode} although no test failed`);
  }
  const skipLines = skips.map(({ where, name, error }) => `${where}  ${name}${error ? `: ${error}` : ""}`);
  if (skipFails) lines.push(...skipLines.map((line) => `${line} (skipped, which counts as failed with CI=true)`));
  return {
    passed: tests.filter((test) => test.state === "passed").length,
    failures: lines,
    tests,
    failed: failures,
    isWhole: lines.length === failures.length,
    skips: skipFails ? [] : skipLines,
  };
}

function printList(title, lines) {
  if (lines.length === 0) return;
  console.log(`\n${title}:`);
  for (const line of lines.slice(0, namedMax)) console.log(`  ${line}`);
  if (lines.length > namedMax) console.log(`  ... and ${lines.length - namedMax} more`);
}

async function runCounted(args) {
  const folder = mkdtempSync(join(tmpdir(), "vedette-tests-"));
  try {
    const talliesPath = join(folder, "tallies");
    const exitCode = await runVitest(args, talliesPath);
    return count(readTallies(talliesPath), exitCode, process.env.CI === "true");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Files to run once more: those of the failures, where all of them may be; none where anything else went wrong as well. */
function rerunFiles({ failed, isWhole }) {
  const files = [...new Set(failed.map(({ where }) => where.replace(/:\d+$/, "")))];
  const mayRun = isWhole && files.length <= rerunFilesMax && files.every((file) => rerunPaths.test(file));
  return mayRun ? files : [];
}

/** The result, with what failed once and passed when its file was run again counted as passed and named in `races`. */
async function withRerun(result) {
  const files = process.env.TEST_RERUN === "true" ? rerunFiles(result) : [];
  if (files.length === 0) return { ...result, races: [] };
  console.log(`\nRunning once more, alone: ${files.join(", ")}`);
  const again = await runCounted(files);
  if (again.failures.length > 0) return { ...result, races: [] };
  noteRaces(result.failed);
  return { ...result, passed: result.passed + result.failures.length, failures: [], races: result.failures };
}

/** What a run took, said as people say it. */
function timeText(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

async function main() {
  const calculationMs = fixedCalculationMs();
  const startMs = performance.now();
  const listed = readRaces(); // before this run adds to it
  const { passed, failures, skips, races, tests } = await withRerun(await runCounted(process.argv.slice(2)));
  failures.push(...listedFailures(listed, tests));
  printList("Skipped", skips);
  printList("Passed only when run again: a race, to be mended (noted in test/races.json, which fails the next run)", races);
  printList("Failed", failures);
  const took = timeText(performance.now() - startMs);
  const speed = `${calculationMs.toFixed(0)} ms before, ${fixedCalculationMs().toFixed(0)} ms behind`;
  console.log(`\nTook ${took}; a fixed calculation ${speed}`);
  const skipped = skips.length > 0 ? `, ${skips.length} skipped` : "";
  console.log(`${passed} passed, ${failures.length} failed${skipped}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

await main();
