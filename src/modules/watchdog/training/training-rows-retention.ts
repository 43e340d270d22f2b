// Retention of vectors that trainings have kept: those of a service that is not trained any more go with all else of it, after RETENTION_DAYS.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import { SERVICE_MODEL_AGE_MS_MAX } from "../../../core/config/limits.ts";
import type { RetentionStep, RetentionTerms } from "../../state/retention-step.ts";
import { rowsRemoval, type TrainingRowsBook } from "./training-rows-book.ts";

/** A service that is watched is trained anew within half of this. */
const TRAINED_WITHIN_MS = 2 * SERVICE_MODEL_AGE_MS_MAX;

export interface RowsExpiry {
  readonly state: { readonly series: KeyValueStore; readonly trainingRows: TrainingRowsBook };
}

export function* expireTrainingRows(
  { state: { series: store, trainingRows } }: RowsExpiry,
  { keptFromMs, wallNowMs }: Pick<RetentionTerms, "keptFromMs" | "wallNowMs">,
): Generator<RetentionStep> {
  const beforeMs = Math.min(keptFromMs, wallNowMs - TRAINED_WITHIN_MS);
  for (;;) {
    const kept = trainingRows.expired(beforeMs);
    if (kept === undefined) return;
    yield { store, operations: rowsRemoval(kept), apply: () => trainingRows.remove(kept) };
  }
}
