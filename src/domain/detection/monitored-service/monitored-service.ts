// One service in one environment, as its engine keeps it: the plan of its vector, the detector's state, the model's bytes. Detector and model are made over
// these for each visit: their objects would take as much memory as what they look at.
import { SERVICE_STATE_STORE_MS } from "../../../core/config/limits.ts";
import type { ServiceModelMessage } from "../../../core/protocol/engine-control.ts";
import { encodeServiceRow, serviceHash, servicePage } from "../../../core/protocol/service-rows.ts";
import { LEARNING } from "../coverage.ts";
import { carryAlert, changeModel, ServiceDetector, serviceDetectorFloats } from "../multivariate/service-detector.ts";
import { decodeServiceModel } from "../multivariate/service-model-coding.ts";
import type { ServicePlan } from "./service-plan.ts";
import type { ShadowModel } from "./shadow-model.ts";

/** State of knowledge of its model: not asked yet, none, or there. */
type Phase = "unknown" | "learning" | "judged";

export class MonitoredService {
  /** JSON of [tenant, service]. */
  readonly key: string;
  readonly environment: string;
  readonly partition: number;
  /** 32 hex digits. */
  readonly hash: string;
  phase: Phase = "unknown";
  /** Outcome of the last pass for it (domain/detection/coverage.ts). */
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
  /** z of the highest peak that was reported of the alert that is open. */
  peakZ = 0;
  /** Vectors of the model's training, and when. */
  rows = 0;
  trainedMs = 0;
  /** Metrics of a promoted model: the vector stays with them. */
  pinned: readonly string[] | undefined;
  /** Model that is scored beside the one in production. */
  shadow: ShadowModel | undefined;
  /** State of the detector of metrics that were given up: its alert goes on in the next one. */
  #formerFloats: Float64Array | undefined;
  #plan: ServicePlan;
  #floats: Float64Array<ArrayBuffer> | undefined;
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
    this.#formerFloats = this.#floats ?? this.#formerFloats;
    this.#floats = undefined;
    this.#model = undefined;
    this.phase = "unknown";
    this.askedCycle = Number.NEGATIVE_INFINITY;
  }

  /** A detector over state and model, for one visit; undefined where there is no model. */
  detector(): ServiceDetector | undefined {
    const model = this.#model && decodeServiceModel(this.#model);
    if (model === undefined || this.#floats === undefined) return undefined;
    const { shape } = this.#plan;
    return new ServiceDetector(shape.names.length, this.#floats, model, shape);
  }

  /**
   * Takes what the coordinator has of it. A model of other metrics is left out: it is asked for again. True where the vector is to be made of other metrics first:
   * those of a model that was promoted, or those that are chosen once it is none any more.
   */
  take(message: ServiceModelMessage): boolean {
    const wasPinned = this.pinned !== undefined;
    this.pinned = message.promoted?.names;
    if (message.columns !== this.#plan.shape.columns) return message.promoted !== null || wasPinned;
    this.askedCycle = Number.NEGATIVE_INFINITY;
    const floats = this.#floatsFor(message);
    if (message.model === null || floats === undefined) {
      if (this.phase === "unknown") this.phase = "learning";
      // A model without a state is of no use: both are made anew.
      this.dueMs = message.model === null ? message.dueMs : 0;
      return false;
    }
    if (this.#floats === undefined) this.sampleMs = message.sampleMs;
    if (this.#model !== undefined) changeModel(floats);
    this.#floats = floats;
    this.#model = message.model;
    this.phase = "judged";
    this.rows = message.rows;
    this.trainedMs = message.trainedMs;
    this.dueMs = message.dueMs;
    return false;
  }

  /**
   * The state that goes on with the model: of a promoted shadow its own, since its evidence has a history with this model; else that of the model before, where
   * usual vectors leave something over with both or with neither: residuals of one kind are no history for those of the other. What alert is open, and how high
   * its bar is, goes on whichever it is.
   */
  #floatsFor({ promoted, state, model }: ServiceModelMessage): Float64Array<ArrayBuffer> | undefined {
    const before = this.#floats ?? this.#formerFloats;
    const isOurs = promoted !== null && this.shadow?.modelId === promoted.modelId;
    const input = state?.length === serviceDetectorFloats(this.#plan.shape.names.length) ? state : undefined;
    const floats = isOurs ? this.shadow?.floats : this.#goesOnWith(model) ? (this.#floats ?? input) : (input ?? this.#floats);
    if (isOurs) this.shadow = undefined;
    if (floats === undefined || floats === before) return floats;
    if (before !== undefined) carryAlert(before, floats);
    this.#formerFloats = undefined;
    return floats;
  }

  /** Whether the evidence so far is a history for that of a model. */
  #goesOnWith(next: Uint8Array<ArrayBuffer> | null): boolean {
    const [before, after] = [this.#model && decodeServiceModel(this.#model), next === null ? undefined : decodeServiceModel(next)];
    return before === undefined || after === undefined || before.leavesRest === after.leavesRest;
  }

  /** Its row of the table of states; undefined without a state. */
  stateRow(): Uint8Array<ArrayBuffer> | undefined {
    const floats = this.#floats;
    if (floats === undefined) return undefined;
    const { names, columns } = this.#plan.shape;
    const bytes = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
    return encodeServiceRow({ count: names.length, timeMs: this.sampleMs, service: this.hash, columns, bytes });
  }

  /** Bytes of model, state and plan. */
  get bytes(): number {
    return (this.#model?.length ?? 0) + (this.#floats?.byteLength ?? 0) + this.#plan.slots.byteLength + (this.shadow?.bytes ?? 0);
  }
}
