// `make web-bench`: measures the user interface in Debian's Chromium; results in native-bench/results/web-<day>.md. WEB_BENCH_ROWS=feed,week WEB_BENCH_MINUTES=10
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { launch } from "./web-browser.mjs";
import { ROWS } from "./web-rows.mjs";

const REPEATS = Number(process.env.WEB_BENCH_REPEATS ?? 5);
const minutes = Number(process.env.WEB_BENCH_MINUTES ?? 10);
const names = (process.env.WEB_BENCH_ROWS ?? Object.keys(ROWS).join(",")).split(",");

const shown = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(3));
const judged = ({ value, bar, goal }) => (bar === null ? "" : value > bar ? "**bar missed**" : value > goal ? "bar met" : "goal met");

const browser = await launch();
const lines = [];
let missed = 0;
const load = [loadavg()[0]];
for (const name of names) {
  try {
    for (const one of await ROWS[name]({ browser, repeats: REPEATS, minutes })) {
      const { what, value, unit, bar, goal } = one;
      const verdict = judged(one);
      if (verdict.includes("missed")) missed++;
      lines.push(`| ${what} | ${shown(value)} ${unit} | ${bar ?? ""} | ${goal ?? ""} | ${verdict} |`);
      console.log(lines.at(-1));
    }
  } catch (error) {
    missed++;
    lines.push(`| ${name} | ${error.message.split("\n")[0]} | | | **failed** |`);
    console.log(lines.at(-1));
  }
}
load.push(loadavg()[0]);
await browser.close();
const day = new Date().toISOString().slice(0, 10);
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"]).toString().trim();
const text = `# User interface, ${day}

\`make web-bench\` of commit ${commit}: Debian's Chromium without a window, ${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}. Medians of ${REPEATS} fresh pages; viewers: of three pairs that take turns.
The load was ${load.map((one) => one.toFixed(1)).join(" at the beginning and ")} at the end: wall clock is an upper bound, thread time and counts change little with it.

| what | measured | bar | goal | |
| --- | --- | --- | --- | --- |
${lines.join("\n")}
`;
writeFileSync(`native-bench/results/web-${day}.md`, text);
process.exitCode = missed > 0 ? 1 : 0;
