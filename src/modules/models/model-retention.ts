// Retention of what people had trained and asked for: jobs that have ended, models that are neither in production nor what a rollback goes back to, and
// forecasts, each by RETENTION_DAYS.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { type ForecastBook, forecastRemoval } from "../prediction/forecast-book.ts";
import type { RetentionStep } from "../state/retention-step.ts";
import { isEnded, jobOperation, type TrainingJobBook } from "./job-book.ts";
import type { ModelBook } from "./model-book.ts";
import { type ModelRow, removeModelOperations } from "./model-row.ts";

export interface ModelExpiry {
  readonly state: {
    readonly control: KeyValueStore;
    readonly forecasts: ForecastBook;
    readonly configured: { readonly models: ModelBook; readonly trainings: TrainingJobBook };
  };
}

export function* expireModels({ state }: ModelExpiry, beforeMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { control: store, forecasts } = state;
  const { models, trainings } = state.configured;
  for (const tenant of [...trainings.tenants]) {
    const jobs = trainings.listOf(tenant).filter((job) => isEnded(job) && job.createdMs < beforeMs);
    for (let at = 0; at < jobs.length; at += rowsPerStep) {
      const some = jobs.slice(at, at + rowsPerStep);
      const operations = some.map((job) => jobOperation(job, undefined));
      yield { store, operations, apply: () => some.forEach((job) => void trainings.remove(job)) };
    }
  }
  for (const tenant of [...models.tenants]) {
    for (const model of expiredModels(models, tenant, beforeMs)) {
      yield { store, operations: removeModelOperations(model), apply: () => models.remove(model) };
    }
  }
  for (const tenant of [...forecasts.tenants]) {
    for (;;) {
      const some = forecasts.expired(tenant, beforeMs, rowsPerStep);
      if (some.length === 0) break;
      yield { store, operations: some.map(forecastRemoval), apply: () => some.forEach((one) => void forecasts.remove(one)) };
    }
  }
}

/** Shadows and retired ones; those in production, and before them, stay. */
function expiredModels(models: ModelBook, tenant: string, beforeMs: number): ModelRow[] {
  const all = models.listOf(tenant);
  const kept = new Set(all.flatMap(({ state, id, previousId }) => (state === "production" ? [id, previousId] : [])));
  return all.filter(({ id, trainedMs, promotedMs }) => !kept.has(id) && Math.max(trainedMs, promotedMs ?? 0) < beforeMs);
}
