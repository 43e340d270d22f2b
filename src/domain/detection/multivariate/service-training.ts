// One training: from a service's samples, and the vectors that earlier trainings have kept, to its model, and to the state of a detector that has read them. Equal
// jobs give equal bytes.
import { SERVICE_VECTORS_MIN } from "../../../core/config/limits.ts";
import { isNoWorse } from "./calm-check.ts";
import { seededRandom } from "./isolation-forest.ts";
import { type RowSelection, type SelectedRows, selectRows } from "./selected-rows.ts";
import { ServiceDetector, serviceDetectorFloats } from "./service-detector.ts";
import type { ServiceModel, TimedRows } from "./service-model.ts";
import { decodeServiceModel, encodeServiceModel } from "./service-model-coding.ts";
import { type RowRequest, rowsOfHistory, type ServiceHistory } from "./service-rows.ts";
import { type Stretch, strangeRows } from "./strange-stretches.ts";
import { type StreamHistory, wholeSamples } from "./stream-history.ts";
import { symmetricEigen } from "./symmetric-eigen.ts";
import { type ChosenRows, chooseRows } from "./training-rows.ts";
import { decodeTrainingRows, encodeTrainingRows } from "./training-rows-coding.ts";
import { referenceOf, type VectorReference } from "./vector-reference.ts";

/** What is known of a service besides its samples when a model is trained anew. */
export interface TrainingPast {
  /** Vectors that the training before has chosen (training-rows-coding.ts). */
  readonly rows?: Uint8Array | undefined;
  /** The model in production. */
  readonly model?: Uint8Array<ArrayBuffer> | undefined;
  /** Times of its anomalies, of which nothing is learned. */
  readonly excluded: readonly Stretch[];
}

export interface TrainingJob extends ServiceHistory, RowRequest {
  readonly streams: readonly StreamHistory[];
  /** Seed by the service and its metrics; the number of vectors is added to it. */
  readonly seed: number;
  /** Selection of a training that was asked for; absent where vectors are chosen by the rules of the automatic ones. */
  readonly selection?: RowSelection;
  readonly past?: TrainingPast;
}

/** Summary of how a training on request chose its vectors. */
export type SelectionSummary = Omit<SelectedRows, "rows">;

/** `model` and `state` are null where there were fewer than SERVICE_VECTORS_MIN vectors, and where the model before stays. */
export interface TrainingResult {
  readonly rows: number;
  readonly model: Uint8Array<ArrayBuffer> | null;
  readonly state: Float64Array<ArrayBuffer> | null;
  /** The vectors of an automatic training, for the next one. */
  readonly retained?: Uint8Array<ArrayBuffer>;
  /** The new model was worse on calm vectors than the one before. */
  readonly isRefused?: boolean;
  /** Summary of a training with a selection, and what its vectors were like. */
  readonly selected?: SelectionSummary;
  readonly reference?: VectorReference;
}

/** Trains a service's model; about 0.1 s for three days of minutes of 64 metrics. Throws where a stored chunk does not decode. */
export function trainService(job: TrainingJob): TrainingResult {
  const all = rowsOfHistory({ ...job, streams: job.streams.map(wholeSamples) }, job);
  return job.selection === undefined ? trainAnew(job, all) : trainSelected(job, job.selection, all);
}

function trainSelected(job: TrainingJob, selection: RowSelection, all: TimedRows): TrainingResult {
  const { rows, ...selected } = selectRows(all, selection);
  const { times } = rows;
  if (times.length < SERVICE_VECTORS_MIN) return { rows: times.length, model: null, state: null, selected };
  const { model, state } = trained(job, rows);
  return { rows: times.length, model: encodeServiceModel(model), state, selected, reference: referenceOf(rows) };
}

function trainAnew(job: TrainingJob, all: TimedRows): TrainingResult {
  const { rows, aside } = chosenRows(job, all);
  const count = rows.times.length;
  if (count < SERVICE_VECTORS_MIN) return { rows: count, model: null, state: null };
  const retained = encodeTrainingRows(rows);
  const { model, state } = trained(job, rows);
  const before = job.past?.model && decodeServiceModel(job.past.model);
  if (before !== undefined && !isNoWorse(model, before, aside)) return { rows: count, model: null, state: null, retained, isRefused: true };
  return { rows: count, model: encodeServiceModel(model), state, retained };
}

/** What is strange is left out where enough is left without it. */
function chosenRows({ past, rowsMax }: TrainingJob, newest: TimedRows): ChosenRows {
  const retained = past?.rows && decodeTrainingRows(past.rows, newest.width);
  const left =
    newest.times.length < SERVICE_VECTORS_MIN
      ? new Uint8Array(newest.times.length)
      : strangeRows(newest, past?.excluded ?? [], symmetricEigen);
  const calm = chooseRows({ retained, newest, left, rowsMax });
  return calm.rows.times.length < SERVICE_VECTORS_MIN ? chooseRows({ retained, newest, left: left.fill(0), rowsMax }) : calm;
}

function trained({ seed }: TrainingJob, rows: TimedRows): { readonly model: ServiceModel; readonly state: Float64Array<ArrayBuffer> } {
  const state = new Float64Array(serviceDetectorFloats(rows.width));
  const detector = new ServiceDetector(rows.width, state);
  detector.train(rows, seededRandom(seed + rows.times.length), symmetricEigen);
  return { model: detector.model, state };
}
