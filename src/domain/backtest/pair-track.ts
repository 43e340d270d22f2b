// One series under the detector of long baselines, as transitions of its episodes.
import { hash128 } from "../../core/base/hash128.ts";
import type { EpisodeFrame, StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../core/protocol/engine-control.ts";
import { PairDetector } from "../detection/pair/pair-detector.ts";
import type { WatchdogSettings } from "../detection/watchdog-settings.ts";

const DETECTOR = "adaptive";
const Z_MAX = 99;

/** What the detector said of the last value, and the episode that follows from it. */
export class PairTrack {
  readonly #name: StreamName;
  readonly #detector = new PairDetector();
  #startedMs = 0;
  #peak = 0;
  #levelBar = 0;

  constructor(name: StreamName) {
    this.#name = name;
  }

  /** What the last value has confirmed, if anything; `direction`: as it is set for the metric. */
  confirmed(direction: WatchdogSettings["direction"]): ConfirmedPair | undefined {
    const { alone, shared, side } = this.#detector.confirmation;
    if (shared < 1 && alone < 1) return undefined;
    const { tenant, environment, serviceId, metricName } = this.#name;
    return { tenant, environment, serviceId, metricName, isAlone: alone >= 1, side, direction: direction === "both" ? null : direction };
  }

  /** Takes a value; the transition that it makes. */
  observe(timeMs: number, value: number): EpisodeFrame | undefined {
    const verdict = this.#detector.observe(timeMs, value);
    this.#levelBar = verdict.levelBar;
    const side = value < verdict.expected ? -1 : 1;
    const z = side * Math.min(Z_MAX, Math.max(Math.abs(verdict.z), verdict.level));
    if (this.#startedMs === 0) {
      if (!verdict.gate.opened) return undefined;
      this.#startedMs = timeMs;
      this.#peak = z;
      return this.#frame("open", timeMs, value, verdict.expected);
    }
    if (!verdict.gate.isFiring) {
      const closing = this.#frame("close", timeMs, value, verdict.expected);
      this.#startedMs = 0;
      return closing;
    }
    if (Math.sign(z) !== Math.sign(this.#peak) || Math.abs(z) <= Math.abs(this.#peak)) return undefined;
    this.#peak = z;
    return this.#frame("update", timeMs, value, verdict.expected);
  }

  #frame(transition: EpisodeFrame["transition"], timeMs: number, value: number, expected: number): EpisodeFrame {
    const direction = this.#peak < 0 ? "low" : "high";
    const { tenant, environment, serviceId, metricName } = this.#name;
    const identity = JSON.stringify([
      tenant,
      environment,
      serviceId,
      metricName,
      this.#name.attributes,
      DETECTOR,
      direction,
      this.#startedMs,
    ]);
    return {
      ...this.#name,
      transition,
      episodeId: hash128(identity),
      detector: DETECTOR,
      direction,
      startedAtMs: this.#startedMs,
      observedAtMs: timeMs,
      z: this.#peak,
      verdict: { detector: DETECTOR, observed: value, expected, z: this.#peak, threshold: this.#levelBar, gates: [] },
      explanation: `${metricName} was ${value}, and ${expected} is usual over its long history`,
      arrivalMs: 0,
    };
  }
}
