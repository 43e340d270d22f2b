// usage: node --import ./scripts/typescript-loader.mjs test/eval/young/young-report.ts [--seeds N] [--first N]
// Young series through the whole pipeline: pages in those that nothing is wrong with, and what of their faults pages within four minutes or five values.
import { parseArgs } from "node:util";
import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { INHIBITIONS } from "../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { FourfoldSeverities } from "../severity/fault-severities.ts";
import {
  YOUNG_COUNTS,
  YOUNG_FAULTS,
  YOUNG_INTERVALS_S,
  YOUNG_VARIATIONS,
  type YoungFault,
  type YoungKind,
  type YoungValues,
  youngValues,
} from "./young-series.ts";

const START_MS = Date.UTC(2026, 0, 5, 9);
const MINUTE_MS = 60_000;
const QUIET_BAR = 0.05;
const FOUND_BAR = 0.9;
const CELL_BAR = 0.7;
const FOURFOLD = 4;
const { values: given } = parseArgs({ options: { seeds: { type: "string", default: "5" }, first: { type: "string", default: "1" } } });
const seeds = Array.from({ length: Number(given.seeds) }, (_, i) => Number(given.first) + i);

const severities = new FourfoldSeverities();

interface Tally {
  tried: number;
  found: number;
}

function decisionsOf({ times, values }: YoungValues): Promise<readonly PageDecision[]> {
  const name = { tenant: "default", environment: "", serviceId: "young", metricName: "value", attributes: {} };
  const settings = environmentSettings({});
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  // The run ends with the values: the silence behind them is no matter here.
  const untilMs = (times[times.length - 1] as number) + 1;
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: START_MS, untilMs };
  const facts = { ...FILE_FACTS, firstSeenMs: () => times[0] as number };
  return runOnce([{ name, flags: 0, times, values }], facts, variant, options, () => undefined);
}

/** Times at which people are told. */
function pagesOf(decisions: readonly PageDecision[]): number[] {
  return decisions.flatMap(({ outcome, atMs }) => (outcome === "paged" ? [atMs] : []));
}

async function isFound(kind: YoungKind, seed: number, fault: YoungFault): Promise<boolean> {
  const young = youngValues(kind, seed, START_MS, fault);
  const untilMs = young.faultMs + Math.max(4 * MINUTE_MS, 5000 * kind.intervalS);
  const decisions = await decisionsOf(young);
  if (fault.factor >= FOURFOLD) severities.add(decisions, young.faultMs, Number.POSITIVE_INFINITY);
  return pagesOf(decisions).some((atMs) => atMs >= young.faultMs && atMs <= untilMs);
}

/** Seeds of a kind are its own, so that no two cells draw alike. */
function seedOf(seed: number, { count, intervalS, variation }: YoungKind): number {
  return seed * 1_000_003 + count * 1_009 + intervalS * 31 + Math.round(1000 * variation);
}

/** Faults found, in all and by their names; quiet series, and pages in them. */
interface Cell {
  readonly all: Tally;
  readonly byFault: ReadonlyMap<string, Tally>;
  readonly series: number;
  readonly pages: number;
}

async function cellOf(count: number, intervalS: number): Promise<Cell> {
  const all = { tried: 0, found: 0 };
  const byFault = new Map(YOUNG_FAULTS.map(({ name }) => [name, { tried: 0, found: 0 }]));
  let [series, pages] = [0, 0];
  for (const variation of YOUNG_VARIATIONS) {
    const kind = { count, intervalS, variation };
    for (const seed of seeds) {
      series++;
      pages += pagesOf(await decisionsOf(youngValues(kind, seedOf(seed, kind), START_MS))).length;
      for (const fault of YOUNG_FAULTS) {
        if (variation > fault.variationMax) continue;
        const found = (await isFound(kind, seedOf(seed, kind), fault)) ? 1 : 0;
        for (const tally of [all, byFault.get(fault.name) as Tally]) {
          tally.tried++;
          tally.found += found;
        }
      }
    }
  }
  return { all, byFault, series, pages };
}

const percent = ({ found, tried }: Tally): string => `${Math.round((100 * found) / Math.max(1, tried))} %`;
const sum = (tallies: readonly Tally[]): Tally =>
  tallies.reduce((so, { found, tried }) => ({ found: so.found + found, tried: so.tried + tried }), { found: 0, tried: 0 });

console.log(`| values | seconds | pages | of series | found | ${YOUNG_FAULTS.map(({ name }) => name).join(" | ")} |`);
console.log(`|---|---|---|---|---|${YOUNG_FAULTS.map(() => "---|").join("")}`);
const cells: Cell[] = [];
for (const count of YOUNG_COUNTS) {
  for (const intervalS of YOUNG_INTERVALS_S) {
    const cell = await cellOf(count, intervalS);
    cells.push(cell);
    const faults = [...cell.byFault.values()].map(percent).join(" | ");
    console.log(`| ${count} | ${intervalS} | ${cell.pages} | ${cell.series} | ${percent(cell.all)} | ${faults} |`);
  }
}
const [pages, series] = [cells.reduce((so, cell) => so + cell.pages, 0), cells.reduce((so, cell) => so + cell.series, 0)];
const worst = Math.min(...cells.map(({ all }) => all.found / all.tried));
console.log(`\nquiet: ${(pages / series).toFixed(3)} pages a series (bar ${QUIET_BAR})`);
console.log(
  `found: ${percent(sum(cells.map(({ all }) => all)))} (bar ${100 * FOUND_BAR} %), worst cell ${Math.round(100 * worst)} % (bar ${100 * CELL_BAR} %)`,
);
console.log(severities.line);
