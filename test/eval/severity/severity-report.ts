// usage: node --import ./scripts/typescript-loader.mjs test/eval/severity/severity-report.ts [FOLDER] [--incidents FILE] [--seeds N] [--first N] [--only SET,...]
// Severities of findings: of planted steps by their factor, of labelled public data below FOLDER (nab, msft, smd, asd), and of FILE, which the generator of incidents has
// written with --json. Of the latter two also which share of the low ones, and of the high ones, was found in an incident. --seeds 0 leaves the planted steps out.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { FILE_FACTS, fileEnvironment } from "../../../src/cli/file-environment.ts";
import { judgeFile } from "../../../src/cli/replay/replay.ts";
import { replayFiles } from "../../../src/cli/replay/replay-files.ts";
import { loadConfig } from "../../../src/core/config/load-config.ts";
import { INHIBITIONS } from "../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { replayRun } from "../../../src/domain/backtest/replay-run.ts";
import { type Tier, tierRank } from "../../../src/domain/detection/anomaly-score.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { environmentSettings } from "../../../src/domain/detection/watchdog-settings.ts";
import { highestTier } from "./fault-severities.ts";
import { incidentsOf, type Within } from "./labelled-incidents.ts";
import { FACTORS, type PlantedStep, plantedSteps, STEP_MS } from "./planted-steps.ts";

const SETS = { msft: undefined, nab: undefined, smd: 60, asd: 300 } as const;
const TIERS: readonly Tier[] = ["low", "medium", "high"];
const MOST = 0.6;

const RATIO_MIN = 2;

type Counts = Record<Tier, number>;

/** Findings of each severity, and how many of them were found in an incident. */
interface Bands {
  readonly all: Counts;
  readonly within: Counts;
}

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    incidents: { type: "string" },
    seeds: { type: "string", default: "5" },
    first: { type: "string", default: "1" },
    only: { type: "string" },
  },
});

function counts(): Counts {
  return { low: 0, medium: 0, high: 0 };
}

function bands(): Bands {
  return { all: counts(), within: counts() };
}

function add(tier: Tier, isWithin: boolean, ...to: readonly Bands[]): void {
  for (const { all, within } of to) {
    all[tier]++;
    if (isWithin) within[tier]++;
  }
}

/** Each finding that came to an alert, when it did so first, and its highest severity. */
function findingsOf(decisions: readonly PageDecision[]): Array<{ readonly atMs: number; readonly tier: Tier }> {
  const findings = new Map<string, { atMs: number; tier: Tier }>();
  for (const { alertId, anomalyId, atMs, outcome, tier } of decisions) {
    if (alertId === null || outcome === "resolved") continue;
    const known = findings.get(anomalyId);
    if (known === undefined) findings.set(anomalyId, { atMs, tier });
    else if (tierRank(tier) > tierRank(known.tier)) known.tier = tier;
  }
  return [...findings.values()];
}

const sumOf = ({ low, medium, high }: Counts): number => low + medium + high;
const percent = (part: number, of: number): string => `${((100 * part) / Math.max(1, of)).toFixed(0)} %`;

function sharesOf(name: string, of: Counts): string {
  return `| ${name} | ${sumOf(of)} | ${TIERS.map((tier) => percent(of[tier], sumOf(of))).join(" | ")} |`;
}

function row(name: string, { all, within }: Bands): string {
  const largest = Math.max(...TIERS.map((tier) => all[tier])) / Math.max(1, sumOf(all));
  const [low, high] = [within.low / Math.max(1, all.low), within.high / Math.max(1, all.high)];
  const inIncidents = `${percent(within.low, all.low)} | ${percent(within.high, all.high)} | ${high >= RATIO_MIN * low ? "bar" : "no"}`;
  return `${sharesOf(name, all)} ${largest <= MOST ? "bar" : "no"} | ${inIncidents} |`;
}

async function stepDecisions({ series, times }: PlantedStep): Promise<readonly PageDecision[]> {
  const settings = environmentSettings({});
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  const range = { sinceMs: times[0] as number, untilMs: (times.at(-1) as number) + 1 };
  const options = { window: 120, samplesMin: 12, intervalMs: 60_000, offsetMs: UTC_OFFSET, ...range };
  return (await replayRun([series], times, FILE_FACTS, variant, options)).decisions;
}

async function plantedRows(): Promise<string[]> {
  const byFactor = new Map(FACTORS.map((factor) => [factor as number, counts()]));
  const unfound = new Map<number, number>();
  for (let seed = Number(given.first); seed < Number(given.first) + Number(given.seeds); seed++) {
    for (const step of plantedSteps(seed)) {
      const tier = highestTier(await stepDecisions(step), step.onsetMs, step.onsetMs + STEP_MS);
      if (tier === undefined) unfound.set(step.factor, (unfound.get(step.factor) ?? 0) + 1);
      else (byFactor.get(step.factor) as Counts)[tier]++;
    }
  }
  return [...byFactor].map(([factor, of]) => {
    const name = factor === 0 ? "to nothing" : `factor ${factor}`;
    return `${sharesOf(`planted: ${name}`, of)} ${unfound.get(factor) ?? 0} not found | | | |`;
  });
}

async function setRows(folder: string): Promise<string[]> {
  const environment = fileEnvironment(loadConfig({}, (path) => readFileSync(path)));
  const lines: string[] = [];
  const together = { findings: bands(), pages: bands() };
  for (const [set, seconds] of Object.entries(SETS)) {
    if (!existsSync(join(folder, set)) || (given.only !== undefined && !given.only.split(",").includes(set))) continue;
    const intervalMs = seconds === undefined ? undefined : 1_000 * seconds;
    const of = { findings: bands(), pages: bands() };
    const incidents = incidentsOf(join(folder, set));
    for (const file of replayFiles({ source: join(folder, set), train: undefined, intervalMs, out: "unused", isJson: false })) {
      const { times, decisions } = await judgeFile(file, intervalMs, environment);
      const isWithin: Within = incidents(file.input, times);
      for (const { atMs, tier } of findingsOf(decisions)) add(tier, isWithin(atMs), of.findings, together.findings);
      for (const { atMs, outcome, tier } of decisions) if (outcome === "paged") add(tier, isWithin(atMs), of.pages, together.pages);
    }
    lines.push(row(`${set}: findings`, of.findings), row(`${set}: pages`, of.pages));
  }
  return [...lines, row("all of them: findings", together.findings), row("all of them: pages", together.pages)];
}

/** A case as the generator keeps it; its onset in seconds. */
interface IncidentCase {
  readonly onset: number;
  readonly anomalies: ReadonlyArray<{ readonly severity: Tier; readonly detected_at: string; readonly alert_id: string | null }>;
}

function incidentRows(path: string): string[] {
  const all = bands();
  for (const { onset, anomalies } of JSON.parse(readFileSync(path, "utf8")) as IncidentCase[]) {
    for (const { severity, detected_at, alert_id } of anomalies) {
      if (alert_id !== null) add(severity, Date.parse(detected_at) >= 1_000 * onset, all);
    }
  }
  return [row("incidents, and ordinary minutes before them", all)];
}

console.log("| severities | findings | low | medium | high | no band above 60 % | low in incidents | high in incidents | twice as often |");
console.log(`|${"---|".repeat(9)}`);
if (given.seeds !== "0") for (const line of await plantedRows()) console.log(line);
for (const folder of positionals.slice(0, 1)) for (const line of await setRows(folder)) console.log(line);
if (given.incidents !== undefined) for (const line of incidentRows(given.incidents)) console.log(line);
