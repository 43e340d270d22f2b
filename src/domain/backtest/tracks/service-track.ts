// One service under its joint detector, as transitions of its episodes (actors/engine/watchdog/passes does so live).
import { hash128 } from "../../../core/hashing/hash128.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import { carryAlert, changeModel, ServiceDetector, type ServiceVerdict } from "../../detection/multivariate/service-detector.ts";
import { type ServiceEpisodeScope, serviceFrame, serviceTransition } from "../../detection/multivariate/service-episode.ts";
import { decodeServiceModel } from "../../detection/multivariate/service-model-coding.ts";
import type { NamedColumns } from "../../detection/multivariate/service-vector.ts";
import { type ServiceFinding, serviceVerdict, serviceZ } from "../../detection/multivariate/service-verdict.ts";

/** Training of a model. */
export interface Training {
  readonly rows: number;
  readonly trainedMs: number;
}

export class ServiceTrack {
  readonly #scope: ServiceEpisodeScope;
  readonly #columns: NamedColumns;
  #floats: Float64Array<ArrayBuffer> | undefined;
  #detector: ServiceDetector | undefined;
  #training: Training = { rows: 0, trainedMs: 0 };
  #peakZ = 0;
  #sampleMs = 0;
  #verdict: ServiceVerdict | undefined;

  /** `columns` are those of the vector. */
  constructor(scope: ServiceEpisodeScope, columns: NamedColumns) {
    this.#scope = scope;
    this.#columns = columns;
  }

  get isTrained(): boolean {
    return this.#detector !== undefined;
  }

  /** Takes a new model; the state that has read vectors goes on, where its evidence is a history for the model. */
  take(model: Uint8Array<ArrayBuffer>, state: Float64Array<ArrayBuffer>, training: Training): void {
    const decoded = decodeServiceModel(model);
    if (decoded === undefined) throw new Error("a model that was just trained does not decode");
    const before = this.#floats;
    if (before === undefined || this.#detector?.model.leavesRest !== decoded.leavesRest) this.#floats = state;
    if (before !== undefined && this.#floats === state) carryAlert(before, state);
    changeModel(this.#floats as Float64Array);
    this.#detector = new ServiceDetector(this.#columns.names.length, this.#floats, decoded, this.#columns);
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
    const transition = serviceTransition(verdict, wasFiring, this.#peakZ);
    if (transition === "open" || transition === "update") this.#peakZ = serviceZ(verdict);
    return transition && this.#frame(transition, verdict);
  }

  /** Score of the newest vector; 0 before the first. */
  get newestScore(): number {
    return this.#verdict?.score ?? 0;
  }

  /** Verdict on the newest vector; undefined before the first. */
  get newest() {
    const [verdict, detector] = [this.#verdict, this.#detector];
    if (verdict === undefined || detector === undefined) return undefined;
    return { verdict, sampleMs: this.#sampleMs, bar: detector.firing.bar, record: serviceVerdict(detector, this.#finding(verdict)) };
  }

  #finding(verdict: ServiceVerdict): ServiceFinding {
    return { names: this.#columns.names, verdict, timeMs: this.#sampleMs, ...this.#training };
  }

  #frame(transition: EpisodeFrame["transition"], verdict: ServiceVerdict): EpisodeFrame {
    return serviceFrame(this.#scope, this.#detector as ServiceDetector, this.#finding(verdict), transition, hash128);
  }
}
