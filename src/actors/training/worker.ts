// A thread of the pool that trains models of services: the pool calls the function of this name with an input.
import { type TrainingResult, trainService } from "../../domain/detection/multivariate/service-training.ts";
import { readTrainingInput, type TrainingInput } from "../../domain/detection/multivariate/training-input.ts";

export function train(input: TrainingInput): TrainingResult {
  return trainService(readTrainingInput(input));
}
