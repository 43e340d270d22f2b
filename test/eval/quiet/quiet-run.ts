// The quiet simulation: services as the server stores them, a counter as what was added in each interval, through all that a backtest goes through. That it pages what a
// server pages is tested (test/sim/one-pipeline.test.ts).

import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { FLAG_COUNTER, FLAG_PERCENT } from "../../../src/core/layout/stream-record.ts";
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { sentenceText } from "../../../src/domain/anomaly/sentence.ts";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import type { BacktestFacts, BacktestSeries } from "../../../src/domain/backtest/history.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { variant } from "../../support/backtest-rig.ts";
import { FourfoldSeverities } from "../severity/fault-severities.ts";
import { FACTOR_KINDS, INCIDENT_KINDS, type Incident, type IncidentKind, plantIncident } from "./incident-plan.ts";
import { METRICS, ServiceModel } from "./service-model.ts";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Monday, the simulation's first minute. */
const START_MS = Date.UTC(2026, 0, 5);
const FOUND_MINUTES = 5;
const FLAGS = [FLAG_COUNTER, FLAG_PERCENT, 0, FLAG_PERCENT];
/** Intervals, in seconds, of the services with a factor. */
const FACTOR_INTERVALS_S = [10, 15, 30, 60];
const FACTS: BacktestFacts = { ...FILE_FACTS, firstSeenMs: () => START_MS };

export interface QuietOptions {
  readonly seed: number;
  /** Services without an incident, with one, and with a metric at four times what it is. */
  readonly services: number;
  readonly incidents: number;
  readonly factors: number;
  readonly warmDays: number;
  progress?(services: number, of: number): void;
}

/** Planted incidents, those that page within five minutes of the onset, and what was missed. */
export interface Found {
  planted: number;
  found: number;
}

export interface QuietResult {
  readonly serviceDays: number;
  /** Pages in services without an incident, each as a line. */
  readonly pages: readonly string[];
  readonly pagesBy: Readonly<Record<string, number>>;
  /** Findings that were no page, by the gate that held them back. */
  readonly heldBy: Readonly<Record<string, number>>;
  readonly byKind: Readonly<Record<string, Found>>;
  readonly missed: readonly string[];
  /** Of metrics at four times what they are. */
  readonly severities: FourfoldSeverities;
}

interface Planned {
  readonly number: number;
  readonly seed: number;
  readonly intervalS: number;
  readonly incident: Incident | undefined;
}

/** One day of each service is judged, after `warmDays`. */
export async function quietRun(options: QuietOptions): Promise<QuietResult> {
  const all = plannedServices(options);
  const result = {
    serviceDays: options.services,
    pages: [] as string[],
    pagesBy: {} as Record<string, number>,
    heldBy: {} as Record<string, number>,
    byKind: {} as Record<string, Found>,
    missed: [] as string[],
    severities: new FourfoldSeverities(),
  };
  for (const [done, service] of all.entries()) {
    const decisions = await decisionsOf(service, options.warmDays * DAY_MINUTES);
    if (service.incident === undefined) tallyQuiet(service, decisions, result);
    else tallyIncident(service, service.incident, decisions, result);
    options.progress?.(done + 1, all.length);
  }
  return result;
}

function plannedServices({ seed, services, incidents, factors, warmDays }: QuietOptions): Planned[] {
  const first = warmDays * DAY_MINUTES;
  return Array.from({ length: services + incidents + factors }, (_, number) => {
    const own = (seed * 1_000_003 + number * 7919) >>> 0;
    const isFactor = number >= services + incidents;
    const kinds: readonly IncidentKind[] = isFactor ? FACTOR_KINDS : INCIDENT_KINDS;
    const kind = kinds[number % kinds.length] as IncidentKind;
    const incident = number < services ? undefined : plantIncident(own, kind, first, first + DAY_MINUTES);
    const place = Math.floor(number / FACTOR_KINDS.length) % FACTOR_INTERVALS_S.length;
    return { number, seed: own, incident, intervalS: isFactor ? (FACTOR_INTERVALS_S[place] as number) : 60 };
  });
}

/** Decisions of the judged day; of one with an incident until that is over. */
function decisionsOf({ number, seed, incident, intervalS }: Planned, first: number): Promise<readonly PageDecision[]> {
  const minutes = intervalS / 60;
  const last = incident === undefined ? first + DAY_MINUTES : incident.onset + incident.minutes;
  const length = Math.ceil(last / minutes);
  const times = Float64Array.from({ length }, (_, i) => START_MS + i * 1000 * intervalS);
  const columns = METRICS.map(() => new Float64Array(length));
  const model = new ServiceModel(seed, incident, minutes);
  let sum = 0;
  for (let i = 0; i < length; i++) {
    model.next(i * minutes);
    const [requests, ...gauges] = model.values as unknown as [number, number, number, number];
    for (const [m, value] of [requests >= sum ? requests - sum : requests, ...gauges].entries()) (columns[m] as Float64Array)[i] = value;
    sum = requests;
  }
  const series = METRICS.map((metricName, m): BacktestSeries => {
    // The first value of a counter adds nothing that is known.
    const from = FLAGS[m] === FLAG_COUNTER ? 1 : 0;
    const name = { tenant: "quiet", environment: "", serviceId: `service-${number}`, metricName, attributes: {} };
    return { name, flags: FLAGS[m] as number, times: times.subarray(from), values: (columns[m] as Float64Array).subarray(from) };
  });
  const range = { sinceMs: START_MS + first * MINUTE_MS, untilMs: START_MS + last * MINUTE_MS };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, ...range };
  return runOnce(series, FACTS, variant(), options, () => undefined);
}

type Tally = Pick<QuietResult, "pagesBy" | "heldBy" | "byKind" | "severities"> & { readonly pages: string[]; readonly missed: string[] };

function tallyQuiet({ number }: Planned, decisions: readonly PageDecision[], { pages, pagesBy, heldBy }: Tally): void {
  for (const { outcome, suppressedBy, detector, metricName, atMs, explanation } of decisions) {
    if (outcome === "paged") {
      pages.push(`service ${number}, minute ${(atMs - START_MS) / MINUTE_MS}, ${detector}: ${sentenceText(explanation)}`);
      count(pagesBy as Record<string, number>, `${detector} ${metricName}`);
    } else if (suppressedBy !== null) count(heldBy as Record<string, number>, suppressedBy);
  }
}

function tallyIncident(
  { number, intervalS }: Planned,
  incident: Incident,
  decisions: readonly PageDecision[],
  { byKind, missed, severities }: Tally,
): void {
  const kinds = byKind as Record<string, Found>;
  kinds[incident.kind] ??= { planted: 0, found: 0 };
  const of = kinds[incident.kind] as Found;
  of.planted++;
  const isFactor = FACTOR_KINDS.some((kind) => kind === incident.kind);
  if (isFactor) severities.add(decisions, START_MS + incident.onset * MINUTE_MS, Number.POSITIVE_INFINITY);
  const minuteOf = (atMs: number) => (atMs - START_MS) / MINUTE_MS;
  const first = decisions.find(({ outcome, atMs }) => outcome === "paged" && minuteOf(atMs) >= incident.start);
  if (first !== undefined && minuteOf(first.atMs) - incident.onset < FOUND_MINUTES) of.found++;
  else {
    const late = first === undefined ? "never" : `${(minuteOf(first.atMs) - incident.onset).toFixed(1)} minutes late`;
    missed.push(`${incident.kind}, service ${number} of ${intervalS} s, minute ${incident.onset}: ${late}`);
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
