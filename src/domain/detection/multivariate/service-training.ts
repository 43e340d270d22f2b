// One training: from a service's samples to its model, and to the state of a detector that has read them. Equal jobs give equal bytes.
import { SERVICE_VECTORS_MIN } from "../../../core/config/limits.ts";
import { seededRandom } from "./seeded-random.ts";
import { type RowSelection, type SelectedRows, selectRows } from "./selected-rows.ts";
import { ServiceDetector, serviceDetectorWords } from "./service-detector.ts";
import { encodeServiceModel } from "./service-model-coding.ts";
import { type RowRequest, rowsOfHistory, type ServiceHistory } from "./service-rows.ts";
import { type StreamHistory, wholeSamples } from "./stream-history.ts";
import { symmetricEigen } from "./symmetric-eigen.ts";
import { referenceOf, type VectorReference } from "./vector-reference.ts";

export interface TrainingJob extends ServiceHistory, RowRequest {
  readonly streams: readonly StreamHistory[];
  /** Seed by the service and its metrics; the number of vectors is added to it. */
  readonly seed: number;
  /** Selection of a training that was asked for; absent for all vectors. */
  readonly selection?: RowSelection;
}

/** Summary of how a training on request chose its vectors. */
export type SelectionSummary = Omit<SelectedRows, "rows">;

/** `model` and `state` are null where there were fewer than SERVICE_VECTORS_MIN vectors. */
export interface TrainingResult {
  readonly rows: number;
  readonly model: Uint8Array<ArrayBuffer> | null;
  readonly state: Float64Array<ArrayBuffer> | null;
  /** Summary of a training with a selection, and what its vectors were like. */
  readonly selected?: SelectionSummary;
  readonly reference?: VectorReference;
}

/** Trains a service's model; about 0.1 s for three days of minutes of 64 metrics. Throws where a stored chunk does not decode. */
export function trainService(job: TrainingJob): TrainingResult {
  const all = rowsOfHistory({ ...job, streams: job.streams.map(wholeSamples) }, job);
  const { rows, ...selected } = job.selection === undefined ? { rows: all } : selectRows(all, job.selection);
  const count = rows.times.length;
  const summary = "found" in selected ? { selected } : {};
  if (count < SERVICE_VECTORS_MIN) return { rows: count, model: null, state: null, ...summary };
  const state = new Float64Array(serviceDetectorWords(rows.width));
  const detector = new ServiceDetector(rows.width, state);
  detector.train(rows, seededRandom(job.seed + count), symmetricEigen);
  const trained = { rows: count, model: encodeServiceModel(detector.model), state };
  return "found" in selected ? { ...trained, ...summary, reference: referenceOf(rows) } : trained;
}
