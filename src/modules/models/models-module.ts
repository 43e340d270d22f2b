// What the coordinator folds of models and their trainings.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import { drift } from "./drift-handler.ts";
import { TrainingJobBook } from "./job-book.ts";
import { cancelTraining, listTrainings, oneTraining, trainModel } from "./job-handlers.ts";
import { ModelBook } from "./model-book.ts";
import { listModels, promoteModel, rollBackModel } from "./model-handlers.ts";
import { expireModels, type ModelExpiry } from "./model-retention.ts";
import type { ModelBooks } from "./models-context.ts";

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
    trainings: new TrainingJobBook(share("training_jobs")),
    models: new ModelBook(share("requested_models"), share("shadow_models")),
  }),
  gauges: ({ configured }: { readonly configured: Pick<ModelBooks, "models"> }) => ({
    requestedModels: configured.models.shares.taken,
    shadowModels: configured.models.shadowShares.taken,
  }),
  expire: (sources: ModelExpiry, terms: RetentionTerms) => expireModels(sources, terms.keptFromMs, terms.rowsPerStep),
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
