// Whether what comes in today is still what a service's model was trained on: each metric's distribution without its daily course, PSI with evidence
// (domain/drift/distribution-drift.ts), the metrics corrected for their number.
import type { TimedRows } from "../detection/multivariate/service-model.ts";
import { rowsOfHistory } from "../detection/multivariate/service-rows.ts";
import { wholeSamples } from "../detection/multivariate/stream-history.ts";
import { readTrainingInput, type TrainingInput } from "../detection/multivariate/training-input.ts";
import { countsAgainst, referenceOf, type VectorReference } from "../detection/multivariate/vector-reference.ts";
import { findDrift } from "../drift/distribution-drift.ts";

export interface DriftRequest {
  readonly input: TrainingInput;
  /** Reference of what the training saw; null: the vectors of the input up to `trainedMs`. */
  readonly reference: VectorReference | null;
  readonly trainedMs: number;
  /** Vectors of today: those since the training, the newest so many; and at least so many, where that takes some that the training has seen. */
  readonly rowsMax: number;
  readonly rowsMin: number;
}

export interface ColumnDrift {
  readonly column: number;
  readonly psi: number;
  readonly klDivergence: number;
  /** PSI beyond what chance alone gives. */
  readonly effect: number;
  readonly p: number;
  readonly isDrift: boolean;
}

export interface ModelDrift {
  /** Vectors that were looked at. */
  readonly rows: number;
  /** Drift of each metric, those that moved most first; empty where there are no vectors to hold against each other. */
  readonly columns: readonly ColumnDrift[];
}

/** Throws where a stored chunk does not decode. */
export function modelDrift({ input, reference, trainedMs, rowsMax, rowsMin }: DriftRequest): ModelDrift {
  const job = readTrainingInput(input);
  const all = rowsOfHistory({ ...job, streams: job.streams.map(wholeSamples) }, job);
  const trainedAt = all.times.findIndex((timeMs) => timeMs > trainedMs);
  const split = trainedAt < 0 ? all.times.length : trainedAt;
  const count = all.times.length;
  const current = part(all, Math.max(0, Math.min(Math.max(split, count - rowsMax), count - rowsMin)), count);
  const known = reference ?? (split > 0 ? referenceOf(part(all, 0, split)) : { columns: [] });
  if (current.times.length === 0 || known.columns.length !== all.width) return { rows: current.times.length, columns: [] };
  return { rows: current.times.length, columns: columnDrifts(known, current) };
}

/** Drift of vectors with as many columns as the reference has; those that moved most first. */
export function columnDrifts(reference: VectorReference, current: TimedRows): ColumnDrift[] {
  const columns = reference.columns.map((of, column) => {
    const { psi, klDivergence, effect, p, isDrift } = findDrift(of.counts, countsAgainst(current, column, of), current.width);
    return { column, psi, klDivergence, effect, p, isDrift };
  });
  return columns.sort((a, b) => b.effect - a.effect);
}

function part({ times, values, width }: TimedRows, from: number, to: number): TimedRows {
  return { times: times.slice(from, to), values: values.slice(from * width, to * width), width };
}
