/**
 * Stored history through the whole way from samples to pages, once as things are and once as they would be: layer 1, the long baselines, the services' models and
 * the rules over services, then anomalies, then the pipeline to a page with settings, silences, inhibitions and what people said. Equal input gives equal answers,
 * in whatever order the series come.
 *
 * What both variants judge alike is run once. About 10 us a sample; `pause` is awaited every few milliseconds.
 */
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import { BACKTEST_EVALUATIONS_MAX } from "../../core/config/backtest-limits.ts";
import type { PageDecision } from "../alerting/paging/page-decision.ts";
import type { OffsetMs } from "../detection/seasonal/time-zone-hours.ts";
import { isBucketSeries } from "../series/classification.ts";
import { identityText } from "../series/stream-identity.ts";
import {
  BACKTEST_LAYERS,
  type BacktestFacts,
  type BacktestLayer,
  type BacktestOptions,
  type BacktestSeries,
  type BacktestVariant,
  type LayerReport,
  type Scored,
} from "./history.ts";
import { type LabelledOutcome, labelledOutcome } from "./labelled-incidents.ts";
import { type PageDifference, pageDifference } from "./page-difference.ts";
import { RequestCounts } from "./request-counts.ts";
import { BurnRule, slosOf } from "./rules/burn-rule.ts";
import { CascadeRule } from "./rules/cascade-rule.ts";
import type { BacktestRule } from "./rules/rule.ts";
import { boundedUnits, SaturationRule } from "./rules/saturation-rule.ts";
import { StaleRule } from "./rules/stale-rule.ts";
import { SeriesFrames } from "./series-frames.ts";
import { serviceFrames, servicesOf } from "./service-frames.ts";
import type { PlacedSeries } from "./timed-frames.ts";
import { decide } from "./timeline.ts";
import { type Pause, WorkSlices } from "./work-slices.ts";

/** Share of the whole work, about: series under their layers, and services under their models. What remains are the two runs to a page. */
const SERIES_SHARE = 0.5;
const SERVICES_SHARE = 0.2;

export interface BacktestOutcome extends PageDifference {
  /** Findings by what became of them: paged, absorbed, logged, or the gate that held them back. */
  readonly findingsBefore: Readonly<Record<string, number>>;
  readonly findingsAfter: Readonly<Record<string, number>>;
  /** Root-cause analyses that would have begun. */
  readonly analysesBefore: number;
  readonly analysesAfter: number;
  readonly layers: readonly LayerReport[];
  readonly labelled: LabelledOutcome;
}

/** Runs both variants. */
export async function backtest(
  input: readonly BacktestSeries[],
  facts: BacktestFacts,
  variants: { readonly before: BacktestVariant; readonly after: BacktestVariant },
  options: BacktestOptions,
  pause: Pause,
): Promise<BacktestOutcome> {
  const slices = new WorkSlices(pause);
  const { all, frames, services, timeline, rules } = await find(input, facts, [variants.before, variants.after], { ...options, slices });
  slices.share = SERIES_SHARE + SERVICES_SHARE;
  const before = await decide(frames[0], variants.before, { ...timeline, rules: rules.make() });
  slices.share += (1 - slices.share) / 2;
  const after = await decide(frames[1], variants.after, { ...timeline, rules: rules.make() });
  const buckets = all.filter(({ series }) => isBucketSeries(series.name, series.flags)).length;
  const reports: readonly LayerReport[] = [
    { layer: "statistical", evaluated: all.length, reason: null },
    { layer: "adaptive", evaluated: all.length - buckets, reason: null },
    services,
    ...rules.reports,
  ];
  return {
    ...pageDifference(before, after),
    findingsBefore: countOutcomes(before),
    findingsAfter: countOutcomes(after),
    analysesBefore: countAnalyses(before),
    analysesAfter: countAnalyses(after),
    labelled: labelledOutcome(facts.labels, { before, after }, options.intervalMs),
    layers: BACKTEST_LAYERS.map((layer) => reports.find((report) => report.layer === layer) as LayerReport),
  };
}

/** Runs one variant alone, to its end at once; `scored` hears each score as it is known. */
export async function runOnce(
  input: readonly BacktestSeries[],
  facts: BacktestFacts,
  variant: BacktestVariant,
  options: BacktestOptions,
  scored: Scored,
): Promise<readonly PageDecision[]> {
  const slices = new WorkSlices(() => Promise.resolve());
  const { frames, timeline, rules } = await find(input, facts, [variant, variant], { ...options, slices, scored });
  return decide(frames[0], variant, { ...timeline, rules: rules.make() });
}

/** Findings of the layers in both variants, and what decides on them. */
async function find(
  input: readonly BacktestSeries[],
  facts: BacktestFacts,
  both: readonly [BacktestVariant, BacktestVariant],
  options: BacktestOptions & { readonly slices: WorkSlices; readonly scored?: Scored },
) {
  const all = input
    .map((series) => ({ series, key: identityText(series.name) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const { slices } = options;
  const found = { ...options, facts };
  const frames = await new SeriesFrames(all, { ...found, both }).find((share) => {
    slices.share = SERIES_SHARE * share;
  });
  slices.share = SERIES_SHARE;
  const services = await serviceFrames(all, both, frames, found);
  const timeline = {
    ...found,
    requests: new RequestCounts([...input, ...facts.counting], options.intervalMs),
    firstMs: firstCycle(input, options),
  };
  return { all, frames, services, timeline, rules: rulesOver(all, facts, cycles(timeline), options.offsetMs) };
}

/** Cycles that a run over such times has. */
export function cycles({
  firstMs,
  untilMs,
  intervalMs,
}: Pick<BacktestOptions, "untilMs" | "intervalMs"> & { readonly firstMs: number }): number {
  return Math.max(0, Math.ceil((untilMs - firstMs) / intervalMs));
}

/** Cycles are at whole intervals; the first sees the oldest sample. */
export function firstCycle(
  input: readonly BacktestSeries[],
  { intervalMs, untilMs }: Pick<BacktestOptions, "intervalMs" | "untilMs">,
): number {
  const oldestMs = input.reduce((least, { times }) => Math.min(least, times[0] ?? untilMs), untilMs);
  return Math.ceil(oldestMs / intervalMs) * intervalMs;
}

/** Rules with a state of their own: each run gets new ones. */
function rulesOver(all: readonly PlacedSeries[], facts: BacktestFacts, cycleCount: number, offsetMs: OffsetMs) {
  const units = facts.leftOut.saturation === undefined ? boundedUnits(all, facts) : [];
  const slos = slosOf(facts.sloRecords);
  const tooMany = (count: number, what: string) =>
    count * cycleCount > BACKTEST_EVALUATIONS_MAX
      ? `${count} ${what} over ${cycleCount} cycles are more than a backtest evaluates (${BACKTEST_EVALUATIONS_MAX}); select fewer, or a shorter time`
      : null;
  const reports: LayerReport[] = [];
  const makers: Array<() => BacktestRule> = [];
  const offer = (layer: BacktestLayer, evaluated: number, reason: string | null, make: () => BacktestRule) => {
    const why = facts.leftOut[layer] ?? reason;
    reports.push({ layer, evaluated: why === null ? evaluated : 0, reason: why });
    if (why === null && evaluated > 0) makers.push(make);
  };
  offer("stale", servicesOf(all).length, null, () => new StaleRule(all, offsetMs));
  offer("saturation", units.length, tooMany(units.length, "bounded series"), () => new SaturationRule(units, facts));
  offer("slo_burn", slos, tooMany(slos, "SLOs"), () => new BurnRule(facts.sloRecords));
  offer("cascade", servicesOf(all).length, null, () => new CascadeRule(facts.calls));
  return { reports, make: () => makers.map((make) => make()) };
}

function countOutcomes(decisions: readonly PageDecision[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome, suppressedBy } of decisions) {
    if (outcome === "resolved") continue;
    const name = suppressedBy ?? outcome;
    setMember(counts, name, (ownMember(counts, name) ?? 0) + 1);
  }
  return counts;
}

function countAnalyses(decisions: readonly PageDecision[]): number {
  return decisions.filter(({ rca }) => rca?.passed === true).length;
}
