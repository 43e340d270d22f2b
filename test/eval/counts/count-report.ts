// usage: node --import ./scripts/typescript-loader.mjs test/eval/counts/count-report.ts [--seeds N] [--first N]
// Series of few events through the whole pipeline: pages a day after the first ten minutes while nothing is wrong, the severities of what was found then, and what of
// their faults pages within four minutes.
import { parseArgs } from "node:util";
import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { INHIBITIONS } from "../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { replayRun } from "../../../src/domain/backtest/replay-run.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { COUNT_FAULT_MS, COUNT_FIRST_MS, COUNT_HOURS, COUNT_MODELS, type CountModel } from "./count-models.ts";

const MINUTE_MS = 60_000;
const FOUND_MINUTES = 4;
const { values: given } = parseArgs({ options: { seeds: { type: "string", default: "5" }, first: { type: "string", default: "1" } } });

async function decisionsOf(model: CountModel, seed: number, isFaulty: boolean): Promise<readonly PageDecision[]> {
  const series = model.series(seed, isFaulty);
  const times = Float64Array.from(new Set(series.flatMap((one) => [...one.times]))).sort();
  const settings = environmentSettings({});
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  const range = { sinceMs: times[0] as number, untilMs: (times.at(-1) as number) + 1 };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, ...range };
  return (await replayRun(series, times, FILE_FACTS, variant, options)).decisions;
}

async function rowOf(model: CountModel): Promise<string> {
  const [seeds, first] = [Number(given.seeds), Number(given.first)];
  let [pages, found, findings, high] = [0, 0, 0, 0];
  for (let seed = first; seed < first + seeds; seed++) {
    const quiet = (await decisionsOf(model, seed, false)).filter(({ atMs }) => atMs > COUNT_FIRST_MS + 10 * MINUTE_MS);
    pages += quiet.filter(({ outcome }) => outcome === "paged").length;
    const told = quiet.filter(({ alertId, outcome }) => alertId !== null && outcome !== "resolved");
    findings += told.length;
    high += told.filter(({ tier }) => tier === "high").length;
    const faulty = await decisionsOf(model, seed, true);
    const untilMs = COUNT_FAULT_MS + FOUND_MINUTES * MINUTE_MS;
    if (faulty.some(({ atMs, outcome }) => outcome === "paged" && atMs >= COUNT_FAULT_MS && atMs <= untilMs)) found++;
  }
  const aDay = pages / ((seeds * COUNT_HOURS) / 24);
  return `| ${model.name} | ${aDay.toFixed(3)} | ${findings} (${high} high) | ${model.fault} | ${found} of ${seeds} |`;
}

console.log("| counts | pages a day | findings | what goes wrong | found in 4 minutes |\n|---|---|---|---|---|");
for (const model of COUNT_MODELS) console.log(await rowOf(model));
