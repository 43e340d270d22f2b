// What the layers that look at one series find on it, in both variants; where both judge it alike a layer runs once.
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../core/protocol/engine-control.ts";
import { fillThresholdTables, THRESHOLD_TABLE_VALUES } from "../detection/thresholds.ts";
import type { WatchdogSettings } from "../detection/watchdog-settings.ts";
import { isBucketSeries } from "../series/classification.ts";
import type { BacktestFacts, BacktestOptions, BacktestSeries, Scored } from "./history.ts";
import { PairTrack } from "./tracks/pair-track.ts";
import { WindowTrack } from "./tracks/window-track.ts";
import type { WorkSlices } from "./work-slices.ts";

/** Of one sample under layer 1, and of one under the long baselines. */
const WINDOW_US = 7;
export const PAIR_US = 3;

/** Where a finding comes from: of two at one time, that of the lower number comes first, as in a cycle (rule 1.1.1). */
const STAGE_SAMPLES = 0;
export const STAGE_SERVICES = 1;
const STAGE_PAIRS = 2;

/** A transition or a confirmation, and when it is known. */
export interface TimedFrame {
  readonly frame: EpisodeFrame | ConfirmedPair;
  readonly atMs: number;
  readonly stage: number;
  /** Place of its series, or service, among all. */
  readonly place: number;
}

/** Of the present and of the changed run. */
export type BothFrames = readonly [TimedFrame[], TimedFrame[]];

export interface SeriesFramesOptions extends BacktestOptions {
  readonly facts: BacktestFacts;
  readonly slices: WorkSlices;
  readonly scored?: Scored;
}

/** Threshold tables by threshold: about 20 ms each, once. */
export class ThresholdTables {
  readonly #samplesMin: number;
  readonly #tables = new Map<number, Float64Array>();

  constructor(samplesMin: number) {
    this.#samplesMin = samplesMin;
  }

  of(threshold: number): Float64Array {
    const known = this.#tables.get(threshold);
    if (known !== undefined) return known;
    const filled = new Float64Array(THRESHOLD_TABLE_VALUES);
    fillThresholdTables(filled, threshold, this.#samplesMin);
    this.#tables.set(threshold, filled);
    return filled;
  }
}

/** Gives `into` what is found on a series; nothing on one that is excluded. */
export async function seriesFrames(
  series: BacktestSeries,
  place: number,
  settings: readonly [WatchdogSettings, WatchdogSettings],
  into: BothFrames,
  options: SeriesFramesOptions & { readonly tables: ThresholdTables; readonly streams: number },
): Promise<void> {
  const [first, second] = settings;
  const sides = sidesOf(settings);
  const windowsAlike = first.zThreshold === second.zThreshold && first.direction === second.direction;
  for (const run of runsOf(sides, windowsAlike)) {
    const { zThreshold: threshold, direction } = settings[run[0] as 0 | 1];
    const track = new WindowTrack(series, { ...options, threshold, direction, tables: options.tables.of(threshold) });
    for (let at = 0; at < series.times.length; at++) {
      for (const frame of track.observe(at)) put(into, run, { frame, atMs: frame.observedAtMs, stage: STAGE_SAMPLES, place });
      if (options.slices.spend(WINDOW_US)) await options.slices.turn();
    }
  }
  if (isBucketSeries(series.name, series.flags)) return;
  const pairsAlike = windowsAlike && first.evaluationDelaySeconds === second.evaluationDelaySeconds;
  for (const run of runsOf(sides, pairsAlike)) await pairFrames(series, place, settings[run[0] as 0 | 1], run, into, options);
}

async function pairFrames(
  series: BacktestSeries,
  place: number,
  settings: WatchdogSettings,
  run: readonly number[],
  into: BothFrames,
  { facts, slices, scored, ...options }: SeriesFramesOptions & { readonly streams: number },
): Promise<void> {
  const { tenant, serviceId } = series.name;
  const deployments = facts.deployments(tenant, serviceId);
  const track = new PairTrack(series, { ...settings, ...options, deployments, ...(scored !== undefined && { scored }) });
  for (let atMs = track.dueMs; Number.isFinite(atMs); atMs = track.dueMs) {
    const before = track.seen;
    for (const frame of track.visit(atMs)) put(into, run, { frame, atMs, stage: STAGE_PAIRS, place });
    if (slices.spend(PAIR_US * (track.seen - before))) await slices.turn();
  }
}

/** Runs in which the series is not excluded. */
function sidesOf(settings: readonly [WatchdogSettings, WatchdogSettings]): number[] {
  return [0, 1].filter((side) => !(settings[side] as WatchdogSettings).excluded);
}

/** One pass for both where they are alike, else one each. */
function runsOf(sides: readonly number[], areAlike: boolean): ReadonlyArray<readonly number[]> {
  if (sides.length === 0) return [];
  return areAlike ? [sides] : sides.map((side) => [side]);
}

function put(into: BothFrames, sides: readonly number[], found: TimedFrame): void {
  for (const side of sides) into[side as 0 | 1].push(found);
}
