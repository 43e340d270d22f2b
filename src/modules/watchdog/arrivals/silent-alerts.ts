// Alerts on metrics of a service that has fallen silent: nothing more is heard of what they are about, so they end, into the alert on the silence.
import type { Alert } from "../../../domain/alerting/paging/alert.ts";
import { INGESTION_SERVICE } from "../../../domain/detection/service/tenant-silence.ts";
import { EndedAnomalies } from "../../anomalies/ended-anomalies.ts";
import type { WatchdogStage } from "../../state/watchdog-stage.ts";
import type { StagesContext } from "../stages-context.ts";

/** What is found in values of metrics, which no longer come. */
const OF_METRICS: ReadonlySet<string> = new Set(["metric", "multivariate", "saturation", "logs"]);

/** The stage that ends them. Rejects with StoreError; they end with the next cycle then. */
export function silentAlertsStage(context: StagesContext): WatchdogStage {
  const { state, edit, monotonicMs } = context;
  return {
    name: "silent-alerts",
    every: 1,
    run: async () => {
      const startMs = monotonicMs();
      let evaluated = 0;
      for (const tenant of state.alerts.memory.tenantsFiring) {
        if (over(context, tenant).length > 0) evaluated += await edit(() => end(context, tenant));
      }
      return { counts: { evaluated, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
    },
  };
}

interface OverAlert {
  readonly alert: Alert;
  readonly silence: Alert;
}

/** Alerts that end, with the silence that each ends into. */
function over({ state }: StagesContext, tenant: string): OverAlert[] {
  const firing = [...state.alerts.memory.firing(tenant)];
  const silences = new Map(firing.filter(isSilence).map((alert) => [scopeKey(alert), alert]));
  if (silences.size === 0) return [];
  return firing.flatMap((alert) => {
    const silence = OF_METRICS.has(alert.state.key.family) ? silences.get(scopeKey(alert)) : undefined;
    return silence === undefined || alert.services.length > 0 ? [] : [{ alert, silence }];
  });
}

async function end(context: StagesContext, tenant: string): Promise<number> {
  const ended = new EndedAnomalies(context.ending, tenant, { reason: "ended", person: null });
  const found = over(context, tenant);
  for (const { alert, silence } of found)
    ended.endAlert(alert, `the service is silent, which alert ${silence.state.id} tells`, silence.state.id);
  if (!ended.isEmpty) {
    await context.state.control.commit(ended.operations());
    ended.apply();
  }
  return found.length;
}

function isSilence({ state: { key } }: Alert): boolean {
  return key.family === "stale" && key.serviceId !== INGESTION_SERVICE;
}

function scopeKey({ state: { key } }: Alert): string {
  return JSON.stringify([key.environment, key.serviceId]);
}
