// usage: node --import ./scripts/typescript-loader.mjs test/eval/shapes/joint-report.ts [--seeds N] [--first N]
// Services of many metrics through the whole pipeline: pages while nothing is wrong, what a new normal costs, and whether one metric that leaves the others is found,
// the second time too.
import { parseArgs } from "node:util";
import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { INHIBITIONS } from "../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import { replayRun } from "../../../src/domain/backtest/replay-run.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { type Row, rowsText } from "../rows.ts";
import {
  INCIDENT_MINUTES,
  JOINT_MINUTES,
  type JointKind,
  type JointService,
  jointService,
  LEAVES_AT,
  LEAVES_MINUTES,
  MOVED_AT,
} from "./joint-shapes.ts";

const START_MS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
const DAY = 24 * 60;
/** RETENTION_RAW_DAYS as it is shipped. */
const HISTORY_MS = 7 * DAY * MINUTE_MS;
/** Minutes behind the end of what is wrong in which a page is still of it. */
const AFTER = 15;
const FOUND_WITHIN = 10;
const NORMAL_AFTER = 2 * DAY;
const { values: given } = parseArgs({ options: { seeds: { type: "string", default: "2" }, first: { type: "string", default: "1" } } });

/** Minutes in which people are told, the first day left out. */
async function pagesOf({ values }: JointService): Promise<number[]> {
  const times = Float64Array.from({ length: JOINT_MINUTES }, (_, minute) => START_MS + minute * MINUTE_MS);
  const series = values.map((own, j) => {
    const name = {
      tenant: "default",
      environment: "",
      serviceId: "joint",
      metricName: `metric_${String(j).padStart(2, "0")}`,
      attributes: {},
    };
    return { name, flags: 0, times, values: own };
  });
  const settings = environmentSettings({});
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, historyMs: HISTORY_MS };
  const range = { sinceMs: START_MS + DAY * MINUTE_MS, untilMs: START_MS + JOINT_MINUTES * MINUTE_MS };
  const { pages } = await replayRun(series, times, FILE_FACTS, variant, { ...options, ...range });
  return [...pages].flatMap((paged, minute) => (paged === 1 && minute >= DAY ? [minute] : []));
}

const isOf = (minute: number, begins: readonly number[], minutes: number): boolean =>
  begins.some((begin) => minute >= begin && minute < begin + minutes + AFTER);

/** Sums over services. */
const sums = { quiet: 0, quietDays: 0, moved: 0, later: 0, first: 0, second: 0, services: 0 };

async function take(seed: number, kind: JointKind): Promise<void> {
  const service = jointService(seed, kind);
  const pages = await pagesOf(service);
  const calm = pages.filter((minute) => !isOf(minute, service.incidents, INCIDENT_MINUTES));
  if (kind === "moves") {
    sums.moved += calm.filter((minute) => minute >= MOVED_AT && minute < MOVED_AT + NORMAL_AFTER).length;
    sums.later += calm.filter((minute) => minute >= MOVED_AT + NORMAL_AFTER).length;
    return;
  }
  sums.services++;
  sums.quietDays += JOINT_MINUTES / DAY - 1;
  sums.quiet += calm.filter((minute) => !isOf(minute, LEAVES_AT, LEAVES_MINUTES)).length;
  const [first, second] = LEAVES_AT.map((at) => pages.some((minute) => minute >= at && minute < at + FOUND_WITHIN));
  if (first === true) sums.first++;
  if (second === true) sums.second++;
}

const [seeds, firstSeed] = [Number(given.seeds), Number(given.first)];
for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
  await take(seed, "leaves");
  await take(seed, "moves");
}
const { services } = sums;
const rows: readonly Row[] = [
  { data: "joint", measure: "pages a service-day while nothing is wrong", value: sums.quiet / sums.quietDays, bar: 0.1, less: true },
  { data: "joint", measure: "pages of a quarter that moves for good, in two days", value: sums.moved / services, bar: 1, less: true },
  { data: "joint", measure: "and after them", value: sums.later / services, bar: 0, less: true },
  { data: "joint", measure: "one metric that leaves the others, found in 10 minutes", value: sums.first / services, bar: 0.8 },
  { data: "joint", measure: "the second time", value: sums.second / services, bar: 0.8 },
];
console.log(rowsText(rows));
