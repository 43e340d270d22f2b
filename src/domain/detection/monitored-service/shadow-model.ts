// A model that is scored beside the one in production: the same vectors of the same service, a detector of its own, and nothing that anybody is informed of but
// two numbers. Its detector is made over its state for each visit, as the service's own is.
import type { ShadowModelMessage } from "../../../core/protocol/engine-control.ts";
import { ServiceDetector } from "../multivariate/service-detector.ts";
import { decodeServiceModel } from "../multivariate/service-model-coding.ts";
import { isVectorFull } from "../multivariate/service-vector.ts";
import type { ServicePlan } from "./service-plan.ts";
import type { ServiceVectorReader } from "./service-vector-reader.ts";

export class ShadowModel {
  readonly modelId: string;
  readonly names: readonly string[];
  readonly #columns: string;
  readonly #model: Uint8Array<ArrayBuffer>;
  readonly floats: Float64Array<ArrayBuffer>;
  #plan: ServicePlan | undefined;
  #sampleMs = 0;
  /** Since the last time that they were taken. */
  #scored = 0;
  #alerts = 0;

  constructor({ modelId, names, columns, model, state }: ShadowModelMessage & { readonly model: Uint8Array<ArrayBuffer> }) {
    this.modelId = modelId;
    this.names = names;
    this.#columns = columns;
    this.#model = model;
    this.floats = state;
  }

  /** Plan by which its vectors are made; undefined while its metrics are not there. */
  get plan(): ServicePlan | undefined {
    return this.#plan;
  }

  /** False for a plan of other metrics. */
  setPlan(plan: ServicePlan): boolean {
    this.#plan = plan.shape.columns === this.#columns ? plan : undefined;
    return this.#plan !== undefined;
  }

  /** Scores the newest vector, where there is one that it has not seen. */
  score(reader: ServiceVectorReader, nowMs: number): void {
    const plan = this.#plan;
    if (plan === undefined) return;
    reader.read(plan, nowMs);
    if (reader.newestMs <= this.#sampleMs || !isVectorFull(reader.present, this.names.length)) return;
    const model = decodeServiceModel(this.#model);
    if (model === undefined) return;
    const detector = new ServiceDetector(this.names.length, this.floats, model, plan.shape);
    if (nowMs <= detector.newestMs) return;
    this.#sampleMs = reader.newestMs;
    model.parts.levels.fillGaps(reader.values);
    this.#scored++;
    if (detector.observe(nowMs, reader.values).firing.opened) this.#alerts++;
  }

  /** Vectors scored, and alerts that it would have opened, since the last call; undefined where there was no vector. */
  takeCounts(): { readonly modelId: string; readonly scored: number; readonly alerts: number } | undefined {
    if (this.#scored === 0) return undefined;
    const counts = { modelId: this.modelId, scored: this.#scored, alerts: this.#alerts };
    this.#scored = 0;
    this.#alerts = 0;
    return counts;
  }

  get bytes(): number {
    return this.#model.length + this.floats.byteLength + (this.#plan?.slots.byteLength ?? 0);
  }
}
