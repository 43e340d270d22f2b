// What the coordinator folds of models and their trainings.
// Retention of what people had trained and asked for: jobs that have ended, models that are neither in production nor what a rollback goes back to, and
// forecasts, each by RETENTION_DAYS.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { type ForecastBook, forecastRemoval } from "../prediction/forecast-book.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import { drift } from "./drift-handler.ts";
import { cancelTraining, listTrainings, oneTraining, trainModel } from "./job-handlers.ts";
import { ModelBook } from "./model-book.ts";
import { listModels, promoteModel, rollBackModel } from "./model-handlers.ts";
import type { ModelRow } from "./model-row.ts";
import type { ModelBooks } from "./models-context.ts";
import { trainingBook } from "./training-job.ts";

export const MODELS = {
  tables: {
    control: {
      training_jobs: { key: "tenant, created time, id", value: "TrainingJobRow: a training that was asked for" },
      models: { key: "tenant, model id", value: "ModelRow: a model that was trained on request" },
      model_parts: {
        key: "tenant, model id, u16 part",
        value: "its bytes, the state of its detector, what its training saw (model-row.ts)",
      },
    },
  },
  configured: ({ share }: BookSources) => ({
    trainings: trainingBook(share("training_jobs")),
    models: new ModelBook(share("requested_models"), share("shadow_models")),
  }),
  gauges: ({ configured }: { readonly configured: Pick<ModelBooks, "models"> }) => ({
    requestedModels: configured.models.shares.taken,
    shadowModels: configured.models.shadowShares.taken,
  }),
  expire: (sources: ModelExpiry, terms: RetentionTerms) => expireModels(sources, terms.retainedFromMs, terms.rowsPerStep),
  handlers: {
    trainModel,
    trainings: listTrainings,
    training: oneTraining,
    cancelTraining,
    models: listModels,
    promoteModel,
    rollBackModel,
    drift,
  },
} as const satisfies NounModule;

interface ModelExpiry {
  readonly state: {
    readonly control: KeyValueStore;
    readonly forecasts: ForecastBook;
    readonly configured: ModelBooks;
  };
}

function* expireModels({ state }: ModelExpiry, beforeMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { control: store, forecasts } = state;
  const { models, trainings } = state.configured;
  for (const tenant of [...trainings.tenants]) {
    const jobs = trainings.of(tenant).filter((job) => job.finishedMs !== null && job.createdMs < beforeMs);
    for (let at = 0; at < jobs.length; at += rowsPerStep) {
      const some = jobs.slice(at, at + rowsPerStep);
      const operations = some.map((job) => trainings.removal(job));
      yield { store, operations, apply: () => some.forEach((job) => void trainings.remove(job)) };
    }
  }
  for (const tenant of [...models.tenants]) {
    for (const model of expiredModels(models, tenant, beforeMs)) {
      yield { store, operations: models.removals(model), apply: () => models.remove(tenant, model.id) };
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
  const all = models.of(tenant);
  const retained = new Set(all.flatMap(({ state, id, previousId }) => (state === "production" ? [id, previousId] : [])));
  return all.filter(({ id, trainedMs, promotedMs }) => !retained.has(id) && Math.max(trainedMs, promotedMs ?? 0) < beforeMs);
}
