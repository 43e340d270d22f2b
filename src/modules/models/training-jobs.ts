/**
 * Runs training jobs, one after another: tenants take turns, and of each the oldest goes first. A job gathers the samples of its window, has a model trained in
 * the thread of trainings, and stores it as a shadow together with its own end. Jobs are rows: what waited goes on after a restart, what ran is said to be
 * interrupted.
 */
import { type KeyValueStore, StoreError } from "../../adapters/storage/key-value-store.ts";
import { SERVICE_VECTORS_MIN } from "../../core/config/limits.ts";
import { REQUESTED_VECTORS_MAX, SHADOW_COUNTS_STORED_MS } from "../../core/config/model-limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import type { ShadowCounts } from "../../core/protocol/engine-control.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { SelectionSummary, TrainingResult } from "../../domain/detection/multivariate/service-training.ts";
import type { TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { type JobDraft, ONLY_JOB, RunningJobs } from "../state/jobs.ts";
import { newId } from "../state/tables.ts";
import { incidentTimes } from "./labelled-times.ts";
import type { ModelMessages } from "./model-messages.ts";
import { contentOperations, type ModelContent, type ModelRow } from "./model-row.ts";
import type { ModelsState } from "./models-context.ts";
import type { ServiceInput, ServiceInputs } from "./service-inputs.ts";
import type { TrainingJobRow } from "./training-job.ts";

/** Between attempts of a job that an engine or the store did not let go on. */
const RETRY_MS = 5_000;
/** Progress of the stages. */
const GATHERED = 0.4;

export interface TrainingJobsOptions {
  /** WATCHDOG_INTERVAL_SECONDS in ms; a minute where there are no cycles. */
  readonly intervalMs?: number | undefined;
  /** RETENTION_RAW_DAYS in ms. */
  readonly rawRetentionMs: number;
}

export interface TrainingJobsDependencies {
  readonly state: ModelsState;
  readonly control: KeyValueStore;
  readonly counters: CoordinatorCounters;
  readonly inputs: ServiceInputs;
  readonly messages: ModelMessages;
  nowMs(): number;
  monotonicMs(): number;
  randomBytes(count: number): Uint8Array;
  /** Does work that writes, between the transactions of others; rejects with StoreError. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  isStopping(): boolean;
  train(input: TrainingInput): Promise<TrainingResult>;
  /** Has whoever steps do so: the next job may begin. */
  wake?(): void;
}

/** Ends a job with what it says. */
class JobFailure extends Error {
  readonly figures: Partial<Pick<TrainingJobRow, "found" | "needed" | "notes">>;

  constructor(message: string, figures: JobFailure["figures"] = {}) {
    super(message);
    this.figures = figures;
  }
}

/** A model that a training made. */
interface Trained {
  readonly result: TrainingResult & { readonly selected: SelectionSummary };
  readonly of: ServiceInput;
  readonly trainedMs: number;
  readonly notes: readonly string[];
}

export class TrainingJobs {
  readonly #options: TrainingJobsOptions;
  readonly #dependencies: TrainingJobsDependencies;
  readonly #running = new RunningJobs<true>();
  /** Tenant whose job ran last. */
  #lastTenant = "";
  #retryMs = 0;
  #countsStoredMs = 0;
  /** Models whose counts have changed since they were stored. */
  readonly #counted = new Map<string, ModelRow>();

  constructor(options: TrainingJobsOptions, dependencies: TrainingJobsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Says of jobs that ran when the server ended that they were interrupted; to be called once, with the store read. */
  async start(): Promise<void> {
    const { state, control, nowMs, counters } = this.#dependencies;
    const reason = "interrupted: the server ended while it ran; ask for it again";
    const ended = await state.configured.trainings.interrupt(control, (job) =>
      job.state === "running" ? { ...job, state: "failed", finishedMs: nowMs(), reason } : undefined,
    );
    counters.add("jobsInterrupted", ended);
  }

  /** Begins the next job where none runs; returns the monotonic time at which to call again. */
  step(): number {
    const { monotonicMs, isStopping, state, counters } = this.#dependencies;
    this.#storeCounts();
    const waiting = state.configured.trainings.oldest().filter((job) => job.state === "queued");
    counters.set("jobsWaiting", waiting.length);
    if (this.#running.of(ONLY_JOB) || isStopping() || waiting.length === 0) return this.#countsDueMs;
    if (monotonicMs() < this.#retryMs) return this.#retryMs;
    const job = this.#next(waiting);
    this.#lastTenant = job.tenant;
    counters.set("jobsRunning", 1);
    const ended = this.#running
      .begin(ONLY_JOB, true, () => this.#run(job))
      .finally(() => {
        counters.set("jobsRunning", 0);
        this.#dependencies.wake?.();
      });
    background(task("a training"), ended);
    return this.#countsDueMs;
  }

  /** Resolves once no job runs. */
  idle(): Promise<void> {
    return this.#running.idle();
  }

  /** Adds what engines say of shadows. */
  takeCounts(shadows: readonly ShadowCounts[]): void {
    const { state, counters } = this.#dependencies;
    const { models } = state.configured;
    for (const { modelId, scored, alerts } of shadows) {
      counters.add("shadowVectors", scored);
      for (const tenant of models.tenants) {
        const model = models.find(tenant, modelId);
        if (model === undefined) continue;
        const counted = { ...model, scored: model.scored + scored, alerts: model.alerts + alerts };
        models.put(counted);
        this.#counted.set(modelId, counted);
      }
    }
  }

  get #countsDueMs(): number {
    return this.#counted.size === 0 ? Number.POSITIVE_INFINITY : this.#countsStoredMs + SHADOW_COUNTS_STORED_MS;
  }

  #storeCounts(): void {
    const { monotonicMs, control, edit, state } = this.#dependencies;
    if (this.#counted.size === 0 || monotonicMs() < this.#countsDueMs) return;
    this.#countsStoredMs = monotonicMs();
    const models = [...this.#counted.values()].flatMap(({ tenant, id }) => state.configured.models.find(tenant, id) ?? []);
    this.#counted.clear();
    const stored = edit(() => control.commit(models.map((model) => state.configured.models.operation(model)))).catch((error) => {
      if (!(error instanceof StoreError)) throw error;
    });
    background(task("the counts of models"), stored);
  }

  /** The oldest of the tenant behind the one that ran last, by name. */
  #next(waiting: readonly TrainingJobRow[]): TrainingJobRow {
    const tenants = [...new Set(waiting.map(({ tenant }) => tenant))].sort();
    const tenant = tenants.find((name) => name > this.#lastTenant) ?? tenants[0];
    return waiting.find((job) => job.tenant === tenant) as TrainingJobRow;
  }

  async #run(job: TrainingJobRow): Promise<void> {
    const { counters, nowMs, monotonicMs, isStopping } = this.#dependencies;
    const startMs = monotonicMs();
    try {
      if (!(await this.#move(job, { state: "running", startedMs: nowMs(), progress: 0 }))) return;
      await this.#succeed(job, await this.#train(job));
    } catch (error) {
      if (isStopping()) return;
      // The row stays as it is, and the job is begun again: nothing of it is stored.
      if (error instanceof StoreError) return this.#again(job);
      const failure = error instanceof JobFailure ? error.figures : {};
      const message = messageOf(error);
      const reason = error instanceof JobFailure || error instanceof EngineUnavailableError ? message : `the training failed: ${message}`;
      await this.#move(job, { state: "failed", finishedMs: nowMs(), reason, ...failure }).catch(() => this.#again(job));
      counters.add("jobsFailed", 1);
    } finally {
      counters.add("jobsSeconds", (monotonicMs() - startMs) / 1000);
    }
  }

  #again(job: TrainingJobRow): void {
    const { state, monotonicMs } = this.#dependencies;
    this.#retryMs = monotonicMs() + RETRY_MS;
    const known = state.configured.trainings.find(job.tenant, job.id);
    if (known?.state === "running") state.configured.trainings.put({ ...known, state: "queued", startedMs: null, progress: 0 });
  }

  /** Changes the job's row with other operations; false where somebody has cancelled it. */
  async #move({ tenant, id }: TrainingJobRow, change: Partial<TrainingJobRow>, draft?: () => JobDraft): Promise<boolean> {
    const { edit, control, state } = this.#dependencies;
    const jobs = state.configured.trainings;
    return edit(async () => {
      const known = jobs.find(tenant, id);
      if (known === undefined || known.finishedMs !== null) return false;
      await jobs.commit(control, [{ ...known, ...change }], ...(draft === undefined ? [] : [draft()]));
      return true;
    });
  }

  #progress({ tenant, id }: TrainingJobRow, progress: number): void {
    const jobs = this.#dependencies.state.configured.trainings;
    const known = jobs.find(tenant, id);
    if (known?.state === "running") jobs.put({ ...known, progress });
  }

  async #train(job: TrainingJobRow): Promise<Trained> {
    const { inputs, nowMs, state, train } = this.#dependencies;
    const { intervalMs = MINUTE_MS, rawRetentionMs } = this.#options;
    const trainedMs = nowMs();
    const wantedMs = job.windowDays * DAY_MS;
    const fromMs = trainedMs - Math.min(rawRetentionMs, wantedMs);
    const { tenant, serviceId, environment } = job;
    const of = await inputs.of({ tenant, serviceId, environment, fromMs, toMs: trainedMs, intervalMs });
    if (of === undefined)
      throw new JobFailure("the Watchdog does not look at this service: it has fewer than two metrics in this environment");
    this.#progress(job, GATHERED);
    const excluded = incidentTimes(state, job, trainedMs);
    const result = await train({ ...of.input, selection: { excluded, rowsMax: REQUESTED_VECTORS_MAX } });
    const { selected, rows } = result;
    if (selected === undefined) throw new Error("the thread of trainings did not say what it took");
    const notes = notesOf({ ...selected, rows, wantedMs: trainedMs - wantedMs });
    if (result.model === null) {
      throw new JobFailure(`too little history: ${rows} vectors found, ${SERVICE_VECTORS_MIN} needed; ask again when more has come in`, {
        found: rows,
        needed: SERVICE_VECTORS_MIN,
        notes,
      });
    }
    return { result: { ...result, selected }, of, trainedMs, notes };
  }

  async #succeed(job: TrainingJobRow, { result, of, trainedMs, notes }: Trained): Promise<void> {
    const { counters, nowMs, randomBytes } = this.#dependencies;
    const { model, state: detector, reference, rows, selected } = result;
    if (model === null || detector === null || reference === undefined) throw new Error("a training gave no model");
    const { tenant, serviceId, environment, modelType, windowDays } = job;
    const id = newId({ randomBytes });
    const { names, columns } = of;
    const made: ModelRow = {
      ...{ id, tenant, serviceId, environment, modelType, jobId: job.id, windowDays, names, columns, trainedMs, rows },
      ...{ state: "shadow", promotedMs: null, previousId: null, sinceMs: selected.sinceMs, scored: 0, alerts: 0 },
    };
    const end = { state: "succeeded", finishedMs: nowMs(), progress: 1, modelId: id, notes } as const;
    const draft = () => this.#draft(made, { model, state: detector, reference });
    if (await this.#move(job, end, draft)) counters.add("jobsSucceeded", 1);
  }

  /** Changes of a new shadow: it takes the place of the one before, and the oldest of its service go. Throws where there is no room. */
  #draft(made: ModelRow, content: ModelContent): JobDraft {
    const { state, messages } = this.#dependencies;
    const { models } = state.configured;
    const former = models.shadow(made);
    const retired = former === undefined ? this.#replacedShadow(made.tenant) : { ...former, state: "retired" as const };
    const gone = models.excess(made).filter(({ id }) => id !== retired?.id);
    if (gone.length === 0 && !models.shares.admits(made.tenant))
      throw new JobFailure(`${models.shares.used(made.tenant)} models are kept, and there is room for no more; they go with time`);
    return {
      operations: () => [
        models.operation(made),
        ...contentOperations(made, content),
        ...(retired === undefined ? [] : [models.operation(retired)]),
        ...gone.flatMap((one) => models.removals(one)),
      ],
      apply: () => {
        if (retired !== undefined) {
          models.put(retired);
          messages.endShadow(retired);
        }
        for (const one of gone) models.remove(one.tenant, one.id);
        models.put(made);
        messages.sendShadow(made);
      },
    };
  }

  /** The tenant's oldest shadow, where there is no room for one more; throws where it has none. */
  #replacedShadow(tenant: string): ModelRow | undefined {
    const { models } = this.#dependencies.state.configured;
    if (models.shadowShares.available(tenant) >= 1) return undefined;
    models.shadowShares.refuse(tenant);
    const oldest = models.of(tenant).findLast(({ state }) => state === "shadow");
    if (oldest === undefined)
      throw new JobFailure(`${models.shadowShares.taken} shadows are scored, as many as may; ask again when one is promoted`);
    return { ...oldest, state: "retired" };
  }
}

function notesOf({
  found,
  excluded,
  rows,
  sinceMs,
  wantedMs,
}: SelectionSummary & { readonly rows: number; readonly wantedMs: number }): string[] {
  const notes: string[] = [];
  if (found > 0 && sinceMs - wantedMs > DAY_MS / 24)
    notes.push(`history begins at ${formatRfc3339(sinceMs)}: less is kept than was asked for`);
  if (excluded > 0) notes.push(`${excluded} vectors of labelled incidents were left out`);
  if (rows < found - excluded) notes.push(`thinned evenly from ${found - excluded} vectors to ${rows}, in runs of consecutive ones`);
  return notes;
}
