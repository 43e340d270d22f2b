// What a file is judged with: the environment's settings, and what a file can tell besides its samples.
import type { Config } from "../core/config/load-config.ts";
import { DAY_MS } from "../core/time/durations.ts";
import { type BacktestFacts, NO_FACTS } from "../domain/backtest/history.ts";
import { trainService } from "../domain/detection/multivariate/service-training.ts";
import type { DeclarationRule } from "../domain/detection/thresholds.ts";
import { environmentSettings, type WatchdogSettings } from "../domain/detection/watchdog-settings.ts";

export interface FileEnvironment extends DeclarationRule {
  readonly settings: WatchdogSettings;
  /** WATCHDOG_WINDOW. */
  readonly window: number;
  /** WATCHDOG_INTERVAL_SECONDS in ms, and DETECTION_TIMEZONE. */
  readonly intervalMs: number;
  readonly timeZone: string;
  /** RETENTION_RAW_DAYS in ms: what a training can look back on. */
  readonly historyMs: number;
}

/** A file tells of samples, and of nothing else. */
export const FILE_FACTS: BacktestFacts = {
  ...NO_FACTS,
  train: async (job) => trainService(job),
  leftOut: { cascade: "a file tells no calls between services" },
};

export function fileEnvironment(config: Config): FileEnvironment {
  const settings = environmentSettings({
    zThreshold: config.WATCHDOG_Z_SCORE_THRESHOLD,
    rcaCooldownMinutes: config.WATCHDOG_RCA_COOLDOWN_MINUTES,
    dedupMaxAgeMinutes: config.ALERT_DEDUP_MAX_AGE_MINUTES,
  });
  return {
    settings,
    window: config.WATCHDOG_WINDOW,
    samplesMin: config.WATCHDOG_MIN_SAMPLES,
    confirmation: config.WATCHDOG_CONFIRMATION === "on",
    intervalMs: 1000 * config.WATCHDOG_INTERVAL_SECONDS,
    timeZone: config.DETECTION_TIMEZONE,
    historyMs: config.RETENTION_RAW_DAYS * DAY_MS,
  };
}
