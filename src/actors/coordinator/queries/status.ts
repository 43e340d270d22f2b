// GET /api/v1/status. Parts that are not built yet say `disabled`; what detection does meanwhile is told in numbers.
import { done, type Outcome } from "../../../api/refusal.ts";
import { formatRfc3339 } from "../../../core/base/rfc3339.ts";
import { EngineUnavailableError } from "../engine-client.ts";
import type { CoordinatorFacts, QueryContext, QueryRequest } from "./query-context.ts";

const HOUR_MS = 3600 * 1000;

interface EngineStatus {
  readonly engine: number;
  readonly state: "ok" | "unavailable";
  /** The tenant's series that this engine holds; null when it does not answer. */
  readonly series: number | null;
}

/** State of the server as the tenant sees it. */
export async function status(context: QueryContext, { principal }: QueryRequest<"status">): Promise<Outcome<unknown>> {
  const { engines, state, options } = context;
  const engineStates = await Promise.all(
    Array.from({ length: engines.count }, (_, engine) => engineStatus(context, principal.tenant, engine)),
  );
  const facts = context.facts();
  const degraded = facts.storeReadOnly || engineStates.some((engine) => engine.state !== "ok");
  return done({
    status: !facts.enginesReady ? "starting" : degraded ? "degraded" : "ok",
    version: options.version,
    components: {
      watchdog: "disabled",
      vectorizer: facts.vectorizer.state,
      rca: "disabled",
      llm: "disabled",
      store: facts.storeReadOnly ? "read_only" : "ok",
    },
    watchdog: {
      last_run: formatRfc3339(facts.lastRunMs),
      metrics_monitored: engineStates.reduce((sum, engine) => sum + (engine.series ?? 0), 0),
      anomalies_last_hour: state.anomalies.index(principal.tenant).count({ sinceMs: context.nowMs() - HOUR_MS }),
    },
    vectorizer: vectorizerView(facts.vectorizer),
    engines: engineStates,
    listeners: facts.listeners,
    queues: { frames_waiting: facts.framesWaiting, queries_waiting: facts.queriesWaiting },
  });
}

/** Of the last tick; null before the first. */
function vectorizerView({ state: _, lastRunMs, ...counts }: CoordinatorFacts["vectorizer"]) {
  return {
    last_run: lastRunMs === 0 ? null : formatRfc3339(lastRunMs),
    duration_ms: counts.durationMs,
    work_ms: counts.workMs,
    services: counts.services,
    services_evaluated: counts.evaluated,
    streams: counts.streams,
    pillar_values: counts.values,
  };
}

/** An engine that does not answer is a fact to report here, not a failure of the question. */
async function engineStatus({ engines }: QueryContext, tenant: string, engine: number): Promise<EngineStatus> {
  try {
    const { total } = await engines.series(engine, { tenant, serviceId: null, metricName: null, environment: null, after: null, limit: 1 });
    return { engine, state: "ok", series: total };
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    return { engine, state: "unavailable", series: null };
  }
}
