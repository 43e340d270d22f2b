/**
 * Stored history through the whole way from samples to pages, once as things are and once as they would be: layer 1 and the long baselines over each series,
 * then anomalies, then the pipeline to a page with settings and silences. Equal input gives equal answers, in whatever order the series come.
 *
 * A series is run through layer 1 once where both variants judge it alike. About 10 us a sample; `pause` is awaited every few milliseconds.
 */
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../core/protocol/engine-control.ts";
import type { PageDecision } from "../alerting/paging/page-decision.ts";
import { NO_INHIBITIONS, type PagingSources } from "../alerting/paging/paging-sources.ts";
import { ServiceConfirmations } from "../alerting/paging/service-confirmations.ts";
import { type Silence, silenceFor } from "../alerting/silence.ts";
import { fillThresholdTables, THRESHOLD_TABLE_VALUES } from "../detection/thresholds.ts";
import type { WatchdogSettings } from "../detection/watchdog-settings.ts";
import { identityText } from "../series/stream-identity.ts";
import { IncidentRun } from "./incident-run.ts";
import { type PageDifference, pageDifference } from "./page-difference.ts";
import { PairTrack } from "./pair-track.ts";
import { type BacktestSeries, WindowTrack } from "./window-track.ts";

const SAMPLES_PER_SLICE = 256;
const FRAMES_PER_SLICE = 256;
const CYCLE_MS = 60_000;

/** What is compared. */
export interface BacktestVariant {
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings;
  readonly silences: readonly Silence[];
}

export interface BacktestOptions {
  /** WATCHDOG_WINDOW and WATCHDOG_MIN_SAMPLES. */
  readonly window: number;
  readonly samplesMin: number;
  /** Pages before this are not counted; samples before it are what the baselines are made of. */
  readonly sinceMs: number;
}

export interface BacktestOutcome extends PageDifference {
  /** Findings by what became of them: paged, absorbed, logged, or the gate that held them back. */
  readonly findingsBefore: Readonly<Record<string, number>>;
  readonly findingsAfter: Readonly<Record<string, number>>;
}

/** A transition or a confirmation of one series. */
interface TimedFrame {
  readonly frame: EpisodeFrame | ConfirmedPair;
  readonly atMs: number;
  readonly series: number;
}

type FoundFrame = Omit<TimedFrame, "series">;

/** Runs both variants. */
export async function backtest(
  given: readonly BacktestSeries[],
  before: BacktestVariant,
  after: BacktestVariant,
  options: BacktestOptions,
  pause: () => Promise<void>,
): Promise<BacktestOutcome> {
  const series = given.map((each) => ({ each, key: identityText(each.name) })).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const tables = new Map<number, Float64Array>();
  const frames: readonly [TimedFrame[], TimedFrame[]] = [[], []];
  for (const [number, { each }] of series.entries()) {
    const found = await framesOf(each, [before, after], options, tables, pause);
    for (const side of [0, 1] as const) for (const each of found[side]) frames[side].push({ ...each, series: number });
  }
  const decisionsBefore = await decide(frames[0], before, options, pause);
  const decisionsAfter = await decide(frames[1], after, options, pause);
  return {
    ...pageDifference(decisionsBefore, decisionsAfter),
    findingsBefore: countOutcomes(decisionsBefore),
    findingsAfter: countOutcomes(decisionsAfter),
  };
}

/** The transitions of one series in both variants. */
async function framesOf(
  series: BacktestSeries,
  variants: readonly [BacktestVariant, BacktestVariant],
  options: BacktestOptions,
  tables: Map<number, Float64Array>,
  pause: () => Promise<void>,
): Promise<readonly [FoundFrame[], FoundFrame[]]> {
  const { tenant, serviceId, metricName } = series.name;
  const [first, second] = variants.map((variant) => variant.settingsOf(tenant, serviceId, metricName)) as [
    WatchdogSettings,
    WatchdogSettings,
  ];
  const isAlike = first.zThreshold === second.zThreshold && first.direction === second.direction;
  const track = ({ zThreshold: threshold, direction }: WatchdogSettings) =>
    new WindowTrack(series, { ...options, threshold, direction, tables: tablesOf(tables, threshold, options.samplesMin) });
  const tracks = isAlike ? [track(first)] : [track(first), track(second)];
  const pair = new PairTrack(series.name);
  const found: [FoundFrame[], FoundFrame[]] = [[], []];
  for (let place = 0; place < series.times.length; place++) {
    if (place % SAMPLES_PER_SLICE === SAMPLES_PER_SLICE - 1) await pause();
    const atMs = series.times[place] as number;
    const long = pair.observe(atMs, series.values[place] as number);
    const windows = tracks.map((each) => each.observe(place));
    for (const side of [0, 1] as const) {
      for (const frame of windows[isAlike ? 0 : side] as EpisodeFrame[]) found[side].push({ frame, atMs: frame.observedAtMs });
      if (long !== undefined) found[side].push({ frame: long, atMs });
      const confirmed = pair.confirmed((side === 0 ? first : second).direction);
      if (confirmed !== undefined) found[side].push({ frame: confirmed, atMs });
    }
  }
  return [first.excluded ? [] : found[0], second.excluded ? [] : found[1]];
}

/** About 20 ms for each threshold, once. */
function tablesOf(tables: Map<number, Float64Array>, threshold: number, samplesMin: number): Float64Array {
  const known = tables.get(threshold);
  if (known !== undefined) return known;
  const filled = new Float64Array(THRESHOLD_TABLE_VALUES);
  fillThresholdTables(filled, threshold, samplesMin);
  tables.set(threshold, filled);
  return filled;
}

/** The decisions of one variant from `sinceMs` on, in their order. */
async function decide(
  frames: TimedFrame[],
  variant: BacktestVariant,
  { sinceMs }: BacktestOptions,
  pause: () => Promise<void>,
): Promise<PageDecision[]> {
  // Sorting keeps the order of one series' transitions at one time.
  frames.sort((a, b) => a.atMs - b.atMs || a.series - b.series);
  const decisions: PageDecision[] = [];
  const sources = sourcesOf(variant);
  const run = new IncidentRun(sources, (decision) => {
    if (decision.atMs >= sinceMs) decisions.push(decision);
  });
  const tenants = new Set(frames.map(({ frame }) => frame.tenant));
  let cycleMs = Number.POSITIVE_INFINITY;
  const cycle = () => {
    for (const tenant of tenants) run.cycle(tenant, cycleMs);
  };
  for (const [index, { frame, atMs }] of frames.entries()) {
    if (index % FRAMES_PER_SLICE === FRAMES_PER_SLICE - 1) await pause();
    for (; cycleMs <= atMs && run.holdsBack(tenants); cycleMs += CYCLE_MS) cycle();
    if ("transition" in frame) run.take(frame, atMs);
    else sources.confirmations.take(frame, atMs);
    cycleMs = (Math.floor(atMs / CYCLE_MS) + 1) * CYCLE_MS;
  }
  if (frames.length > 0 && run.holdsBack(tenants)) cycle();
  return decisions;
}

/** A server that has been up all along, without inhibitions; every service counts as mature. */
function sourcesOf({ settingsOf, silences }: BacktestVariant): PagingSources {
  return {
    silences: { silenced: (tenant, labels, nowMs) => silenceFor(silences, tenant, labels, nowMs) ?? undefined },
    inhibitions: NO_INHIBITIONS,
    confirmations: new ServiceConfirmations(),
    startedAtMs: Number.NEGATIVE_INFINITY,
    warmUpMinutes: 0,
    settingsOf,
    firstSeenMs: () => undefined,
    feedbackFactor: () => 1,
    requestsInCycle: () => undefined,
  };
}

function countOutcomes(decisions: readonly PageDecision[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome, suppressedBy } of decisions) {
    if (outcome === "resolved") continue;
    const name = suppressedBy ?? outcome;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
