// What was ended while it went on, asked again: of a resolve by hand once the dedup age of its service has passed, of a service that fell silent once it sends again.
// Only where the service still sends: without data nobody knows whether it is still so.
import { MINUTE_MS } from "../../core/time/durations.ts";
import { STALE_METRIC } from "../../domain/detection/service/stale-finding.ts";
import type { AnomalyKey } from "../anomalies/anomaly-book.ts";
import type { QuietAnomaly } from "../anomalies/quiet-anomalies.ts";
import type { WatchdogStage } from "../state/watchdog-stage.ts";
import type { StagesContext } from "./stages-context.ts";
import { inSteps } from "./suppressed-findings.ts";

/** So long a service has sent again before what it was silent about is asked: a detector recovers in five samples. */
const BACK_MS = 5 * MINUTE_MS;
/** A service whose newest sample is older does not send. */
const ALIVE_MS = 10 * MINUTE_MS;

/** The stage that asks. Rejects with StoreError. */
export function quietFindingsStage(context: StagesContext): WatchdogStage {
  const { state, monotonicMs, nowMs } = context;
  return {
    name: "quiet",
    every: 1,
    run: async () => {
      const startMs = monotonicMs();
      const due = [...state.anomalies.quiet.all()].filter((quiet) => isDue(context, quiet, nowMs()));
      const alive = due.length === 0 ? [] : await sending(context, due);
      await inSteps(context, alive, (some, _, verdicts) =>
        verdicts.reopen(some.map(({ tenant, id, detectedAtMs }): AnomalyKey => ({ tenant, id, detectedAtMs }))),
      );
      return { counts: { evaluated: due.length, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
    },
  };
}

function isDue(context: StagesContext, quiet: QuietAnomaly, atMs: number): boolean {
  const { tenant, serviceId, metricName, resolvedAtMs, resolvedBy } = quiet;
  if (metricName === STALE_METRIC) return false;
  if (resolvedBy === "ended") return atMs - (backMs(context, quiet) ?? Number.POSITIVE_INFINITY) >= BACK_MS;
  return atMs - resolvedAtMs >= context.paging.settingsOf(tenant, serviceId, metricName).dedupMaxAgeMinutes * MINUTE_MS;
}

/** When the silence was over that an anomaly ended with. */
function backMs({ state }: StagesContext, { tenant, serviceId, environment, resolvedAtMs }: QuietAnomaly): number | undefined {
  const index = state.anomalies.index(tenant);
  const [newest] = index.page({ serviceId, environment, metricName: STALE_METRIC }, undefined, 1);
  const silence = newest === undefined ? undefined : state.anomalies.find(tenant, newest.id);
  if (silence?.resolvedBy !== "recovered" || silence.resolvedAtMs === null) return undefined;
  return silence.resolvedAtMs >= resolvedAtMs ? silence.resolvedAtMs : undefined;
}

/** Those whose service sends. */
async function sending({ engines, nowMs }: StagesContext, due: readonly QuietAnomaly[]): Promise<QuietAnomaly[]> {
  const lastMs = new Map<string, number>();
  for (const tenant of new Set(due.map((quiet) => quiet.tenant))) {
    const lists = await Promise.all(Array.from({ length: engines.count }, (_, engine) => engines.serviceList(engine, tenant)));
    for (const [serviceId, environment, , , newestMs] of lists.flat())
      lastMs.set(JSON.stringify([tenant, serviceId, environment]), newestMs);
  }
  const fromMs = nowMs() - ALIVE_MS;
  return due.filter(({ tenant, serviceId, environment, resolvedAtMs }) => {
    const newestMs = lastMs.get(JSON.stringify([tenant, serviceId, environment])) ?? 0;
    return newestMs >= fromMs && newestMs > resolvedAtMs;
  });
}
