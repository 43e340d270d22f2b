// What the pipeline to a page asks of this server.
import { INHIBITIONS } from "../../../domain/alerting/inhibition.ts";
import type { PagingSources } from "../../../domain/alerting/paging/paging-sources.ts";
import type { CommittedState } from "../committed-state.ts";

export interface LiveSourcesOptions {
  readonly startedAtMs: number;
  /** WATCHDOG_WARMUP_MINUTES; as it is by default where it is undefined. */
  readonly warmUpMinutes: number | undefined;
}

/** Traffic and ages of services are unknown so far: nothing is held back by them. */
export function liveSources({ alerts, configured }: CommittedState, { startedAtMs, warmUpMinutes = 8 }: LiveSourcesOptions): PagingSources {
  return {
    silences: configured.silences,
    inhibitions: INHIBITIONS,
    confirmations: alerts.confirmations,
    startedAtMs,
    warmUpMinutes,
    settingsOf: (tenant, serviceId, metricName) => configured.watchdog.settingsOf(tenant, serviceId, metricName),
    firstSeenMs: () => undefined,
    feedbackFactor: (tenant, serviceId, family, nowMs) => alerts.feedback.factor(tenant, serviceId, family, nowMs),
    requestsInCycle: () => undefined,
  };
}
