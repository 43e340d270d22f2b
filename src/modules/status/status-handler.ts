// GET /api/v1/status: what runs, what does not and why. Parts that are not built yet say `disabled`.

import type { z } from "zod";
import { drillView } from "../../api/notification-view.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import type { STATUS } from "../../api/shapes/server.ts";
import type { StatusEvent } from "../../api/shapes/stream-events.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { reaches } from "../../domain/access/roles.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { refusedTenants } from "./shared-limits.ts";
import type { CoordinatorFacts, StatusContext } from "./status-context.ts";

type Status = z.output<typeof STATUS>;
type EngineStatus = Status["engines"][number];

/** The coordinator looks at what engines have found at least once a minute, else at once: later than this it is stuck. */
const LAG_MS_MAX = 3 * 60_000;

/** State of the server as the tenant sees it. */
export async function status(context: StatusContext, { principal, shares }: QueryRequest<"status">): Promise<Outcome<Status>> {
  const { engines, state, options, nowMs } = context;
  const engineStates = await Promise.all(
    Array.from({ length: engines.count }, (_, engine) => engineStatus(context, principal.tenant, engine)),
  );
  const facts = context.facts();
  const { detection } = facts;
  const seesAll = reaches(principal.role, "super_admin") || state.configured.tenants.size === 1;
  const shared = sharedState(context, engineStates);
  const notifier = context.channels.facts(principal.tenant);
  const drill = context.drills.facts(principal.tenant);
  const isDegraded = shared.status === "degraded" || notifier.state === "degraded" || drill.state === "failed";
  return done({
    status: isDegraded && shared.status !== "starting" ? "degraded" : shared.status,
    version: options.version,
    ingest_auth: options.requiresSenders === true ? "required" : "optional",
    components: {
      ...shared.components,
      llm: options.phrasesSummaries === true ? "ok" : "disabled",
      notifier: notifier.state,
      drill: drill.state,
    },
    detection: { count: detection.count, p50_ms: detection.p50Ms, p99_ms: detection.p99Ms },
    watchdog: {
      ...watchdogView(facts, seesAll),
      metrics_monitored: engineStates.reduce((sum, engine) => sum + (engine.series ?? 0), 0),
      anomalies_last_hour: state.anomalies.index(principal.tenant).count({ sinceMs: nowMs() - HOUR_MS }),
      mode: "streaming",
      lag_seconds: Math.max(0, nowMs() - facts.lastRunMs) / 1000,
    },
    vectorizer: vectorizerView(facts.vectorizer, seesAll),
    notifier: {
      reasons: [...notifier.reasons],
      waiting: seesAll ? notifier.waiting : null,
      configured: notifier.state !== "disabled",
      failing: notifier.failing.map(({ channel, failingSinceMs, error }) => ({
        channel,
        since: formatRfc3339(failingSinceMs ?? 0),
        error,
      })),
    },
    drill: drill.last === undefined ? null : drillView(drill.last),
    sandbox: sandboxView(context, seesAll),
    store: storeView(facts),
    engines: engineStates,
    shared_limits: seesAll ? await refusedTenants(context, shares) : null,
    listeners: { ...facts.listeners },
    queues: { frames_waiting: facts.framesWaiting, queries_waiting: facts.queriesWaiting },
    versions: { vedette: options.version, node: process.versions.node },
  });
}

/** State of the parts that all tenants share. */
export function sharedState(context: StatusContext, engines: readonly EngineStatus[] = []): StatusEvent {
  const facts = context.facts();
  const components = {
    watchdog: watchdogState(facts, engines, context.nowMs()),
    vectorizer: facts.vectorizer.state,
    rca: facts.analysis.state,
    store: facts.storeRefusal === null ? ("ok" as const) : ("read_only" as const),
    data: context.dataFaults.open === 0 ? ("ok" as const) : ("damaged" as const),
  };
  const { watchdog, vectorizer, store, data } = components;
  const isServing = store === "ok" && data === "ok" && watchdog === "ok" && vectorizer !== "behind";
  return { status: !facts.enginesReady ? "starting" : isServing ? "ok" : "degraded", components };
}

/** Every sample is judged by the engine that holds its stream; what that finds counts once the coordinator has stored it. */
function watchdogState(facts: CoordinatorFacts, engines: readonly EngineStatus[], nowMs: number): Status["components"]["watchdog"] {
  if (!facts.enginesReady) return "starting";
  if (nowMs - facts.lastRunMs > LAG_MS_MAX) return "stalled";
  if (engines.some(({ state }) => state !== "ok")) return "degraded";
  return facts.watchdog.state === "behind" ? "behind" : "ok";
}

/** Layers of detection that passes bring. */
const LAYER_OF_DETECTOR: Readonly<Record<string, string>> = { pairs: "adaptive", services: "isolation_forest" };

/** A layer runs where its pass has something to look at. */
function watchdogView({ watchdog, lastRunMs }: CoordinatorFacts, seesAll: boolean) {
  const passes = watchdog.stages.map((stage) => ({
    pass: stage.name,
    last_run: formatRfc3339(stage.lastRunMs),
    work_ms: stage.workMs,
    evaluated: seesAll ? stage.counts.evaluated : null,
    learning: seesAll ? stage.counts.learning : null,
    skipped: seesAll ? { ...stage.counts.skipped } : null,
  }));
  const active = watchdog.stages.filter(({ counts }) => counts.evaluated + counts.learning > 0);
  return {
    last_run: formatRfc3339(watchdog.lastRunMs === 0 ? lastRunMs : watchdog.lastRunMs),
    layers: ["statistical", ...active.flatMap(({ name }) => ownMember(LAYER_OF_DETECTOR, name) ?? [])],
    cycles: watchdog.cycles,
    failed_cycles: watchdog.failures,
    duration_ms: watchdog.durationMs,
    passes,
  };
}

/** Bytes of the whole server. Fill is of the limit, or without one of what the data and the free disk are together; null before the first look. */
function storeView({ storeRefusal, disk }: CoordinatorFacts): Status["store"] {
  const { storeBytes, logBytes, freeBytes, limitBytes } = disk;
  const used = storeBytes + logBytes;
  const capacity = Number.isFinite(limitBytes) ? limitBytes : used + freeBytes;
  return {
    state: storeRefusal === null ? "ok" : "read_only",
    reason: storeRefusal?.cause ?? null,
    error_code: storeRefusal?.errorCode ?? null,
    used_bytes: used,
    log_bytes: logBytes,
    free_bytes: freeBytes,
    limit_bytes: Number.isFinite(limitBytes) ? limitBytes : null,
    fill: capacity === 0 ? null : Math.round((used / capacity) * 1e4) / 1e4,
  };
}

/** `walls` are those of the newest process; null before there was one. */
function sandboxView({ sandbox }: StatusContext, seesAll: boolean): Status["sandbox"] {
  const { walls, processes, waiting } = sandbox;
  return {
    walls: walls && { interpreter: true, process: walls.process, kernel: walls.kernel, namespaces: walls.namespaces },
    missing: walls?.missing ?? null,
    languages: walls === null ? null : [...walls.languages],
    processes: seesAll ? processes : null,
    waiting: seesAll ? waiting : null,
  };
}

/** Facts of the last tick; `last_run` is null before the first. */
function vectorizerView({ state: _, lastRunMs, ...counts }: CoordinatorFacts["vectorizer"], seesAll: boolean): Status["vectorizer"] {
  const shown = (count: number) => (seesAll ? count : null);
  return {
    last_run: lastRunMs === 0 ? null : formatRfc3339(lastRunMs),
    duration_ms: counts.durationMs,
    work_ms: counts.workMs,
    services: shown(counts.services),
    services_evaluated: shown(counts.evaluated),
    streams: shown(counts.streams),
    pillar_values: shown(counts.values),
  };
}

/** An engine that does not answer is a fact to report here, not a failure of the question. */
async function engineStatus({ engines }: StatusContext, tenant: string, engine: number): Promise<EngineStatus> {
  try {
    return { engine, state: "ok", series: await engines.streamCount(engine, tenant) };
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    return { engine, state: "unavailable", series: null };
  }
}
