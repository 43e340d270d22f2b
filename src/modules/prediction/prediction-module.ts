// What the coordinator folds of forecasts, causes and slow trends.
import type { NounModule } from "../state/noun-module.ts";
import { causalRelationships, validateCausality } from "./causal-handlers.ts";
import { degradation } from "./degradation-handler.ts";
import { forecast } from "./forecast-handler.ts";
import { predict } from "./predict-handler.ts";

export const PREDICTION = {
  tables: {
    control: { forecasts: { key: "tenant, time made, id", value: "GivenForecast: what a forecast said, until it is scored" } },
  },
  handlers: {
    predict,
    degradation,
    forecast,
    causal: causalRelationships,
    validateCausality,
  },
} as const satisfies NounModule;
