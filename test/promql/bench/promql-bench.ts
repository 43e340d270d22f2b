// `make promql-bench`: times of queries beside Debian's Prometheus, of lists over 10,000 series, and what queries and rules cost detection; the page is native-bench/results/promql-<day>.md.
// usage: make promql-bench [PROMQL_BENCH_ROWS=rate,lists,detection,rules] [PROMQL_BENCH_SECONDS=n]. Exit code 1 where a bar is missed.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { type Figure, figureLine, meetsBar } from "./bench-figure.ts";
import { detectionRow } from "./detection-row.ts";
import { listRow, rateRow } from "./query-rows.ts";
import { rulesRow } from "./rules-row.ts";

const PAIRS = 15;
const ASKS = 100;
/** Of each of the five turns of detection, and of the four of rules: each rule has its minute. */
const TURN_SECONDS = { detection: 30, rules: 60 };

const ROWS: Readonly<Record<string, () => Promise<Figure[]>>> = {
  rate: () => rateRow(PAIRS),
  lists: () => listRow(ASKS),
  detection: () => detectionRow(Number(process.env.PROMQL_BENCH_SECONDS ?? TURN_SECONDS.detection)),
  rules: () => rulesRow(Number(process.env.PROMQL_BENCH_SECONDS ?? TURN_SECONDS.rules)),
};

async function run(): Promise<boolean> {
  const names = (process.env.PROMQL_BENCH_ROWS ?? Object.keys(ROWS).join(",")).split(",");
  const load = [loadavg()[0] as number];
  const figures: Figure[] = [];
  for (const name of names) {
    const row = ROWS[name];
    if (row === undefined) throw new Error(`there is no row ${name}; rows are ${Object.keys(ROWS).join(", ")}`);
    for (const figure of await row()) {
      figures.push(figure);
      console.log(figureLine(figure));
    }
  }
  load.push(loadavg()[0] as number);
  writePage(figures, load);
  return figures.every(meetsBar);
}

function writePage(figures: readonly Figure[], load: readonly number[]): void {
  const day = new Date().toISOString().slice(0, 10);
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"]).toString().trim();
  const prometheus = execFileSync("prometheus", ["--version"]).toString().split(" ")[2];
  const text = `# Queries, ${day}

\`make promql-bench\` of commit ${commit}: ${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}, Prometheus ${prometheus} of Debian.
The load was ${load.map((one) => one.toFixed(1)).join(" at the beginning and ")} at the end.

| what | measured | bar | goal | | |
| --- | --- | --- | --- | --- | --- |
${figures.map(figureLine).join("\n")}
`;
  writeFileSync(`native-bench/results/promql-${day}.md`, text);
}

process.exitCode = (await run()) ? 0 : 1;
