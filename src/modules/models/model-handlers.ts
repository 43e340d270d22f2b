// GET /api/v1/ml/models, POST /api/v1/ml/promote and POST /api/v1/ml/rollback.
import { listed } from "../../api/page-token.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { SERVICE_VECTORS_MAX } from "../../core/config/limits.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { ModelComparison } from "../../domain/models/model-comparison.ts";
import { computeFor } from "../prediction/computing.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { servicesOf } from "../services/service-list.ts";
import { environmentOf } from "./job-handlers.ts";
import { labelledTimes } from "./labelled-times.ts";
import { automaticId, type ModelledService } from "./model-book.ts";
import type { ModelRow } from "./model-row.ts";
import type { ModelsContext } from "./models-context.ts";

const SERVICES_PER_SLICE = 64;

/** A page of the tenant's models: those that were asked for, and those of the automatic trainings that are in production. */
export async function listModels(context: ModelsContext, request: QueryRequest<"models">): Promise<Outcome<unknown>> {
  const { state } = context;
  const { principal, query } = request;
  const { tenant } = principal;
  const all = [...state.configured.models.of(tenant).map(modelView), ...(await automaticModels(context, tenant, query.service_id))];
  const matching = all
    .filter((model) => (query.service_id ?? model.service_id) === model.service_id && (query.state ?? model.state) === model.state)
    .filter(({ environment }) => (query.environment ?? environment) === environment)
    .sort((a, b) => compareTexts(b.trained_at, a.trained_at) || compareTexts(a.model_id, b.model_id));
  const list = { endpoint: "models", newestFirst: true, positionOf: (model: (typeof all)[number]) => [model.trained_at, model.model_id] };
  return listed(state, request, list, matching, (models) => ({ models, total: matching.length }));
}

async function automaticModels(context: ModelsContext, tenant: string, wanted: string | undefined) {
  const { messages, state, yieldToLoop } = context;
  const found = [];
  let inspected = 0;
  for (const [serviceId, environment] of await servicesOf(context, tenant)) {
    if (wanted !== undefined && wanted !== serviceId) continue;
    if (++inspected % SERVICES_PER_SLICE === 0) await yieldToLoop();
    const service = { tenant, serviceId, environment };
    const row = messages.automatic(service);
    if (row === undefined || state.configured.models.production(service) !== undefined) continue;
    found.push({
      model_id: automaticId(service, row.timeMs),
      service_id: serviceId,
      environment,
      model_type: "isolation_forest",
      state: "production",
      origin: "automatic",
      trained_at: formatRfc3339(row.timeMs),
      promoted_at: null,
      training_window_days: null,
      since: null,
      samples: row.count,
      metrics: null,
      job_id: null,
      previous_model_id: null,
      scored: 0,
      alerts: 0,
    });
  }
  return found;
}

function modelView(model: ModelRow) {
  return {
    model_id: model.id,
    service_id: model.serviceId,
    environment: model.environment,
    model_type: model.modelType as string,
    state: model.state as string,
    origin: "requested",
    trained_at: formatRfc3339(model.trainedMs),
    promoted_at: model.promotedMs === null ? null : formatRfc3339(model.promotedMs),
    training_window_days: model.windowDays,
    since: formatRfc3339(model.sinceMs),
    samples: model.rows,
    metrics: model.names.length,
    job_id: model.jobId,
    previous_model_id: model.previousId,
    scored: model.scored,
    alerts: model.alerts,
  };
}

/** Puts a model into production, and says how it did beside the one before. */
export async function promoteModel(context: ModelsContext, request: QueryRequest<"promoteModel">): Promise<Outcome<unknown>> {
  const { models } = context.state.configured;
  const { tenant } = request.principal;
  const { model_id: id, service_id: serviceId, only_if_better: onlyIfBetter } = request.body;
  const problem = (model: ModelRow | undefined) => {
    if (model === undefined || model.serviceId !== serviceId) return unknownModel(id, serviceId);
    return model.state === "production" ? refused("conflict", "the model is in production already") : undefined;
  };
  const candidate = models.find(tenant, id);
  const refusal = problem(candidate);
  if (candidate === undefined || refusal !== undefined) return refusal ?? unknownModel(id, serviceId);
  const compared = await compareWithProduction(context, candidate);
  if (!compared.ok) return compared;
  const warning = warningOf(compared.value);
  if (onlyIfBetter && compared.value.comparison?.verdict !== "better") return refused("conflict", `the model is not promoted: ${warning}`);
  return context.change(request, () => {
    const now = models.find(tenant, id);
    const late = problem(now);
    if (now === undefined || late !== undefined) return late ?? unknownModel(id, serviceId);
    const before = models.production(now);
    const after: ModelRow = { ...now, state: "production", promotedMs: context.nowMs(), previousId: before?.id ?? null };
    const view = {
      model_id: id,
      service_id: serviceId,
      environment: now.environment,
      state: after.state,
      previous_model_id: after.previousId,
      comparison: comparisonView(compared.value),
      warning,
    };
    return {
      ok: true,
      note: { action: "model.promote", object: id, before: before === undefined ? null : modelView(before), after: view },
      operations: [models.operation(after), ...(before === undefined ? [] : [models.operation({ ...before, state: "retired" })])],
      apply: () => {
        if (before !== undefined) models.put({ ...before, state: "retired" });
        models.put(after);
        context.messages.sendProduction(after, before);
        context.counters.add("modelsPromoted", 1);
      },
      outcome: done(view),
    };
  });
}

/** Puts the model back that was in production before. */
export async function rollBackModel(context: ModelsContext, request: QueryRequest<"rollBackModel">): Promise<Outcome<unknown>> {
  const { models } = context.state.configured;
  const { tenant } = request.principal;
  const { service_id: serviceId } = request.body;
  const environment = await rollbackEnvironment(context, tenant, request.body);
  if (!environment.ok) return environment;
  const service: ModelledService = { tenant, serviceId, environment: environment.value };
  return context.change(request, () => {
    const now = models.production(service);
    if (now === undefined) return refused("conflict", "no promoted model is in production: the automatic trainings judge this service");
    const known = now.previousId === null ? undefined : models.find(tenant, now.previousId);
    const previous = known === undefined ? undefined : { ...known, state: "production" as const, promotedMs: context.nowMs() };
    const view = {
      service_id: serviceId,
      environment: service.environment,
      model_id: previous?.id ?? null,
      origin: previous === undefined ? "automatic" : "requested",
      rolled_back_model_id: now.id,
    };
    const retired: ModelRow = { ...now, state: "retired" };
    return {
      ok: true,
      note: { action: "model.rollback", object: serviceId, before: modelView(now), after: view },
      operations: [models.operation(retired), ...(previous === undefined ? [] : [models.operation(previous)])],
      apply: () => {
        models.put(retired);
        if (previous !== undefined) models.put(previous);
        context.messages.sendProduction(service, now);
        context.counters.add("modelsRolledBack", 1);
      },
      outcome: done(view),
    };
  });
}

/** A service that sends nothing any more may still have a promoted model. */
function rollbackEnvironment(
  context: ModelsContext,
  tenant: string,
  body: QueryRequest<"rollBackModel">["body"],
): Promise<Outcome<string>> | Outcome<string> {
  const promoted = context.state.configured.models
    .of(tenant)
    .find(
      (model) =>
        model.state === "production" &&
        model.serviceId === body.service_id &&
        (body.environment ?? model.environment) === model.environment,
    );
  if (promoted !== undefined) return done(promoted.environment);
  return environmentOf(context, { tenant, serviceId: body.service_id, environment: body.environment });
}

function unknownModel(id: string, serviceId: string) {
  return refused(
    "not_found",
    `no model of ${shown(serviceId)} has the id ${shown(id)}; GET /api/v1/ml/models lists what there is`,
    "model_id",
  );
}

/** Warning for whoever promotes a model; null where nothing speaks against it. */
function warningOf(compared: Compared): string | null {
  const { comparison } = compared;
  if (comparison === null) return `it was not compared: ${compared.why}`;
  const { verdict, candidate, production } = comparison;
  if (verdict === "better") return null;
  if (verdict === "unknown")
    return "nothing of the history that is kept is labelled, so nothing says that it is better; label anomalies as true or false positives";
  const figures = ({ caught, missed, falseAlarms, outside }: ModelComparison["candidate"]) =>
    `${caught} incidents caught, ${missed} missed, ${falseAlarms} false alarms, ${outside} alerts outside of incidents`;
  const how = verdict === "worse" ? "it is worse than the model in production" : "it is no better than the model in production";
  return `${how}: ${figures(candidate)}, against ${figures(production)}`;
}

function comparisonView({ comparison }: Compared) {
  if (comparison === null) return null;
  const record = ({ pages, outside, caught, missed, falseAlarms }: ModelComparison["candidate"]) => ({
    pages,
    pages_outside_incidents: outside,
    incidents_caught: caught,
    incidents_missed: missed,
    false_alarms: falseAlarms,
  });
  return {
    verdict: comparison.verdict,
    since: comparison.sinceMs === 0 ? null : formatRfc3339(comparison.sinceMs),
    vectors: comparison.vectors,
    labelled_incidents: comparison.incidents,
    labelled_false_positives: comparison.falsePositives,
    candidate: record(comparison.candidate),
    production: record(comparison.production),
  };
}

// A requested model beside the one in production, over the history that is kept.

/** A comparison, or why there is none. */
type Compared = { readonly comparison: ModelComparison } | { readonly comparison: null; readonly why: string };

/** Refused where the thread for computations has no room. Rejects with EngineUnavailableError. */
async function compareWithProduction(context: ModelsContext, candidate: ModelRow): Promise<Outcome<Compared>> {
  const { state, options, inputs, messages, nowMs } = context;
  const { models } = state.configured;
  const none = (why: string): Outcome<Compared> => done({ comparison: null, why });
  const promoted = models.production(candidate);
  const before = promoted === undefined ? messages.automatic(candidate) : { ...promoted, bytes: models.content(promoted)?.model };
  const ours = models.content(candidate)?.model;
  if (before?.bytes === undefined) return none("no model is in production to compare it with");
  if (ours === undefined) return none("its bytes are gone");
  const { watchdogIntervalMs: intervalMs = MINUTE_MS, rawRetentionMs } = options;
  const toMs = nowMs();
  const range = { fromMs: toMs - Math.min(rawRetentionMs, SERVICE_VECTORS_MAX * intervalMs), toMs, intervalMs };
  const { tenant, serviceId, environment, id: modelId } = candidate;
  const [wanted, judged] = [
    await inputs.of({ tenant, serviceId, environment, modelId, ...range }),
    await inputs.of({ tenant, serviceId, environment, ...range }),
  ];
  if (wanted?.columns !== candidate.columns) return none("its metrics are not those that the service sends today");
  if (judged?.columns !== before.columns)
    return none("the model in production is of other metrics than those that the service sends today");
  const computed = await computeFor(context, tenant, {
    kind: "comparison",
    request: {
      candidate: { model: ours, input: wanted.input },
      production: { model: before.bytes, input: judged.input },
      labels: labelledTimes(state, candidate, toMs),
    },
  });
  return computed.ok ? done({ comparison: computed.value.comparison }) : computed;
}
