// What the pipeline to a page asks of this server.
import { NO_INHIBITIONS, NO_SILENCES, type PagingSources } from "../../../domain/alerting/paging/paging-sources.ts";
import type { WatchdogSettings } from "../../../domain/detection/watchdog-settings.ts";
import type { AlertBook } from "./alert-book.ts";

export interface LiveSourcesOptions {
  readonly zThreshold: number;
  /** WATCHDOG_RCA_COOLDOWN_MINUTES, ALERT_DEDUP_MAX_AGE_MINUTES and WATCHDOG_WARMUP_MINUTES; as they are by default where they are not given. */
  readonly rcaCooldownMinutes?: number;
  readonly dedupMaxAgeMinutes?: number;
  readonly warmUpMinutes?: number;
}

/** Silences, inhibitions, traffic and ages of services are unknown so far: nothing is held back by them. */
export function liveSources(options: LiveSourcesOptions, alerts: AlertBook, startedAtMs: number): PagingSources {
  const settings: WatchdogSettings = {
    zThreshold: options.zThreshold,
    rcaCooldownMinutes: options.rcaCooldownMinutes ?? 15,
    dedupMaxAgeMinutes: options.dedupMaxAgeMinutes ?? 60,
    direction: "both",
    excluded: false,
    evaluationDelaySeconds: 0,
    minimumTraffic: 0,
  };
  return {
    silences: NO_SILENCES,
    inhibitions: NO_INHIBITIONS,
    startedAtMs,
    warmUpMinutes: options.warmUpMinutes ?? 8,
    settingsOf: () => settings,
    firstSeenMs: () => undefined,
    feedbackFactor: (tenant, serviceId, family, nowMs) => alerts.feedback.factor(tenant, serviceId, family, nowMs),
    requestsInCycle: () => undefined,
  };
}
