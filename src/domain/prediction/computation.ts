// What is computed about the future and about causes in a thread of its own: one request, one result. All of it is a function of what is in the request.
import { type CausalLink, discoverLinks } from "../causality/causal-discovery.ts";
import { type PairValidation, validatePair } from "../causality/pair-validation.ts";
import { type Forecast, type ForecastOptions, forecastSeries } from "../forecast/forecast.ts";
import type { ForecastTask } from "../forecast/forecast-method.ts";
import { type ComparisonRequest, compareModels, type ModelComparison } from "../models/model-comparison.ts";
import { type DriftRequest, type ModelDrift, modelDrift } from "../models/model-drift.ts";
import { type OutlookRequest, type PredictedAnomaly, predictAnomalies } from "./anomaly-outlook.ts";

export type Computation =
  | { readonly kind: "forecast"; readonly task: ForecastTask; readonly options: ForecastOptions }
  | { readonly kind: "causes"; readonly series: readonly Float64Array[]; readonly stepMs: number; readonly lagMax: number }
  | { readonly kind: "pair"; readonly cause: Float64Array; readonly effect: Float64Array; readonly stepMs: number; readonly lagMax: number }
  | { readonly kind: "outlook"; readonly request: OutlookRequest }
  | { readonly kind: "drift"; readonly request: DriftRequest }
  | { readonly kind: "comparison"; readonly request: ComparisonRequest };

/** Null where the series are too short or constant. */
export type ComputationResult =
  | { readonly kind: "forecast"; readonly forecast: Forecast | null }
  | { readonly kind: "causes"; readonly links: readonly CausalLink[] }
  | { readonly kind: "pair"; readonly validation: PairValidation | null }
  | { readonly kind: "outlook"; readonly predictions: readonly PredictedAnomaly[] }
  | { readonly kind: "drift"; readonly drift: ModelDrift }
  | { readonly kind: "comparison"; readonly comparison: ModelComparison };

export type ResultOf<K extends Computation["kind"]> = Extract<ComputationResult, { kind: K }>;

export function computed(computation: Computation): ComputationResult {
  switch (computation.kind) {
    case "forecast":
      return { kind: "forecast", forecast: forecastSeries(computation.task, computation.options) ?? null };
    case "causes":
      return { kind: "causes", links: discoverLinks(computation.series, computation) };
    case "pair":
      return { kind: "pair", validation: validatePair(computation.cause, computation.effect, computation) ?? null };
    case "outlook":
      return { kind: "outlook", predictions: predictAnomalies(computation.request) };
    case "drift":
      return { kind: "drift", drift: modelDrift(computation.request) };
    case "comparison":
      return { kind: "comparison", comparison: compareModels(computation.request) };
  }
}
