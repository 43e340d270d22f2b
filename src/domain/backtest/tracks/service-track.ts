// One service under its joint detector, as transitions of its episodes (actors/engine/watchdog/services does so live).
import { hash128 } from "../../../core/base/hash128.ts";
import type { EpisodeFrame, StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { ServiceDetector, type ServiceVerdict } from "../../detection/multivariate/service-detector.ts";
import { decodeServiceModel } from "../../detection/multivariate/service-model-coding.ts";
import { valueAgeMsMax } from "../../detection/multivariate/service-vector.ts";
import {
  DETECTOR_SERVICE,
  explainService,
  METRIC_OF_SERVICE,
  type ServiceFinding,
  serviceVerdict,
  serviceZ,
} from "../../detection/multivariate/service-verdict.ts";

/** A peak that is so much higher than the one told last is told. */
const PEAK_GROWTH = 1.5;
/** Strangeness counts upwards only. */
const DIRECTION = "high";
const NOTHING: ServiceVerdict = { score: 0, z: 0, evidence: 0, gate: { isFiring: false, opened: false, suppressedBy: null } };

/** Of a model. */
export interface Training {
  readonly rows: number;
  readonly trainedMs: number;
}

export class ServiceTrack {
  readonly #name: StreamName;
  readonly #metrics: readonly string[];
  readonly #hash: string;
  #words: Float64Array<ArrayBuffer> | undefined;
  #detector: ServiceDetector | undefined;
  #training: Training = { rows: 0, trainedMs: 0 };
  #peakZ = 0;
  #sampleMs = 0;
  #verdict: ServiceVerdict | undefined;

  /** `metrics` are those of the vector, `hash` is the service's (core/protocol/service-rows.ts). */
  constructor(name: StreamName, metrics: readonly string[], hash: string) {
    this.#name = { ...name, metricName: METRIC_OF_SERVICE, attributes: {} };
    this.#metrics = metrics;
    this.#hash = hash;
  }

  get isTrained(): boolean {
    return this.#detector !== undefined;
  }

  /** Takes a new model; the state that has read vectors goes on. */
  take(model: Uint8Array<ArrayBuffer>, state: Float64Array<ArrayBuffer>, training: Training): void {
    const decoded = decodeServiceModel(model);
    if (decoded === undefined) throw new Error("a model that was just trained does not decode");
    this.#words ??= state;
    this.#detector = new ServiceDetector(this.#metrics.length, this.#words, decoded);
    this.#training = training;
  }

  /** Judges a vector, in which NaN stands for a metric without a value. */
  observe(cycleMs: number, sampleMs: number, values: Float64Array): EpisodeFrame | undefined {
    const detector = this.#detector as ServiceDetector;
    if (cycleMs <= detector.newestMs) return undefined;
    this.#sampleMs = sampleMs;
    detector.model.parts.levels.fillGaps(values);
    const wasFiring = detector.isFiring;
    const verdict = detector.observe(cycleMs, values);
    this.#verdict = verdict;
    if (verdict.gate.opened) {
      this.#peakZ = serviceZ(verdict);
      return this.#frame("open", verdict);
    }
    if (wasFiring && !verdict.gate.isFiring) return this.#frame("close", verdict);
    if (!verdict.gate.isFiring || serviceZ(verdict) <= PEAK_GROWTH * this.#peakZ) return undefined;
    this.#peakZ = serviceZ(verdict);
    return this.#frame("update", verdict);
  }

  /** What was said of the newest vector; undefined before the first. */
  get newest() {
    const [verdict, detector] = [this.#verdict, this.#detector];
    if (verdict === undefined || detector === undefined) return undefined;
    return { verdict, sampleMs: this.#sampleMs, bar: detector.gate.bar, record: serviceVerdict(detector, this.#finding(verdict)) };
  }

  /** A cycle without a new vector: an alert of which nothing more is heard is over. */
  rest(cycleMs: number, intervalMs: number): EpisodeFrame | undefined {
    const detector = this.#detector as ServiceDetector;
    if (!detector.isFiring || cycleMs - this.#sampleMs <= valueAgeMsMax(intervalMs)) return undefined;
    detector.gate.end();
    return this.#frame("close", NOTHING);
  }

  #finding(verdict: ServiceVerdict): ServiceFinding {
    return { names: this.#metrics, verdict, timeMs: this.#sampleMs, ...this.#training };
  }

  #frame(transition: EpisodeFrame["transition"], verdict: ServiceVerdict): EpisodeFrame {
    const detector = this.#detector as ServiceDetector;
    const startedAtMs = detector.gate.openedMs;
    return {
      ...this.#name,
      transition,
      episodeId: hash128(`${this.#hash} ${DETECTOR_SERVICE} ${DIRECTION} ${startedAtMs}`),
      detector: DETECTOR_SERVICE,
      direction: DIRECTION,
      startedAtMs,
      observedAtMs: this.#sampleMs,
      z: serviceZ(verdict),
      verdict: serviceVerdict(detector, this.#finding(verdict)),
      explanation: explainService(detector, this.#finding(verdict)),
      arrivalMs: 0,
    };
  }
}
