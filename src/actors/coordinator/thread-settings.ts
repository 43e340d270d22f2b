// What the coordinator's thread needs of the configuration: plain values, as secrets do not cross threads.

import type { Config } from "../../core/config/load-config.ts";
import type { NotificationOptions } from "./notification/routes.ts";
import type { CoordinatorThreadData } from "./worker.ts";

/** Of the settings of notifiers what is no secret. */
type NotificationNames = NotificationOptions["routing"] & Omit<NotificationOptions, "routing">;

export function coordinatorSettings(
  config: Config,
  { destinations, defaultChannels, publicUrl, hints }: NotificationNames,
): CoordinatorThreadData["settings"] {
  return {
    threshold: config.WATCHDOG_Z_SCORE_THRESHOLD,
    paging: {
      rcaCooldownMinutes: config.WATCHDOG_RCA_COOLDOWN_MINUTES,
      dedupMaxAgeMinutes: config.ALERT_DEDUP_MAX_AGE_MINUTES,
      warmUpMinutes: config.WATCHDOG_WARMUP_MINUTES,
    },
    minSamples: config.WATCHDOG_MIN_SAMPLES,
    window: config.WATCHDOG_WINDOW,
    retentionDays: config.RETENTION_DAYS,
    retentionRawDays: config.RETENTION_RAW_DAYS,
    auditRetentionDays: config.AUDIT_RETENTION_DAYS,
    fieldExclusions: config.LOG_FIELD_EXCLUSIONS,
    diskLimitGib: config.DISK_LIMIT_GIB,
    backup: {
      directory: config.BACKUP_DIR,
      keep: config.BACKUP_KEEP,
      mibPerSecond: config.BACKUP_MIB_PER_SECOND,
      logGib: config.BACKUP_LOG_GIB,
    },
    storeCheckWaitGib: config.STORE_CHECK_WAIT_GIB,
    vectorizerIntervalSeconds: config.VECTORIZER_INTERVAL_SECONDS,
    watchdogIntervalSeconds: config.WATCHDOG_INTERVAL_SECONDS,
    saturationEnabled: config.SATURATION_DETECTOR_ENABLED === "true",
    degradationSlope: config.ML_DEGRADATION_SLOPE_THRESHOLD,
    timeZone: config.DETECTION_TIMEZONE,
    runbookFourEyes: config.RUNBOOK_FOUR_EYES === "true",
    wordsSummaries: config.LLM_BASE_URL !== "",
    allowsPrivate: config.WEBHOOK_ALLOW_PRIVATE === "true",
    drillIntervalHours: config.DRILL_INTERVAL_HOURS,
    notification: { routing: { destinations, defaultChannels }, publicUrl, hints },
  };
}
