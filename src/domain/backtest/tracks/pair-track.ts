// One series under the detector of long baselines, as the Watchdog's cycles see it: in each cycle the values that have come by then and are old enough, taken
// together by the minute, are observed (actors/engine/watchdog/pairs does so live).
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../../core/protocol/engine-control.ts";
import type { PairVerdict } from "../../detection/pair/pair-detector.ts";
import { groupObservations } from "../../detection/rolling/observation-groups.ts";
import type { OffsetMs } from "../../detection/seasonal/time-zone-hours.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import type { BacktestSeries, Scored } from "../history.ts";
import { PairFindings } from "./pair-findings.ts";

export interface PairTrackOptions extends Pick<WatchdogSettings, "direction" | "evaluationDelaySeconds" | "zThreshold"> {
  readonly intervalMs: number;
  readonly offsetMs: OffsetMs;
  /** Of its service, ascending. */
  readonly deployments: readonly number[];
  /** Streams of its service; 1 where they are not known. */
  readonly streams?: number;
  readonly scored?: Scored;
}

export class PairTrack {
  readonly findings: PairFindings;
  readonly #series: BacktestSeries;
  readonly #options: PairTrackOptions;
  readonly #delayMs: number;
  /** The first value that no observation has taken, and the first that no cycle has seen. */
  #from = 0;
  #end = 0;
  #deployed = 0;
  #times = new Float64Array(256);
  #values = new Float64Array(256);
  #observed = 0;
  #verdict: PairVerdict | undefined;
  #lastMs = 0;

  constructor(series: BacktestSeries, options: PairTrackOptions) {
    this.#series = series;
    this.#options = options;
    this.#delayMs = 1000 * options.evaluationDelaySeconds;
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

  /** Of the newest observation, with the time of its last value; undefined before the first. */
  get newest(): { readonly verdict: PairVerdict; readonly atMs: number } | undefined {
    return this.#verdict === undefined ? undefined : { verdict: this.#verdict, atMs: this.#lastMs };
  }

  /** What the cycle tells. */
  visit(cycleMs: number): ReadonlyArray<EpisodeFrame | ConfirmedPair> {
    const { times } = this.#series;
    const { deployments, streams = 1, zThreshold, scored } = this.#options;
    while (this.#end < times.length && (times[this.#end] as number) + this.#delayMs <= cycleMs) this.#end++;
    while (this.#deployed < deployments.length && (deployments[this.#deployed] as number) <= cycleMs) this.#deployed++;
    const deployedMs = this.#deployed === 0 ? 0 : (deployments[this.#deployed - 1] as number);
    const around = { deployedMs, streams, zThreshold };
    const count = this.#group();
    for (let i = 0; i < count; i++) {
      const timeMs = this.#times[i] as number;
      this.#verdict = this.findings.observe(timeMs, this.#values[i] as number, around);
      scored?.("pair", timeMs, this.#verdict.score);
    }
    this.#observed += count;
    return count === 0 ? [] : this.findings.reported(cycleMs);
  }

  /** Puts what is to be observed together in order; how many observations that are. */
  #group(): number {
    const { times, values } = this.#series;
    const length = this.#end - this.#from;
    if (length > this.#times.length) {
      this.#times = new Float64Array(2 * length);
      this.#values = new Float64Array(2 * length);
    }
    this.#times.set(times.subarray(this.#from, this.#end));
    this.#values.set(values.subarray(this.#from, this.#end));
    const count = groupObservations(this.#times, this.#values, length, this.#lastMs);
    if (count > 0) this.#lastMs = this.#times[count - 1] as number;
    while (this.#from < this.#end && (times[this.#from] as number) <= this.#lastMs) this.#from++;
    return count;
  }
}
