// What the layers that look at one series find on it, in both variants; where both judge it alike a layer runs once.

import { groupBy } from "../../core/collections/grouping.ts";
import { JUDGED_BY_OTHERS } from "../detection/departure/own-tail.ts";
import { LiveStreams } from "../detection/service/live-streams.ts";
import type { WatchdogSettings } from "../detection/watchdog-settings.ts";
import { isBucketSeries } from "../series/classification.ts";
import { serviceKey } from "../series/stream-identity.ts";
import type { BacktestSeries, BacktestVariant } from "./history.ts";
import { groupsOf, inOrderOfBeginning, type OrderedSeries, PairRun, type StreamGroup } from "./pair-groups.ts";
import { ThresholdTables } from "./threshold-tables.ts";
import {
  type BothFrames,
  type PlacedSeries,
  type SeriesFramesOptions,
  STAGE_PAIRS,
  STAGE_SAMPLES,
  type TimedFrame,
} from "./timed-frames.ts";
import { aggregateFrames } from "./tracks/aggregate-track.ts";
import { PairTrack } from "./tracks/pair-track.ts";
import { WindowTrack } from "./tracks/window-track.ts";

/** Time of one sample under layer 1, and of one under the long baselines. */
const WINDOW_US = 7;
export const PAIR_US = 3;

/** Facts that go with a series in one of the runs. */
interface SeriesRun {
  readonly series: BacktestSeries;
  readonly index: number;
  readonly settings: WatchdogSettings;
  /** The variants that the run is for. */
  readonly sides: readonly number[];
  readonly retained: PairRun;
  readonly streamsAt: (nowMs: number) => number;
}

export interface SeriesFramesDependencies extends SeriesFramesOptions {
  readonly both: readonly [SettingsOf, SettingsOf];
}

type SettingsOf = Pick<BacktestVariant, "settingsOf">;

/** Finds on all series what layer 1 and the long baselines say of each, and of what several streams of a pair come to together. */
export class SeriesFrames {
  readonly #options: SeriesFramesDependencies;
  readonly #tables: ThresholdTables;
  readonly #ordered: readonly OrderedSeries[];
  readonly #groups: readonly StreamGroup[];
  readonly #retained: readonly [PairRun, PairRun];
  readonly #live: ReadonlyMap<string, LiveStreams>;
  readonly #frames: BothFrames = [[], []];

  constructor(all: readonly PlacedSeries[], options: SeriesFramesDependencies) {
    this.#options = options;
    this.#tables = new ThresholdTables(options);
    this.#ordered = inOrderOfBeginning(all);
    this.#groups = groupsOf(this.#ordered);
    const input = all.map(({ series }) => series);
    const cycleOf = (timeMs: number) => Math.ceil(timeMs / options.intervalMs) * options.intervalMs;
    this.#retained = [new PairRun(input, this.#groups, cycleOf), new PairRun(input, this.#groups, cycleOf)];
    const services = groupBy(input, ({ name }) => serviceKey(name.tenant, name.serviceId));
    this.#live = new Map([...services].map(([key, members]) => [key, new LiveStreams(members)]));
  }

  /** `progress` is told the share that is done. */
  async find(progress: (share: number) => void): Promise<BothFrames> {
    for (const [done, { series, index }] of this.#ordered.entries()) {
      progress(done / this.#ordered.length);
      for (const run of this.#runsOf(series, index)) await this.#track(run);
    }
    for (const group of this.#groups) await this.#aggregate(group);
    return this.#frames;
  }

  #runsOf(series: BacktestSeries, index: number): SeriesRun[] {
    const { tenant, serviceId, metricName } = series.name;
    const [first, second] = this.#options.both.map(({ settingsOf }) => settingsOf(tenant, serviceId, metricName)) as [
      WatchdogSettings,
      WatchdogSettings,
    ];
    const areAlike =
      first.zThreshold === second.zThreshold &&
      first.direction === second.direction &&
      first.evaluationDelaySeconds === second.evaluationDelaySeconds;
    const streamsAt = (nowMs: number) => (this.#live.get(serviceKey(tenant, serviceId)) as LiveStreams).at(nowMs);
    return runsOf(sidesOf([first, second]), areAlike).map((sides) => {
      const side = sides[0] as 0 | 1;
      return {
        series,
        index,
        sides,
        settings: [first, second][side] as WatchdogSettings,
        retained: this.#retained[side],
        streamsAt,
      };
    });
  }

  /** Layer 1 and the long baseline beside each other, so that each value is judged with what the cycles before it have seen. */
  async #track(run: SeriesRun): Promise<void> {
    const { series, index, settings, sides } = run;
    const { slices, ...options } = this.#options;
    const { zThreshold: threshold, direction } = settings;
    const firstSeenMs = options.facts.firstSeenMs(series.name.tenant, series.name.serviceId);
    const young = firstSeenMs === undefined ? {} : { young: { firstSeenMs, tables: this.#tables } };
    const track = new WindowTrack(series, { ...options, threshold, direction, tables: this.#tables.of(threshold), ...young });
    const pair = isBucketSeries(series.name, series.flags) ? undefined : this.#pairOf(run);
    for (let at = 0; at < series.times.length; at++) {
      if (pair !== undefined) await this.#visitCycles(pair, run, series.times[at] as number);
      const frames = track.observe(at, (side) => pair?.reportsNow(at, side) ?? JUDGED_BY_OTHERS);
      for (const frame of frames) this.#put(sides, { frame, atMs: frame.observedAtMs, stage: STAGE_SAMPLES, index });
      if (slices.spend(WINDOW_US)) await slices.endSlice();
    }
    if (pair !== undefined) await this.#visitCycles(pair, run, Number.POSITIVE_INFINITY);
  }

  #pairOf({ series, settings, retained, streamsAt }: SeriesRun): PairTrack {
    const { facts, scored, intervalMs, offsetMs } = this.#options;
    const deployments = facts.deployments(series.name.tenant, series.name.serviceId);
    const fed = retained.fed(series);
    return new PairTrack(series, {
      ...settings,
      intervalMs,
      offsetMs,
      deployments,
      streamsAt,
      inherited: (cycleMs) => retained.inherited(series, cycleMs),
      knownDays: facts.knownDaysOf(series.name.tenant),
      ...(scored !== undefined && { scored }),
      ...(fed !== undefined && { fed }),
    });
  }

  /** Cycles before a time, which the long baseline has values to see in. */
  async #visitCycles(pair: PairTrack, { series, index, sides, retained }: SeriesRun, beforeMs: number): Promise<void> {
    const { slices } = this.#options;
    for (let atMs = pair.dueMs; Number.isFinite(atMs) && atMs < beforeMs; atMs = pair.dueMs) {
      const before = pair.seen;
      for (const frame of pair.visit(atMs)) this.#put(sides, { frame, atMs, stage: STAGE_PAIRS, index });
      retained.covered(series, pair, atMs, pair.dueMs);
      if (slices.spend(PAIR_US * (pair.seen - before))) await slices.endSlice();
    }
  }

  /** Aggregate of the streams of a pair, behind each of them. */
  async #aggregate(group: StreamGroup): Promise<void> {
    const { facts, slices, offsetMs, intervalMs } = this.#options;
    const [first] = group.members as [OrderedSeries];
    const index = Math.max(...group.members.map((member) => member.index)) + 0.5;
    const deployments = facts.deployments(first.series.name.tenant, first.series.name.serviceId);
    for (const { sides, retained, settings, streamsAt } of this.#runsOf(first.series, first.index)) {
      const knownDays = facts.knownDaysOf(first.series.name.tenant);
      const options = { ...settings, offsetMs, intervalMs, deployments, streamsAt, knownDays };
      for (const { frame, atMs } of aggregateFrames(retained.streamsOf(group), group.aggregation, options)) {
        this.#put(sides, { frame, atMs, stage: STAGE_PAIRS, index });
        if (slices.spend(PAIR_US)) await slices.endSlice();
      }
    }
  }

  #put(sides: readonly number[], found: TimedFrame): void {
    for (const side of sides) this.#frames[side as 0 | 1].push(found);
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
