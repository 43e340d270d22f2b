// Training jobs as they are stored, and all of them in memory: those that wait or run, and the newest of each tenant that have ended.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { JOB_STATES, MODEL_TYPES } from "../../api/shapes/models.ts";
import { TRAINING_JOBS_KEPT_PER_TENANT_MAX } from "../../core/config/model-limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { list, nullable, number, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";
import { TenantTable } from "../state/tenant-table.ts";

export interface TrainingJobRow {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly serviceId: string;
  readonly environment: string;
  readonly windowDays: number;
  readonly modelType: (typeof MODEL_TYPES)[number];
  /** Who asked for it. */
  readonly by: string;
  readonly state: (typeof JOB_STATES)[number];
  readonly createdMs: number;
  readonly startedMs: number | null;
  readonly finishedMs: number | null;
  /** 0..1. */
  readonly progress: number;
  /** Why it failed. */
  readonly reason: string | null;
  /** Vectors that were found and that are needed, where they were too few. */
  readonly found: number | null;
  readonly needed: number | null;
  /** Notes for the operator on how the vectors were chosen. */
  readonly notes: readonly string[];
  readonly modelId: string | null;
}

const JOB = new StoredForm<TrainingJobRow>("training_jobs", {
  id: text,
  tenant: text,
  serviceId: text,
  environment: text,
  windowDays: number,
  modelType: oneOf(MODEL_TYPES),
  by: text,
  state: oneOf(JOB_STATES),
  createdMs: number,
  startedMs: nullable(number),
  finishedMs: nullable(number),
  progress: number,
  reason: nullable(text),
  found: nullable(number),
  needed: nullable(number),
  notes: list(text),
  modelId: nullable(text),
});

export function isEnded({ state }: Pick<TrainingJobRow, "state">): boolean {
  return state !== "queued" && state !== "running";
}

/** A change of one job; undefined deletes it. */
export function jobOperation(of: TrainingJobRow, job: TrainingJobRow | undefined): StoreOperation {
  const key = new KeyBuilder().text(of.tenant).time(of.createdMs).fixed(idBytes(of.id)).finish();
  return { table: "training_jobs", key, value: job && JOB.encode(job) };
}

export class TrainingJobBook {
  /** Who has how many that wait or run. */
  readonly shares: ShareLedger;
  readonly #jobs = new TenantTable<TrainingJobRow>(({ id }) => id);

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "training_jobs")) this.put(JOB.decode(value));
  }

  get tenants(): Iterable<string> {
    return this.#jobs.tenants;
  }

  put(job: TrainingJobRow): void {
    const before = this.#jobs.put(job);
    const change = Number(!isEnded(job)) - Number(before !== undefined && !isEnded(before));
    if (change !== 0) this.shares.add(job.tenant, change);
  }

  remove({ tenant, id }: Pick<TrainingJobRow, "tenant" | "id">): void {
    const job = this.#jobs.remove(tenant, id);
    if (job !== undefined && !isEnded(job)) this.shares.give(tenant);
  }

  find(tenant: string, id: string): TrainingJobRow | undefined {
    return this.#jobs.find(tenant, id);
  }

  /** All of a tenant, the newest first. */
  listOf(tenant: string): TrainingJobRow[] {
    return this.#jobs.of(tenant).sort((a, b) => b.createdMs - a.createdMs || (a.id < b.id ? -1 : 1));
  }

  /** Jobs of all tenants in a state, oldest first. */
  inState(state: TrainingJobRow["state"]): TrainingJobRow[] {
    return [...this.#jobs.all()].filter((job) => job.state === state).sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
  }

  /** Those that have ended and are no longer kept when one more comes. */
  excess(tenant: string): TrainingJobRow[] {
    return this.listOf(tenant)
      .filter(isEnded)
      .slice(TRAINING_JOBS_KEPT_PER_TENANT_MAX - 1);
  }
}
