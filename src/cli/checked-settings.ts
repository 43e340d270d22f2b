// Settings whose form only the part that they are for can judge: read before anything is opened, so that a bad one stops the start with its name.
import { ConfigError } from "../core/config/config-error.ts";
import { type PlanRates, parsePlanRates } from "../domain/access/plans.ts";
import { FieldExclusions } from "../domain/series/field-exclusions.ts";

/** Throws ConfigError where LOG_FIELD_EXCLUSIONS cannot be used. */
export function checkExclusions(list: string): void {
  try {
    new FieldExclusions(list);
  } catch (error) {
    throw error instanceof RangeError
      ? new ConfigError(`LOG_FIELD_EXCLUSIONS: ${error.message}; give names with dots between them`)
      : error;
  }
}

/** Rates of PLAN_LIMITS; throws ConfigError where it cannot be used. */
export function readPlanRates(list: string): PlanRates {
  try {
    return parsePlanRates(list);
  } catch (error) {
    throw error instanceof RangeError ? new ConfigError(`PLAN_LIMITS: ${error.message}`) : error;
  }
}
