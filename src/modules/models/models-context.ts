// What the handlers of models and their trainings use, and what these books are.
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnalysisBooks } from "../analysis/analysis-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { PredictionContext } from "../prediction/prediction-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { ServicesContext } from "../services/services-context.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { JobBook } from "../state/jobs.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { ModelBook } from "./model-book.ts";
import type { ModelMessages } from "./model-messages.ts";
import type { ServiceInputs } from "./service-inputs.ts";
import type { TrainingJobRow } from "./training-job.ts";

export interface ModelBooks {
  readonly models: ModelBook;
  readonly trainings: JobBook<TrainingJobRow>;
}

/** Books of what people have said of anomalies. */
export type LabelledBooks = AlertBooks & AnomalyBooks & AnalysisBooks;
export type ModelsState = StateWith<LabelledBooks, ModelBooks>;

export type ModelsContext = PredictionContext &
  ServicesContext &
  Using<"randomBytes", LabelledBooks, ModelBooks> &
  Changing & {
    readonly counters: Pick<CoordinatorCounters, "add">;
    /** Samples of services' vectors, and what engines are told of requested models. */
    readonly inputs: Pick<ServiceInputs, "of">;
    readonly messages: ModelMessages;
    readonly options: {
      /** RETENTION_RAW_DAYS in ms. */
      readonly rawRetentionMs: number;
    };
  };
