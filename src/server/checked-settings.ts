// Settings whose form only the part that they are for can judge: read before anything is opened, so that a bad one stops the start with its name.
import { readTlsIdentity, type TlsFiles } from "../adapters/http/tls/tls-identity.ts";
import { systemClock } from "../adapters/platform/clock.ts";
import { ConfigError } from "../core/config/config-error.ts";
import type { Config } from "../core/config/load-config.ts";
import { type PlanRates, parsePlanRates } from "../domain/access/plans.ts";
import { isTimeZone } from "../domain/calendar/time-zone.ts";
import { FieldExclusions } from "../domain/series/field-exclusions.ts";
import { type NotificationConfig, readNotification } from "./notification-settings.ts";

/** Throws ConfigError at the first setting that cannot be used. */
export function checkSettings(
  config: Pick<Config, "LOG_FIELD_EXCLUSIONS" | "PLAN_LIMITS" | "DETECTION_TIMEZONE"> & NotificationConfig & TlsFiles,
): void {
  checkExclusions(config.LOG_FIELD_EXCLUSIONS);
  readPlanRates(config.PLAN_LIMITS);
  checkTimeZone(config.DETECTION_TIMEZONE);
  readNotification(config);
  readTlsIdentity(config, systemClock.wallMs());
}

/** Throws ConfigError where LOG_FIELD_EXCLUSIONS cannot be used. */
function checkExclusions(list: string): void {
  try {
    new FieldExclusions(list);
  } catch (error) {
    throw error instanceof RangeError
      ? new ConfigError(`LOG_FIELD_EXCLUSIONS: ${error.message}; give names with dots between them`)
      : error;
  }
}

/** Throws ConfigError where DETECTION_TIMEZONE names no time zone. */
function checkTimeZone(name: string): void {
  if (isTimeZone(name)) return;
  throw new ConfigError(`DETECTION_TIMEZONE: time zone "${name.slice(0, 80)}" is unknown; give an IANA name such as Europe/Berlin`);
}

/** Rates of PLAN_LIMITS; throws ConfigError where it cannot be used. */
export function readPlanRates(list: string): PlanRates {
  try {
    return parsePlanRates(list);
  } catch (error) {
    throw error instanceof RangeError ? new ConfigError(`PLAN_LIMITS: ${error.message}`) : error;
  }
}
