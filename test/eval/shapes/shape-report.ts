// usage: node --import ./scripts/typescript-loader.mjs test/eval/shapes/shape-report.ts [--seeds N] [--first N]
// Shapes that are not noise, through the whole pipeline: pages a series-day while nothing is wrong, and what of their faults pages within how many minutes.
import { parseArgs } from "node:util";
import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { INHIBITIONS } from "../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import { replayRun } from "../../../src/domain/backtest/replay-run.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { FAULT_AT, SHAPE_DAYS, SHAPE_MINUTES, SHAPES, type Shape, valuesOf } from "./shapes.ts";

const START_MS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
/** Minutes behind the end of a fault in which a page is still of it. */
const AFTER = 5;
const BAR = 0.07;
const { values: given } = parseArgs({ options: { seeds: { type: "string", default: "4" }, first: { type: "string", default: "1" } } });

/** Minutes in which people are told. */
async function pagesOf(values: Float64Array): Promise<number[]> {
  const times = values.map((_, minute) => START_MS + minute * MINUTE_MS);
  const name = { tenant: "default", environment: "", serviceId: "shape", metricName: "value", attributes: {} };
  const settings = environmentSettings({});
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET };
  const range = { sinceMs: START_MS, untilMs: START_MS + SHAPE_MINUTES * MINUTE_MS };
  const { pages } = await replayRun([{ name, flags: 0, times, values }], times, FILE_FACTS, variant, { ...options, ...range });
  return [...pages].flatMap((paged, minute) => (paged === 1 ? [minute] : []));
}

async function rowOf(shape: Shape): Promise<{ readonly text: string; readonly aDay: number }> {
  const [seeds, first] = [Number(given.seeds), Number(given.first)];
  let [quiet, found] = [0, 0];
  const delays: number[] = [];
  for (let seed = first; seed < first + seeds; seed++) {
    quiet += (await pagesOf(valuesOf(shape, seed, false))).length;
    const near = (await pagesOf(valuesOf(shape, seed, true))).filter((at) => at >= FAULT_AT && at < FAULT_AT + shape.minutes + AFTER);
    if (near.length === 0) continue;
    found++;
    delays.push((near[0] as number) - FAULT_AT);
  }
  const aDay = quiet / (seeds * SHAPE_DAYS);
  const delay = delays.length === 0 ? "-" : String(delays.sort((a, b) => a - b)[delays.length >> 1]);
  return { aDay, text: `| ${shape.name} | ${aDay.toFixed(3)} | ${shape.fault} | ${found} of ${seeds} | ${delay} |` };
}

console.log("| shape, 14 days of minutes | pages a day | what goes wrong | found | minutes to its page |\n|---|---|---|---|---|");
let worst = 0;
for (const shape of SHAPES) {
  const { text, aDay } = await rowOf(shape);
  worst = Math.max(worst, aDay);
  console.log(text);
}
console.log(`\nworst shape: ${worst.toFixed(3)} pages a day (bar ${BAR})`);
