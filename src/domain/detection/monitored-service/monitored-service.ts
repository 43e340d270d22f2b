// One service in one environment, as its engine keeps it: the plan of its vector, the detector's state, the model's bytes. Detector and model are made over
// these for each visit: their objects would take as much memory as what they look at.
import { SERVICE_STATE_STORE_MS } from "../../../core/config/limits.ts";
import type { ServiceModelMessage } from "../../../core/protocol/engine-control.ts";
import { encodeServiceRow, serviceHash, servicePage } from "../../../core/protocol/service-rows.ts";
import { LEARNING } from "../coverage.ts";
import { ServiceDetector, serviceDetectorWords } from "../multivariate/service-detector.ts";
import { decodeServiceModel } from "../multivariate/service-model-coding.ts";
import type { ServicePlan } from "./service-plan.ts";

/** What is known of its model: not asked yet, none, or there. */
type Phase = "unknown" | "learning" | "judged";

export class MonitoredService {
  /** JSON of [tenant, service]. */
  readonly key: string;
  readonly environment: string;
  readonly partition: number;
  /** 32 hex digits. */
  readonly hash: string;
  phase: Phase = "unknown";
  /** What the last pass did with it (domain/detection/coverage.ts). */
  state: string = LEARNING;
  /** Wall clock from which a model is wanted. */
  dueMs = 0;
  /** Cycle of the last question to the coordinator. */
  askedCycle = Number.NEGATIVE_INFINITY;
  /** When its metrics were chosen, and its state stored; wall clock. */
  plannedMs: number;
  storedMs: number;
  /** Newest sample of the vector that was judged last. */
  sampleMs = 0;
  /** z of the highest peak that was told of the alert that is open. */
  peakZ = 0;
  /** Vectors of the model's training, and when. */
  rows = 0;
  trainedMs = 0;
  #plan: ServicePlan;
  #words: Float64Array<ArrayBuffer> | undefined;
  #model: Uint8Array<ArrayBuffer> | undefined;

  constructor(of: Pick<MonitoredService, "key" | "environment" | "partition">, plan: ServicePlan, nowMs: number) {
    this.key = of.key;
    this.environment = of.environment;
    this.partition = of.partition;
    this.hash = serviceHash(of.key, of.environment);
    this.#plan = plan;
    this.plannedMs = nowMs;
    // Services take turns.
    this.storedMs = nowMs - (servicePage(this.hash) / 2 ** 32) * SERVICE_STATE_STORE_MS;
  }

  get plan(): ServicePlan {
    return this.#plan;
  }

  /** Takes the same metrics with other streams, or other metrics, for which there is no model yet. */
  setPlan(plan: ServicePlan, nowMs: number): void {
    const isSame = plan.shape.columns === this.#plan.shape.columns;
    this.#plan = plan;
    if (isSame) return;
    this.plannedMs = nowMs;
    this.#words = undefined;
    this.#model = undefined;
    this.phase = "unknown";
    this.askedCycle = Number.NEGATIVE_INFINITY;
  }

  /** A detector over state and model, for one visit; undefined where there is no model. */
  detector(): ServiceDetector | undefined {
    const model = this.#model && decodeServiceModel(this.#model);
    if (model === undefined || this.#words === undefined) return undefined;
    return new ServiceDetector(this.#plan.shape.names.length, this.#words, model);
  }

  /** Takes what the coordinator has of it. A model of other metrics is left out: it is asked for again. */
  take({ columns, model, state, rows, trainedMs, sampleMs, dueMs }: ServiceModelMessage): void {
    if (columns !== this.#plan.shape.columns) return;
    this.askedCycle = Number.NEGATIVE_INFINITY;
    const words = this.#words ?? (state?.length === serviceDetectorWords(this.#plan.shape.names.length) ? state : undefined);
    if (model === null || words === undefined) {
      if (this.phase === "unknown") this.phase = "learning";
      // A model without a state is of no use: both are made anew.
      this.dueMs = model === null ? dueMs : 0;
      return;
    }
    if (this.#words === undefined) this.sampleMs = sampleMs;
    this.#words = words;
    this.#model = model;
    this.phase = "judged";
    this.rows = rows;
    this.trainedMs = trainedMs;
    this.dueMs = dueMs;
  }

  /** Its row of the table of states; undefined without a state. */
  stateRow(): Uint8Array<ArrayBuffer> | undefined {
    const words = this.#words;
    if (words === undefined) return undefined;
    const { names, columns } = this.#plan.shape;
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    return encodeServiceRow({ count: names.length, timeMs: this.sampleMs, service: this.hash, columns, bytes });
  }

  /** Bytes of model, state and plan. */
  get bytes(): number {
    return (this.#model?.length ?? 0) + (this.#words?.byteLength ?? 0) + this.#plan.slots.byteLength;
  }
}
