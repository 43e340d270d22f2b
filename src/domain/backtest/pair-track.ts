// One series under the detector of long baselines, as the Watchdog's cycles see it: in each cycle the values that have come by then and are old enough, taken
// together by the minute, give transitions of its episodes and confirm others (actors/engine/watchdog/pairs does so live).
import { hash128 } from "../../core/base/hash128.ts";
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../core/protocol/engine-control.ts";
import { PairDetector } from "../detection/pair/pair-detector.ts";
import { DETECTOR_ADAPTIVE, explainPair, mayAlert, pairVerdict, pairZ } from "../detection/pair/pair-verdict.ts";
import { groupObservations } from "../detection/rolling/observation-groups.ts";
import type { OffsetMs } from "../detection/seasonal/time-zone-hours.ts";
import type { WatchdogSettings } from "../detection/watchdog-settings.ts";
import type { BacktestSeries } from "./history.ts";

/** What is older before the cycle confirms nothing that people are to be told of now. */
const CONFIRMED_MS_MAX = 10 * 60_000;

export interface PairTrackOptions extends Pick<WatchdogSettings, "direction" | "evaluationDelaySeconds"> {
  readonly intervalMs: number;
  readonly offsetMs: OffsetMs;
  /** Of its service, ascending. */
  readonly deployments: readonly number[];
}

export class PairTrack {
  readonly #series: BacktestSeries;
  readonly #options: PairTrackOptions;
  readonly #delayMs: number;
  readonly #detector: PairDetector;
  /** The first value that no observation has taken, and the first that no cycle has seen. */
  #from = 0;
  #end = 0;
  #lastMs = 0;
  #deployed = 0;
  #times = new Float64Array(256);
  #values = new Float64Array(256);
  #startedMs = 0;
  #peak = 0;
  #risen: EpisodeFrame | undefined;
  #frames: Array<EpisodeFrame | ConfirmedPair> = [];

  constructor(series: BacktestSeries, options: PairTrackOptions) {
    this.#series = series;
    this.#options = options;
    this.#delayMs = 1000 * options.evaluationDelaySeconds;
    this.#detector = new PairDetector(undefined, options.offsetMs);
  }

  /** The next cycle that has a value to see; Infinity after the last. */
  get dueMs(): number {
    const next = this.#series.times[this.#end];
    return next === undefined
      ? Number.POSITIVE_INFINITY
      : Math.ceil((next + this.#delayMs) / this.#options.intervalMs) * this.#options.intervalMs;
  }

  /** Values seen so far. */
  get seen(): number {
    return this.#end;
  }

  /** What the cycle tells. */
  visit(cycleMs: number): ReadonlyArray<EpisodeFrame | ConfirmedPair> {
    const { times } = this.#series;
    this.#frames = [];
    while (this.#end < times.length && (times[this.#end] as number) + this.#delayMs <= cycleMs) this.#end++;
    const count = this.#observations();
    const { deployments } = this.#options;
    while (this.#deployed < deployments.length && (deployments[this.#deployed] as number) <= cycleMs) this.#deployed++;
    for (let i = 0; i < count; i++) this.#observe(this.#times[i] as number, this.#values[i] as number);
    if (this.#risen !== undefined) this.#frames.push(this.#risen);
    this.#risen = undefined;
    if (count > 0) this.#confirm(cycleMs);
    return this.#frames;
  }

  /** Puts what is to be observed together in order; how many observations that are. */
  #observations(): number {
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

  #observe(timeMs: number, value: number): void {
    const { deployments, direction } = this.#options;
    const verdict = this.#detector.observe(timeMs, value, this.#deployed === 0 ? 0 : deployments[this.#deployed - 1]);
    const z = pairZ(verdict);
    if (this.#startedMs === 0) {
      if (!verdict.gate.opened || !mayAlert(verdict.side, direction)) return;
      this.#startedMs = timeMs;
      this.#peak = z;
      this.#frames.push(this.#frame("open", timeMs, verdict));
      return;
    }
    if (!verdict.gate.isFiring) {
      if (this.#risen !== undefined) this.#frames.push(this.#risen);
      this.#risen = undefined;
      this.#frames.push(this.#frame("close", timeMs, verdict));
      this.#startedMs = 0;
      return;
    }
    if (Math.sign(z) !== Math.sign(this.#peak) || Math.abs(z) <= Math.abs(this.#peak)) return;
    this.#peak = z;
    this.#risen = this.#frame("update", timeMs, verdict);
  }

  #confirm(cycleMs: number): void {
    const { alone, shared, side } = this.#detector.confirmation;
    if (this.#lastMs < cycleMs - CONFIRMED_MS_MAX || Math.max(alone, shared) < 1) return;
    const { tenant, environment, serviceId, metricName } = this.#series.name;
    const { direction } = this.#options;
    const override = direction === "both" ? null : direction;
    this.#frames.push({ tenant, environment, serviceId, metricName, isAlone: alone >= 1, side, direction: override });
  }

  #frame(transition: EpisodeFrame["transition"], timeMs: number, verdict: ReturnType<PairDetector["observe"]>): EpisodeFrame {
    const { name, times } = this.#series;
    const direction = this.#peak < 0 ? "low" : "high";
    const of = {
      verdict,
      baseline: this.#detector.baseline,
      ageSeconds: (timeMs - (times[0] as number)) / 1000,
      localMs: timeMs + this.#options.offsetMs(timeMs),
      direction: "both",
    } as const;
    const { tenant, environment, serviceId, metricName, attributes } = name;
    const identity = [tenant, environment, serviceId, metricName, attributes, DETECTOR_ADAPTIVE, direction, this.#startedMs];
    return {
      ...name,
      transition,
      episodeId: hash128(JSON.stringify(identity)),
      detector: DETECTOR_ADAPTIVE,
      direction,
      startedAtMs: this.#startedMs,
      observedAtMs: timeMs,
      z: this.#peak,
      verdict: pairVerdict(of),
      explanation: explainPair(of, metricName),
      arrivalMs: 0,
    };
  }
}
