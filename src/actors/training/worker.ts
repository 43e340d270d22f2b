// A thread of the pools that train models of services and that compute forecasts and causes, each pool with a thread of its own: a pool calls the function of a
// name with an input.
import { type TrainingResult, trainService } from "../../domain/detection/multivariate/service-training.ts";
import { readTrainingInput, type TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import { type Computation, type ComputationResult, computed } from "../../domain/prediction/computation.ts";

export function compute(computation: Computation): ComputationResult {
  return computed(computation);
}

export function train(input: TrainingInput): TrainingResult {
  return trainService(readTrainingInput(input));
}
