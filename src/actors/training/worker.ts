// A thread of the pool that trains models of services: the pool calls the function of this name with a job.
import { type TrainingJob, type TrainingResult, trainService } from "../../domain/detection/multivariate/service-training.ts";

export function train(job: TrainingJob): TrainingResult {
  return trainService(job);
}
