// usage: node --import ./scripts/typescript-loader.mjs test/eval/counts/count-report.ts [--seeds N] [--first N]
// Series of few events through the whole pipeline: pages a day after the first cycle while nothing is wrong, the severities of what was found then, and what of their
// faults pages within four minutes. As many pages at random times would find the share beside it; one who always pages finds all, and one who never does finds nothing.
import { parseArgs } from "node:util";
import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { INHIBITIONS } from "../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { replayRun } from "../../../src/domain/backtest/replay-run.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { FourfoldSeverities } from "../severity/fault-severities.ts";
import { COUNT_FAULT_LASTS_MS, COUNT_FAULT_MS, COUNT_FIRST_MS, COUNT_HOURS, COUNT_MODELS, type CountModel } from "./count-models.ts";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const FOUND_MINUTES = 4;
const FOUND_BAR = 0.9;
const { values: given } = parseArgs({ options: { seeds: { type: "string", default: "5" }, first: { type: "string", default: "1" } } });

const severities = new FourfoldSeverities();

interface Row {
  readonly text: string;
  readonly pages: number;
  readonly found: number;
  readonly tried: number;
}

async function decisionsOf(model: CountModel, seed: number, isFaulty: boolean): Promise<readonly PageDecision[]> {
  const series = model.series(seed, isFaulty);
  const times = Float64Array.from(new Set(series.flatMap((one) => [...one.times]))).sort();
  const settings = environmentSettings({});
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  const range = { sinceMs: times[0] as number, untilMs: (times.at(-1) as number) + 1 };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, ...range };
  return (await replayRun(series, times, FILE_FACTS, variant, options)).decisions;
}

async function rowOf(model: CountModel): Promise<Row> {
  const [seeds, first] = [Number(given.seeds), Number(given.first)];
  let [pages, found, findings, high] = [0, 0, 0, 0];
  for (let seed = first; seed < first + seeds; seed++) {
    const quiet = (await decisionsOf(model, seed, false)).filter(({ atMs }) => atMs > COUNT_FIRST_MS + MINUTE_MS);
    pages += quiet.filter(({ outcome }) => outcome === "paged").length;
    const told = quiet.filter(({ alertId, outcome }) => alertId !== null && outcome !== "resolved");
    findings += told.length;
    high += told.filter(({ tier }) => tier === "high").length;
    const faulty = await decisionsOf(model, seed, true);
    if (model.isFourfold) severities.add(faulty, COUNT_FAULT_MS, COUNT_FAULT_MS + COUNT_FAULT_LASTS_MS);
    const untilMs = COUNT_FAULT_MS + FOUND_MINUTES * MINUTE_MS;
    if (faulty.some(({ atMs, outcome }) => outcome === "paged" && atMs >= COUNT_FAULT_MS && atMs <= untilMs)) found++;
  }
  const aDay = pages / ((seeds * COUNT_HOURS) / 24);
  const random = `${(100 * (1 - Math.exp((-aDay * FOUND_MINUTES) / DAY_MINUTES))).toFixed(0)} %`;
  const text = `| ${model.name} | ${aDay.toFixed(3)} | ${findings} (${high} high) | ${model.fault} | ${found} of ${seeds} | ${random} |`;
  return { text, pages, found, tried: seeds };
}

console.log("| counts | pages a day | findings | what goes wrong | found in 4 minutes | random |\n|---|---|---|---|---|---|");
const rows: Row[] = [];
for (const model of COUNT_MODELS) {
  const row = await rowOf(model);
  rows.push(row);
  console.log(row.text);
}
const sum = (of: (row: Row) => number): number => rows.reduce((so, row) => so + of(row), 0);
console.log(`| always | ${DAY_MINUTES} | | | 100 % | |\n| never | 0 | | | 0 % | |`);
console.log(`\nquiet: ${sum(({ pages }) => pages)} pages (bar 0)`);
console.log(`found: ${((100 * sum(({ found }) => found)) / sum(({ tried }) => tried)).toFixed(1)} % (bar ${100 * FOUND_BAR} %)`);
console.log(severities.line);
