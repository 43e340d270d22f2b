// What the pipeline to a page asks of this server.
import { WATCHDOG_WARMUP_MINUTES_DEFAULT } from "../../core/config/limits.ts";
import { INHIBITIONS } from "../../domain/alerting/inhibition/built-in-inhibitions.ts";
import type { PagingSources } from "../../domain/alerting/paging/paging-sources.ts";
import type { ServiceFacts } from "../../domain/alerting/paging/service-facts.ts";
import type { SettingsSource } from "../series/series-context.ts";
import type { PatternHolders } from "../silences/pattern-capacity.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { AlertBooks } from "./alerts-context.ts";

type PagingState = StateWith<AlertBooks & { readonly services: ServiceFacts }, Pick<PatternHolders, "silences"> & SettingsSource>;

export interface LiveSourcesOptions {
  readonly startedAtMs: number;
  /** WATCHDOG_WARMUP_MINUTES; as it is by default where it is undefined. */
  readonly warmUpMinutes: number | undefined;
  /** WATCHDOG_CONFIRMATION; on where it is undefined. */
  readonly confirmation: boolean | undefined;
  /** GROUP_WAIT_SECONDS and REPEAT_MINUTES in ms; 0 where they are undefined. */
  readonly groupWaitMs: number | undefined;
  readonly repeatMs: number | undefined;
}

/** Sources of paging decisions from live state. Of services that no cycle has seen yet nothing is known: they count as mature, and nothing is held back for want of traffic. */
export function liveSources(
  { alerts, configured, services }: PagingState,
  { startedAtMs, warmUpMinutes = WATCHDOG_WARMUP_MINUTES_DEFAULT, confirmation, groupWaitMs = 0, repeatMs = 0 }: LiveSourcesOptions,
): PagingSources {
  return {
    silences: configured.silences,
    inhibitions: INHIBITIONS,
    confirmations: alerts.confirmations,
    ...(confirmation !== undefined && { confirmation }),
    startedAtMs,
    warmUpMinutes,
    groupWaitMs,
    repeatMs,
    settingsOf: (tenant, serviceId, metricName) => configured.watchdog.settingsOf(tenant, serviceId, metricName),
    firstSeenMs: (tenant, serviceId) => services.firstSeenMs(tenant, serviceId),
    feedbackFactor: (tenant, serviceId, family, nowMs) => alerts.feedback.factor(tenant, serviceId, family, nowMs),
    requestsInCycle: (tenant, environment, serviceId) => services.requestsInCycle(tenant, environment, serviceId),
  };
}
