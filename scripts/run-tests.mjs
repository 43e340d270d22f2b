// Runs vitest and prints one plain line last: "N passed, N failed" (", N skipped" where tests were skipped).
// usage: node scripts/run-tests.mjs [vitest arguments], such as a folder
//
// Everything that went wrong is named once more just above that line: failed tests, files that could not be loaded, errors outside
// a test, and vitest itself crashing, hanging or finding nothing. Each counts as one failure. With CI=true a skipped test does too.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

const runMinutesMax = 20; // of one call; .ci/run makes four
const namedMax = 100; // failures named above the last line

/** Runs vitest to its end and returns its exit code; 128 + n where signal n ended it. */
function runVitest(args, talliesPath) {
  const reporters = ["--reporter=default", "--reporter=./scripts/test-tally.mjs"];
  const command = ["node_modules/vitest/vitest.mjs", "run", "--allowOnly=false", "--includeTaskLocation", ...reporters, ...args];
  const env = { ...process.env, TEST_TALLY_PATH: talliesPath };
  const child = spawn(process.execPath, command, { stdio: "inherit", env });
  const watchdog = setTimeout(() => {
    console.log(`No end after ${runMinutesMax} minutes: stopping vitest.`);
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 5_000).unref();
  }, runMinutesMax * 60_000);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on("exit", (code, signal) => {
      clearTimeout(watchdog);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** Reads what the reporter wrote, one JSON object a line; a line cut off by a crash is left out. */
function readTallies(path) {
  const lines = readFileSync(path, { encoding: "utf8", flag: "a+" }).split("\n");
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

function unfinishedFiles(tallies) {
  const open = new Set();
  for (const { kind, where } of tallies) {
    if (kind === "file-start") open.add(where);
    if (kind === "file-end") open.delete(where);
  }
  return [...open];
}

/** Counts the tallies; `failures` and `skips` are one line each. */
function count(tallies, exitCode, skipFails) {
  const tests = tallies.filter((tally) => tally.kind === "test");
  const failures = tallies.filter((tally) => tally.kind === "error" || (tally.kind === "test" && tally.state === "failed"));
  const skips = tests.filter((test) => test.state !== "passed" && test.state !== "failed");
  const lines = failures.map(({ where, name, error }) => `${where}  ${name}: ${error}`);
  lines.push(...unfinishedFiles(tallies).map((where) => `${where}  did not finish`));
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
    skips: skipFails ? [] : skipLines,
  };
}

function printList(title, lines) {
  if (lines.length === 0) return;
  console.log(`\n${title}:`);
  for (const line of lines.slice(0, namedMax)) console.log(`  ${line}`);
  if (lines.length > namedMax) console.log(`  ... and ${lines.length - namedMax} more`);
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "vedette-tests-"));
  const talliesPath = join(folder, "tallies");
  const exitCode = await runVitest(process.argv.slice(2), talliesPath);
  const { passed, failures, skips } = count(readTallies(talliesPath), exitCode, process.env.CI === "true");
  rmSync(folder, { recursive: true });
  printList("Skipped", skips);
  printList("Failed", failures);
  const skipped = skips.length > 0 ? `, ${skips.length} skipped` : "";
  console.log(`\n${passed} passed, ${failures.length} failed${skipped}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

await main();
