// What the detector of long baselines finds on one series: transitions of its episodes, and what it confirms.
import { hash128 } from "../../../core/hashing/hash128.ts";
import type { EpisodeFrame, StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../../core/protocol/engine-control.ts";
import type { TailEvidence } from "../../detection/departure/own-tail.ts";
import { type YoungSurroundings, youngDeparture } from "../../detection/departure/young-departure.ts";
import { CONFIRMED_MS_MAX } from "../../detection/pair/pair-confirmation.ts";
import { PairDetector } from "../../detection/pair/pair-detector.ts";
import type { PairVerdict } from "../../detection/pair/pair-finding.ts";
import { type NewValues, type PairSurroundings, SURROUNDED_BY_NOTHING } from "../../detection/pair/pair-surroundings.ts";
import { DETECTOR_ADAPTIVE, mayAlert, type PairObservation, pairFacts, pairVerdict, pairZ } from "../../detection/pair/pair-verdict.ts";
import { type OffsetMs, UTC_OFFSET } from "../../detection/seasonal/time-zone-hours.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";

/** Initial state of a pair: the state of another one, and the streams that an aggregate is of. */
export interface PairBeginning {
  readonly state?: ArrayBuffer | undefined;
  readonly streams?: () => number;
}

export class PairFindings {
  readonly #name: StreamName;
  readonly #direction: WatchdogSettings["direction"];
  readonly #offsetMs: OffsetMs;
  readonly #detector: PairDetector;
  readonly #streams: (() => number) | undefined;
  #firstMs = Number.NaN;
  #lastMs = 0;
  #startedMs = 0;
  #peak = 0;
  #reports = false;
  #shares = false;
  #side: 1 | -1 = 1;
  #risen: EpisodeFrame | undefined;
  #frames: Array<EpisodeFrame | ConfirmedPair> = [];

  /** `direction` are the departures that may alert; `begun` is the state of another pair that it goes on from. */
  constructor(name: StreamName, direction: WatchdogSettings["direction"], offsetMs: OffsetMs = UTC_OFFSET, begun: PairBeginning = {}) {
    this.#name = name;
    this.#direction = direction;
    this.#offsetMs = offsetMs;
    this.#detector = new PairDetector(begun.state, offsetMs);
    this.#streams = begun.streams;
  }

  /** The detector's state, and what it says of it. */
  get detector(): Pick<PairDetector, "state" | "isAtRest" | "baseline" | "count" | "departure" | "isYoung"> {
    return this.#detector;
  }

  /** Goes on from the state of another pair where a value is as that one's would be; whether it does. */
  inherit(state: ArrayBuffer, timeMs: number, value: number, around: PairSurroundings): boolean {
    if (this.#startedMs !== 0 || !new PairDetector(state, this.#offsetMs).isLike(timeMs, value, around)) return false;
    new Uint8Array(this.#detector.state).set(new Uint8Array(state));
    return true;
  }

  /** Takes an observation; what follows from it is reported at the end of its cycle. The verdict is used again for the next one. */
  observe(timeMs: number, value: number, around: PairSurroundings = SURROUNDED_BY_NOTHING): PairVerdict {
    if (Number.isNaN(this.#firstMs)) this.#firstMs = timeMs;
    this.#lastMs = timeMs;
    return this.#take(this.#detector.observe(timeMs, value, around));
  }

  /** Looks at the newest values together, where the series is too young for single ones to depart. Times ascend. */
  observeYoung(times: Float64Array, values: Float64Array, around: YoungSurroundings, cycleMs: number): void {
    const isRecent = (times.at(-1) ?? 0) >= cycleMs - CONFIRMED_MS_MAX;
    const departure =
      isRecent && this.#detector.isYoung ? youngDeparture(times, values, { ...around, ageMs: this.#detector.ageMs }) : undefined;
    if (departure === undefined || this.#detector.departure.isWayBack(times[0] as number, departure.observed)) return;
    this.#lastMs = departure.timeMs;
    this.#take(this.#detector.depart(departure));
  }

  #take(verdict: PairVerdict): PairVerdict {
    const z = pairZ(verdict);
    if (verdict.reports || verdict.shares) this.#side = verdict.side;
    this.#reports ||= verdict.reports;
    this.#shares ||= verdict.shares;
    if (this.#startedMs === 0) this.#begin(verdict, z);
    else if (!verdict.isFiring) this.#end(verdict);
    else if (Math.sign(z) === Math.sign(this.#peak) && (verdict.departs || Math.abs(z) > Math.abs(this.#peak))) {
      if (Math.abs(z) > Math.abs(this.#peak)) this.#peak = z;
      this.#risen = this.#frame("update", verdict);
    }
    return verdict;
  }

  /** Report that values would lead to that are not taken in. */
  foresee(values: NewValues, around: PairSurroundings, side: 1 | -1): TailEvidence | undefined {
    return this.#detector.foresee(values, around, side);
  }

  /** The record of the newest observation. */
  recordOf(verdict: PairVerdict) {
    return pairVerdict(this.#observation(verdict, this.#direction));
  }

  /** Frames of a cycle, at its end. */
  reported(cycleMs: number): ReadonlyArray<EpisodeFrame | ConfirmedPair> {
    const frames = this.#frames;
    if (this.#risen !== undefined) frames.push(this.#risen);
    if (this.#lastMs >= cycleMs - CONFIRMED_MS_MAX && (this.#reports || this.#shares)) {
      const { tenant, environment, serviceId, metricName } = this.#name;
      const direction = this.#direction === "both" ? null : this.#direction;
      frames.push({ tenant, environment, serviceId, metricName, isAlone: this.#reports, side: this.#side, direction });
    }
    this.#risen = undefined;
    this.#reports = false;
    this.#shares = false;
    this.#frames = [];
    return frames;
  }

  #begin(verdict: PairVerdict, z: number): void {
    if (!verdict.opened || !mayAlert(verdict.side, this.#direction)) return;
    this.#startedMs = this.#lastMs;
    this.#peak = z;
    this.#frames.push(this.#frame("open", verdict));
  }

  #end(verdict: PairVerdict): void {
    if (this.#risen !== undefined) this.#frames.push(this.#risen);
    this.#risen = undefined;
    const level = this.#detector.accepted;
    this.#frames.push({ ...this.#frame("close", verdict), ...(level !== undefined && { level }) });
    this.#startedMs = 0;
  }

  #observation(verdict: PairVerdict, direction: PairObservation["direction"]): PairObservation {
    return {
      verdict,
      baseline: this.#detector.baseline,
      ageSeconds: (this.#lastMs - this.#firstMs) / 1000,
      localMs: this.#lastMs + this.#offsetMs(this.#lastMs),
      direction,
    };
  }

  #frame(transition: EpisodeFrame["transition"], verdict: PairVerdict): EpisodeFrame {
    const direction = this.#peak < 0 ? "low" : "high";
    const of = this.#observation(verdict, "both");
    const { tenant, environment, serviceId, metricName, attributes } = this.#name;
    const identity = [tenant, environment, serviceId, metricName, attributes, DETECTOR_ADAPTIVE, direction, this.#startedMs];
    return {
      ...this.#name,
      transition,
      episodeId: hash128(JSON.stringify(identity)),
      detector: DETECTOR_ADAPTIVE,
      direction,
      startedAtMs: this.#startedMs,
      observedAtMs: this.#lastMs,
      z: this.#peak,
      verdict: pairVerdict(of),
      explanation: pairFacts(of, this.#streams?.()),
      arrivalMs: 0,
    };
  }
}
