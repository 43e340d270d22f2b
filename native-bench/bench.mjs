// Runs the rows of the table and writes results/<date>.md, with a number behind it where there is one of that day. `make bench` runs all, `make bench-quick` the quick ones, once.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compileBinaries, missingTool } from "./binaries.mjs";
import { asPlaceholders, createContext } from "./context.mjs";
import { judgedLines, minutesText, missedText, page, rowSection } from "./report.mjs";
import { resultFile } from "./result-file.mjs";
import { OTHER_ROWS, ROWS } from "./rows/row-order.mjs";

const root = join(import.meta.dirname, "..");
/** From here on what is not of the table of goals runs once, which is to keep all of it within 60 minutes in an hour in which the machine is slow. */
const LATE_SECONDS = 26 * 60;
const usage = `node native-bench/bench.mjs [--quick] [--only name,name] [--repeats n] [--write] [--keep] [--work-dir folder]
  --quick     the quick rows, one short repeat; prints only
  --only      these rows; prints only
  --repeats   turns of each contestant (3)
  --write     writes the results although quick or not all rows
  --keep      keeps the bodies; they are used again for an hour
  --work-dir  where bodies and data lie for the time of the run, up to 10 GB, on the disk to be measured (dist/native-bench)
rows: ${ROWS.map(({ name }) => name).join(", ")}`;

async function main() {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      repeats: { type: "string" },
      write: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      "work-dir": { type: "string", default: join(root, "dist", "native-bench") },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(usage);
  const rows = chooseRows(values);
  checkMachine();
  compileBinaries(log);
  if (missingTool("send")) throw new Error(`nothing can be measured without ${missingTool("send")}`);

  const { quick } = values;
  // A folder of our own: it is deleted at the end.
  const workDir = resolve(values["work-dir"], "bench-work");
  const repeats = Number(values.repeats ?? (quick ? 1 : 3));
  if (!values.keep) process.on("exit", () => rmSync(workDir, { recursive: true, force: true, maxRetries: 5 }));
  const context = createContext({ repeats, quick, workDir, log });
  const startedAt = new Date();
  const startMs = performance.now();
  const reports = [];
  const writes = values.write || (!quick && values.only === undefined);
  const file = resultFile(join(import.meta.dirname, "results"), startedAt, { quick });
  for (const row of rows) {
    const isLate = (performance.now() - startMs) / 1000 > LATE_SECONDS && OTHER_ROWS.includes(row);
    reports.push(await runRow(row, isLate ? { ...context, repeats: 1 } : context));
    const seconds = (performance.now() - startMs) / 1000;
    // After each row: a run that is broken off leaves what it has measured.
    if (writes)
      writeResults(page(reports, { repeats, quick, command: commandLine(values, repeats), startedAt, seconds, rows: rows.length }), file);
    log(`${reports.length} of ${rows.length} rows in ${minutesText(seconds)}`);
  }
  const failed = reports.filter(({ fault }) => fault !== undefined).map(({ row }) => row.name);
  if (failed.length > 0) console.log(`not measured: ${failed.join(", ")}`);
  console.log(missedText(reports));
  process.exitCode = failed.length > 0 || judgedLines(reports).missed.length > 0 ? 1 : 0;
}

function chooseRows({ only, quick }) {
  if (only === undefined) return quick ? ROWS.filter((row) => row.quick) : ROWS;
  return only.split(",").map((name) => {
    const row = ROWS.find((candidate) => candidate.name === name);
    if (row === undefined) throw new Error(`no row is named ${name}\n${usage}`);
    return row;
  });
}

function checkMachine() {
  if (process.platform !== "linux") throw new Error("the benches need Linux: they read /proc and pin with taskset");
  if (availableParallelism() < 2) throw new Error("the benches need two cores: one for the server, one for the sender");
}

/** Runs one row to its end; a row that fails does not end the others. */
async function runRow(row, context) {
  log(`${row.name}: ${row.what}`);
  const startMs = performance.now();
  context.commands.clear();
  const report = { row, repeats: context.repeats };
  try {
    report.result = await row.run(context);
  } catch (error) {
    report.fault = asPlaceholders(error.message, context.workDir);
  }
  report.seconds = (performance.now() - startMs) / 1000;
  report.bodiesSeconds = context.bodies.takeSeconds();
  report.stolen = context.stolen.takeSeen();
  report.commands = [...context.commands];
  console.log(`\n${rowSection(report)}\n`);
  return report;
}

/** What gives these results again, without what depends on the machine. */
function commandLine({ quick, only }, repeats) {
  return ["node native-bench/bench.mjs", ...(quick ? ["--quick"] : []), ...(only ? [`--only ${only}`] : []), `--repeats ${repeats}`].join(
    " ",
  );
}

function writeResults(text, path) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text}\n`);
  log(`results so far: ${relative(process.cwd(), path)}`);
}

function log(text) {
  console.log(`${new Date().toISOString().slice(11, 19)} ${text}`);
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
