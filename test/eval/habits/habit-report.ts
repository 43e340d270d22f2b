// usage: node --import ./scripts/typescript-loader.mjs test/eval/habits/habit-report.ts [gaps] [own-periods] [two-periods] [stairs] [--seeds N] [--first N] [--only TEXT] [--list]
// Series with habits through the whole pipeline: pages a series-day while nothing is wrong, their first day left out, and what of their faults pages in time. Beside
// each share that is found stands the share that as many pages at random times would find; one who always pages finds all, and one who never does finds nothing.
// --list names the minutes of quiet pages and the faults that were missed; --only takes the rows that contain TEXT.
import { parseArgs } from "node:util";
import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { INHIBITIONS } from "../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { FourfoldSeverities } from "../severity/fault-severities.ts";
import { GAPS } from "./gaps.ts";
import { DAY_MINUTES, HABIT_START_MS, type HabitGroup, type HabitKind, MINUTE_MS, type Sampled } from "./habit-kind.ts";
import { OWN_PERIODS } from "./rhythms.ts";
import { EXACT_STAIRS } from "./stairs.ts";
import { TWO_PERIODS } from "./two-periods.ts";

const GROUPS: Readonly<Record<string, HabitGroup>> = {
  gaps: GAPS,
  "own-periods": OWN_PERIODS,
  "two-periods": TWO_PERIODS,
  stairs: EXACT_STAIRS,
};

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "5" },
    first: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
  },
});
const seeds = Array.from({ length: Number(given.seeds) }, (_, i) => Number(given.first) + i);

interface Tally {
  pages: number;
  days: number;
  found: number;
  tried: number;
  /** Minutes in which faults could be found. */
  minutes: number;
}

/** Nothing is said of the silence behind the values. */
function decisionsOf({ minutes, values }: Sampled): Promise<readonly PageDecision[]> {
  const times = Float64Array.from(minutes, (minute) => HABIT_START_MS + minute * MINUTE_MS);
  const name = { tenant: "default", environment: "", serviceId: "habit", metricName: "value", attributes: {} };
  const settings = environmentSettings({});
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  const untilMs = (times.at(-1) as number) + 1;
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: HABIT_START_MS, untilMs };
  const facts = { ...FILE_FACTS, leftOut: { ...FILE_FACTS.leftOut, stale: "silence is judged by others" } };
  return runOnce([{ name, flags: 0, times, values: Float64Array.from(values) }], facts, variant, options, () => undefined);
}

/** Minutes at which people are told. */
function pagesOf(decisions: readonly PageDecision[]): number[] {
  return decisions.flatMap(({ outcome, atMs }) => (outcome === "paged" ? [Math.floor((atMs - HABIT_START_MS) / MINUTE_MS)] : []));
}

async function tallyOf(kind: HabitKind, severities: FourfoldSeverities): Promise<Tally> {
  const tally = { pages: 0, days: 0, found: 0, tried: 0, minutes: 0 };
  for (const seed of seeds) {
    const quiet = kind.quiet(seed);
    const pages = pagesOf(await decisionsOf(quiet)).filter((minute) => minute >= quiet.fromMinute);
    if (given.list && pages.length > 0) console.log(`${kind.row}, noise ${kind.noise}, seed ${seed}: pages at ${pages.join(" ")}`);
    tally.pages += pages.length;
    tally.days += Math.max(0, (quiet.minutes.at(-1) as number) + 1 - quiet.fromMinute) / DAY_MINUTES;
    for (const { name, isFourfold, series } of kind.faults) {
      const faulty = series(seed);
      const { faultMinute, withinMinutes } = faulty;
      const decisions = await decisionsOf(faulty);
      if (isFourfold) severities.add(decisions, HABIT_START_MS + faultMinute * MINUTE_MS, Number.POSITIVE_INFINITY);
      const isFound = pagesOf(decisions).some((minute) => minute >= faultMinute && minute <= faultMinute + withinMinutes);
      if (given.list && !isFound) console.log(`${kind.row}, noise ${kind.noise}, seed ${seed}: ${name} at ${faultMinute} is not found`);
      tally.tried++;
      tally.found += isFound ? 1 : 0;
      tally.minutes += withinMinutes + 1;
    }
  }
  return tally;
}

function sum(tallies: readonly Tally[]): Tally {
  const all = { pages: 0, days: 0, found: 0, tried: 0, minutes: 0 };
  for (const tally of tallies) for (const key of ["pages", "days", "found", "tried", "minutes"] as const) all[key] += tally[key];
  return all;
}

const aDay = ({ pages, days }: Tally): number => pages / Math.max(1 / DAY_MINUTES, days);

function rowText(name: string, of: Tally): string {
  const random = 1 - Math.exp((-aDay(of) * of.minutes) / Math.max(1, of.tried) / DAY_MINUTES);
  const [found, chance] = [of.found / Math.max(1, of.tried), random].map((share) => `${(100 * share).toFixed(0)} %`);
  return `| ${name} | ${aDay(of).toFixed(3)} | ${of.found} of ${of.tried} (${found}) | ${chance} |`;
}

async function report({ title, quietBar, worstBar, foundBar, kinds: all }: HabitGroup): Promise<void> {
  const kinds = all.filter(({ row }) => row.includes(given.only));
  const severities = new FourfoldSeverities();
  const cells: Array<{ readonly kind: HabitKind; readonly tally: Tally }> = [];
  console.log(`| ${title} | pages a day | found | random |\n|---|---|---|---|`);
  for (const row of new Set(kinds.map((kind) => kind.row))) {
    for (const kind of kinds.filter((one) => one.row === row)) cells.push({ kind, tally: await tallyOf(kind, severities) });
    console.log(rowText(row, sum(cells.filter(({ kind }) => kind.row === row).map(({ tally }) => tally))));
  }
  for (const noise of new Set(kinds.map((kind) => kind.noise)))
    console.log(rowText(`noise of ${noise}`, sum(cells.filter(({ kind }) => kind.noise === noise).map(({ tally }) => tally))));
  const together = sum(cells.map(({ tally }) => tally));
  console.log(`${rowText("all", together)}\n| always | ${DAY_MINUTES} | 100 % | |\n| never | 0 | 0 % | |`);
  const rows = [...new Set(kinds.map(({ row }) => row))];
  const worst = Math.max(...rows.map((row) => aDay(sum(cells.filter(({ kind }) => kind.row === row).map(({ tally }) => tally)))));
  const found = (100 * together.found) / together.tried;
  console.log(
    `\nquiet: ${aDay(together).toFixed(3)} pages a series-day (bar ${quietBar}), worst row ${worst.toFixed(3)} (bar ${worstBar})`,
  );
  console.log(`found: ${found.toFixed(1)} % (bar ${100 * foundBar} %)`);
  if (kinds.some(({ faults }) => faults.some(({ isFourfold }) => isFourfold))) console.log(severities.line);
  console.log("");
}

for (const name of positionals.length > 0 ? positionals : Object.keys(GROUPS)) {
  const group = GROUPS[name];
  if (group === undefined) throw new Error(`${name} is none of ${Object.keys(GROUPS).join(", ")}`);
  await report(group);
}
