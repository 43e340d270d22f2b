// usage: node --import ./scripts/typescript-loader.mjs test/eval/severity/severity-report.ts [FOLDER] [--incidents FILE] [--seeds N] [--first N] [--only SET,...]
// Severities of findings: of planted steps by their factor, of labelled public data below FOLDER (nab, msft, smd, asd), and of FILE, which the generator of incidents has
// written with --json.
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
import { FACTORS, type PlantedStep, plantedSteps } from "./planted-steps.ts";

const SETS = { msft: undefined, nab: undefined, smd: 60, asd: 300 } as const;
const TIERS: readonly Tier[] = ["low", "medium", "high"];
const MOST = 0.6;

type Counts = Record<Tier, number>;

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

/** The highest severity of each finding that came to an alert. */
function findingsOf(decisions: readonly PageDecision[]): Map<string, PageDecision> {
  const highest = new Map<string, PageDecision>();
  for (const decision of decisions) {
    if (decision.alertId === null || decision.outcome === "resolved") continue;
    const known = highest.get(decision.anomalyId);
    if (known === undefined || tierRank(decision.tier) > tierRank(known.tier)) highest.set(decision.anomalyId, decision);
  }
  return highest;
}

function row(name: string, of: Counts): string {
  const all = Math.max(1, of.low + of.medium + of.high);
  const shares = TIERS.map((tier) => `${((100 * of[tier]) / all).toFixed(0)} %`);
  const largest = Math.max(...TIERS.map((tier) => of[tier])) / all;
  return `| ${name} | ${of.low + of.medium + of.high} | ${shares.join(" | ")} | ${largest <= MOST ? "bar" : "no"} |`;
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
      const found = [
        ...findingsOf((await stepDecisions(step)).filter(({ atMs }) => atMs >= step.onsetMs && atMs < step.onsetMs + 20 * 60_000)).values(),
      ];
      const worst = found.sort((a, b) => tierRank(b.tier) - tierRank(a.tier))[0];
      if (worst === undefined) unfound.set(step.factor, (unfound.get(step.factor) ?? 0) + 1);
      else (byFactor.get(step.factor) as Counts)[worst.tier]++;
    }
  }
  return [...byFactor].map(([factor, of]) => {
    const name = factor === 0 ? "to nothing" : `factor ${factor}`;
    return `${row(`planted: ${name}`, of).replace(/ \| (?:bar|no) \|$/, ` | ${unfound.get(factor) ?? 0} not found |`)}`;
  });
}

async function setRows(folder: string): Promise<string[]> {
  const environment = fileEnvironment(loadConfig({}, (path) => readFileSync(path)));
  const lines: string[] = [];
  const together = { findings: counts(), pages: counts() };
  for (const [set, seconds] of Object.entries(SETS)) {
    if (!existsSync(join(folder, set)) || (given.only !== undefined && !given.only.split(",").includes(set))) continue;
    const intervalMs = seconds === undefined ? undefined : 1_000 * seconds;
    const of = { findings: counts(), pages: counts() };
    for (const file of replayFiles({ source: join(folder, set), train: undefined, intervalMs, out: "unused", isJson: false })) {
      const { decisions } = await judgeFile(file, intervalMs, environment);
      for (const { tier } of findingsOf(decisions).values()) add(of.findings, together.findings, tier);
      for (const { outcome, tier } of decisions) if (outcome === "paged") add(of.pages, together.pages, tier);
    }
    lines.push(row(`${set}: findings`, of.findings), row(`${set}: pages`, of.pages));
  }
  return [...lines, row("all of them: findings", together.findings), row("all of them: pages", together.pages)];
}

function add(of: Counts, together: Counts, tier: Tier): void {
  of[tier]++;
  together[tier]++;
}

/** A case as the generator keeps it; its onset in seconds. */
interface IncidentCase {
  readonly onset: number;
  readonly anomalies: ReadonlyArray<{ readonly severity: Tier; readonly detected_at: string; readonly alert_id: string | null }>;
}

function incidentRows(path: string): string[] {
  const [before, during, all] = [counts(), counts(), counts()];
  for (const { onset, anomalies } of JSON.parse(readFileSync(path, "utf8")) as IncidentCase[]) {
    for (const { severity, detected_at, alert_id } of anomalies) {
      if (alert_id !== null) add(Date.parse(detected_at) < 1_000 * onset ? before : during, all, severity);
    }
  }
  return [row("incidents: ordinary minutes", before), row("incidents: from the onset on", during), row("incidents: both", all)];
}

console.log("| severities | findings | low | medium | high | no band above 60 % |\n|---|---|---|---|---|---|");
for (const line of await plantedRows()) console.log(line);
for (const folder of positionals.slice(0, 1)) for (const line of await setRows(folder)) console.log(line);
if (given.incidents !== undefined) for (const line of incidentRows(given.incidents)) console.log(line);
