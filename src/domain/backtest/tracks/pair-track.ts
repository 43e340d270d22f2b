// One series under the detector of long baselines, as the Watchdog's cycles see it: in each cycle the values that have come by then and are old enough, taken
// together by the minute, are observed (actors/engine/watchdog/pairs does so live).

import { FLAG_COUNTER, WINDOW_MAX } from "../../../core/layout/stream-record.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../../core/protocol/engine-control.ts";
import type { KnownDays } from "../../calendar/known-days.ts";
import { countsEach } from "../../detection/departure/counted-values.ts";
import type { LongBaselineSays } from "../../detection/departure/own-tail.ts";
import { YOUNG_VALUES } from "../../detection/departure/young-departure.ts";
import { mayJoin, newestLevel, warmUntil } from "../../detection/pair/instance-family.ts";
import { reachOf } from "../../detection/pair/own-reach.ts";
import type { PairVerdict } from "../../detection/pair/pair-finding.ts";
import { type PairSurroundings, Z_THRESHOLD_DEFAULT } from "../../detection/pair/pair-surroundings.ts";
import { groupWithPending } from "../../detection/rolling/observation-groups.ts";
import { perUsualInterval, restartedValue } from "../../detection/rolling/usual-deltas.ts";
import { INTERVAL_LENGTH, UsualInterval } from "../../detection/rolling/usual-interval.ts";
import type { OffsetMs } from "../../detection/seasonal/time-zone-hours.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import { kindOfName } from "../../saturation/bounded-name.ts";
import { isOfCounts } from "../../series/classification.ts";
import type { BacktestSeries, Scored } from "../history.ts";
import type { CycleMean } from "./aggregate-track.ts";
import type { Offer } from "./instance-lineage.ts";
import { PairFindings } from "./pair-findings.ts";

export interface PairTrackOptions extends Pick<WatchdogSettings, "direction" | "evaluationDelaySeconds" | "zThreshold"> {
  readonly intervalMs: number;
  readonly offsetMs: OffsetMs;
  /** Deployments of its service, ascending. */
  readonly deployments: readonly number[];
  readonly knownDays?: KnownDays | undefined;
  /** Streams of its service that are alive at a time; 1 where they are not known. */
  readonly streamsAt?: (nowMs: number) => number;
  readonly scored?: Scored;
  /** The state of another instance that it inherits in a cycle, where it is like that. */
  readonly inherited?: (cycleMs: number) => ArrayBuffer | undefined;
  /** Hears what the observations of a cycle come to. */
  readonly fed?: (mean: CycleMean) => void;
}

export class PairTrack {
  readonly findings: PairFindings;
  readonly #series: BacktestSeries;
  readonly #options: PairTrackOptions;
  readonly #delayMs: number;
  readonly #isCounter: boolean;
  readonly #isOfCounts: boolean;
  readonly #interval = new UsualInterval(new Float64Array(INTERVAL_LENGTH));
  /** The first value that no observation has taken, and the first that no cycle has seen. */
  #from = 0;
  #end = 0;
  #deployed = 0;
  #times = new Float64Array(256);
  #values = new Float64Array(256);
  #observed = 0;
  #hasInherited = false;
  #verdict: PairVerdict | undefined;
  #lastMs = 0;

  constructor(series: BacktestSeries, options: PairTrackOptions) {
    this.#series = series;
    this.#options = options;
    this.#delayMs = 1000 * options.evaluationDelaySeconds;
    this.#isCounter = (series.flags & FLAG_COUNTER) !== 0;
    this.#isOfCounts = isOfCounts(series.name.metricName, series.flags);
    this.findings = new PairFindings(series.name, options.direction, options.offsetMs);
  }

  /** The next cycle that has a value to see; Infinity after the last. */
  get dueMs(): number {
    const next = this.#series.times[this.#end];
    const { intervalMs } = this.#options;
    return next === undefined ? Number.POSITIVE_INFINITY : Math.ceil((next + this.#delayMs) / intervalMs) * intervalMs;
  }

  /** Values seen so far, and observations that they made. */
  get seen(): number {
    return this.#end;
  }

  get observed(): number {
    return this.#observed;
  }

  /** Verdict on the newest observation, with the time of its last value; undefined before the first. */
  get newest(): { readonly verdict: PairVerdict; readonly atMs: number } | undefined {
    return this.#verdict === undefined ? undefined : { verdict: this.#verdict, atMs: this.#lastMs };
  }

  visit(cycleMs: number): ReadonlyArray<EpisodeFrame | ConfirmedPair> {
    const { times } = this.#series;
    const { scored } = this.#options;
    while (this.#end < times.length && (times[this.#end] as number) + this.#delayMs <= cycleMs)
      this.#interval.add(times[this.#end++] as number);
    if (!this.#hasInherited && mayJoin(times[0] as number, times[this.#end - 1] as number)) this.#join(cycleMs);
    const around = this.#aroundAt(cycleMs);
    const { groups: count } = this.#group(this.#end);
    if (count > 0) this.#lastMs = this.#times[count - 1] as number;
    while (this.#from < this.#end && (times[this.#from] as number) <= this.#lastMs) this.#from++;
    for (let i = 0; i < count; i++) {
      const timeMs = this.#times[i] as number;
      this.#verdict = this.findings.observe(timeMs, this.#values[i] as number, around);
      scored?.("pair", timeMs, this.#verdict.score);
    }
    this.#observed += count;
    if (count > 0) this.#options.fed?.({ cycleMs, timeMs: this.#lastMs, mean: meanOf(this.#values, count) });
    this.#observeYoung(around, cycleMs);
    return this.findings.reported(cycleMs);
  }

  /** What a ring would hold is looked at together while the series is young. */
  #observeYoung({ streams, zThreshold }: PairSurroundings, cycleMs: number): void {
    if (this.findings.detector.count >= YOUNG_VALUES) return;
    const { times, values } = this.#ring();
    const isRemaining = kindOfName(this.#series.name.metricName) === "remaining";
    this.findings.observeYoung(times, values, { streams, strictness: zThreshold / Z_THRESHOLD_DEFAULT, isRemaining }, cycleMs);
  }

  /** What a ring would hold. */
  #ring(): { readonly times: Float64Array; readonly values: Float64Array } {
    const first = Math.max(0, this.#end - WINDOW_MAX);
    const times = this.#series.times.subarray(first, this.#end);
    const values = this.#series.values.slice(first, this.#end);
    if (this.#isCounter) perUsualInterval(times, values, times.length, 0, this.#interval.ms);
    return { times, values };
  }

  /** A new instance whose newest values are as another's would be goes on from the baseline of that, with what comes behind those that it has taken. */
  #join(cycleMs: number): void {
    const state = this.#options.inherited?.(cycleMs);
    if (state === undefined) return;
    const { times, values } = this.#ring();
    const level = newestLevel(times, values, times.length);
    this.#hasInherited = this.findings.inherit(state, times.at(-1) as number, level, this.#aroundAt(cycleMs));
  }

  /** Report at once, when the value at a place has come, on a side; cycles before it have been visited. */
  reportsNow(index: number, side: 1 | -1): LongBaselineSays {
    const around = this.#aroundAt(this.#series.times[index] as number);
    const known = { values: this.findings.detector.count, streams: around.streams, evidence: undefined };
    if (this.#delayMs > 0) return known;
    const { groups: count, pending } = this.#group(index + 1);
    if (count === 0 && pending === undefined) return known;
    const evidence = this.findings.foresee({ times: this.#times, values: this.#values, count, pending }, around, side);
    return { ...known, evidence, reach: evidence === undefined ? reachOf(this.findings.detector, side, around) : undefined };
  }

  /** Offer of what it has to leave to another instance. */
  offer(): Offer {
    const { state, isAtRest, baseline } = this.findings.detector;
    return { lastMs: this.#lastMs, isAtRest, baseline, copy: () => state.slice(0) };
  }

  #aroundAt(nowMs: number): PairSurroundings {
    const { deployments, streamsAt, zThreshold, knownDays } = this.#options;
    while (this.#deployed < deployments.length && (deployments[this.#deployed] as number) <= nowMs) this.#deployed++;
    const deployedMs = this.#deployed === 0 ? 0 : (deployments[this.#deployed - 1] as number);
    const warmUntilMs = this.#hasInherited ? warmUntil(this.#series.times[0] as number) : 0;
    const counts = countsEach(this.#isOfCounts, this.#interval.ms);
    return { deployedMs, streams: streamsAt?.(nowMs) ?? 1, zThreshold, warmUntilMs, knownDays, isCounter: this.#isCounter, counts };
  }

  #tameRestarts(restarts: ReadonlySet<number>, length: number): void {
    for (let i = 0; i < length; i++) {
      if (!restarts.has(this.#times[i] as number)) continue;
      const end = this.#from + i + 1;
      const had = this.#series.values.subarray(Math.max(0, end - WINDOW_MAX), end);
      this.#values[i] = restartedValue(this.#values[i] as number, this.#isCounter, had);
    }
  }

  /** Puts what has not been observed before a place together in order. */
  #group(end: number): ReturnType<typeof groupWithPending> {
    const { times, values } = this.#series;
    const length = end - this.#from;
    if (length > this.#times.length) {
      this.#times = new Float64Array(2 * length);
      this.#values = new Float64Array(2 * length);
    }
    this.#times.set(times.subarray(this.#from, end));
    this.#values.set(values.subarray(this.#from, end));
    if (this.#isCounter) perUsualInterval(this.#times, this.#values, length, this.#lastMs, this.#interval.ms);
    if (this.#series.restarts !== undefined) this.#tameRestarts(this.#series.restarts, length);
    return groupWithPending(this.#times, this.#values, length, this.#lastMs);
  }
}

function meanOf(values: Float64Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += values[i] as number;
  return sum / count;
}
