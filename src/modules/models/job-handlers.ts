// POST /api/v1/ml/train, GET /api/v1/ml/jobs, GET /api/v1/ml/jobs/{id} and POST /api/v1/ml/jobs/{id}/cancel.

import { listed } from "../../api/page-token.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import type { JobEvent } from "../../api/shapes/stream-events.ts";
import { TRAINING_JOBS_RETAINED_PER_TENANT_MAX, TRAININGS_PER_TENANT_MAX } from "../../core/config/model-limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { askSeries } from "../series/series-handler.ts";
import { newId } from "../state/tables.ts";
import type { ModelsContext } from "./models-context.ts";
import type { TrainingJobRow } from "./training-job.ts";

/** Takes a training; its job says what becomes of it. */
export async function trainModel(context: ModelsContext, request: QueryRequest<"trainModel">): Promise<Outcome<unknown>> {
  const { tenant, subject } = request.principal;
  const { service_id: serviceId, training_window_days: windowDays, model_type: modelType } = request.body;
  const environment = await environmentOf(context, { tenant, serviceId, environment: request.body.environment });
  if (!environment.ok) return environment;
  const jobs = context.state.configured.trainings;
  const id = newId(context);
  return context.change(request, () => {
    const used = jobs.shares.used(tenant);
    if (used >= TRAININGS_PER_TENANT_MAX || jobs.shares.available(tenant) < 1) {
      jobs.shares.refuse(tenant);
      return refused(
        "overloaded",
        `${used} trainings of this tenant wait or run, of ${jobs.shares.taken} in all, and no more are taken; ask again when one has ended`,
      );
    }
    const ahead = jobs.shares.taken;
    const head = { id, tenant, serviceId, environment: environment.value, windowDays, modelType, by: subject };
    const none = { startedMs: null, finishedMs: null, reason: null, found: null, needed: null, modelId: null };
    const job: TrainingJobRow = { ...head, ...none, state: "queued", createdMs: context.nowMs(), progress: 0, notes: [] };
    const gone = jobs.excess(tenant, TRAINING_JOBS_RETAINED_PER_TENANT_MAX);
    return {
      ok: true,
      note: { action: "model.train", object: id, before: null, after: jobView(job) },
      operations: [jobs.stored(job), ...gone.map((old) => jobs.removal(old))],
      apply: () => {
        for (const old of gone) jobs.remove(old);
        jobs.put(job);
      },
      outcome: {
        ok: true,
        status: 202,
        value: { job_id: id, status: job.state, estimated_duration_minutes: Math.ceil((ahead + 1) / TRAININGS_PER_MINUTE) },
      },
    };
  });
}

/** Trainings of a service with as many samples as one training takes, gathered at a share of a thread. */
const TRAININGS_PER_MINUTE = 4;

/** The environment that is meant: the named one, where the service has it, else its first. */
export async function environmentOf(
  context: ModelsContext,
  { tenant, serviceId, environment }: { readonly tenant: string; readonly serviceId: string; readonly environment: string | undefined },
): Promise<Outcome<string>> {
  const { series } = await askSeries(context, {
    tenant,
    serviceId,
    metricName: null,
    environment: environment ?? null,
    after: null,
    limit: 1,
  });
  const found = series[0]?.environment;
  return found === undefined
    ? refused("not_found", `no service ${shown(serviceId)} has sent anything that is kept`, "service_id")
    : done(found);
}

/** A page of the tenant's jobs. */
export function listTrainings({ state }: ModelsContext, request: QueryRequest<"trainings">): Outcome<unknown> {
  const { principal, query } = request;
  const matching = state.configured.trainings
    .of(principal.tenant)
    .sort((a, b) => b.createdMs - a.createdMs || (a.id < b.id ? -1 : 1))
    .filter((job) => (query.service_id ?? job.serviceId) === job.serviceId && (query.state ?? job.state) === job.state)
    .filter(({ environment }) => (query.environment ?? environment) === environment);
  const list = { endpoint: "trainings", newestFirst: true, positionOf: ({ createdMs, id }: TrainingJobRow) => [createdMs, id] };
  return listed(state, request, list, matching, (page) => ({ jobs: page.map(jobView), total: matching.length }));
}

export function oneTraining({ state }: ModelsContext, { principal, path }: QueryRequest<"training">): Outcome<unknown> {
  const job = state.configured.trainings.find(principal.tenant, path.id ?? "");
  return job === undefined ? unknownJob(path.id ?? "") : done(jobView(job));
}

/** Ends a job that waits, or whose model is not wanted any more. */
export function cancelTraining(context: ModelsContext, request: QueryRequest<"cancelTraining">): Promise<Outcome<unknown>> {
  const jobs = context.state.configured.trainings;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    const job = jobs.find(request.principal.tenant, id);
    if (job === undefined) return unknownJob(id);
    if (job.finishedMs !== null) return refused("conflict", `the job has ended as ${job.state}; nothing is left to cancel`);
    const cancelled: TrainingJobRow = {
      ...job,
      state: "cancelled",
      finishedMs: context.nowMs(),
      reason: `cancelled by ${request.principal.subject}`,
    };
    return {
      ok: true,
      note: { action: "model.train_cancel", object: id, before: jobView(job), after: jobView(cancelled) },
      operations: [jobs.stored(cancelled)],
      apply: () => {
        jobs.put(cancelled);
        context.counters.add("jobsCancelled", 1);
      },
      outcome: done(jobView(cancelled)),
    };
  });
}

function unknownJob(id: string): Outcome<never> & { readonly ok: false } {
  return refused("not_found", `no training job has the id ${shown(id)}; the newest that have ended are kept`);
}

function jobView(job: TrainingJobRow) {
  const time = (ms: number | null) => (ms === null ? null : formatRfc3339(ms));
  return {
    job_id: job.id,
    status: job.state,
    progress: job.progress,
    service_id: job.serviceId,
    environment: job.environment,
    model_type: job.modelType,
    training_window_days: job.windowDays,
    requested_by: job.by,
    created_at: formatRfc3339(job.createdMs),
    started_at: time(job.startedMs),
    finished_at: time(job.finishedMs),
    reason: job.reason,
    samples_found: job.found,
    samples_needed: job.needed,
    notes: job.notes,
    model_id: job.modelId,
  };
}

/** A job as the event stream tells it: in hundredths. */
export function trainingEvent({ id, state, progress }: TrainingJobRow): JobEvent {
  const eventStates = { queued: "running", running: "running", succeeded: "done", failed: "failed", cancelled: "failed" } as const;
  return { job_id: id, kind: "training", state: eventStates[state], done: Math.round(progress * 100), total: 100 };
}
