// Training jobs as they are stored.

import { JOB_STATES, MODEL_TYPES } from "../../api/shapes/models.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { JobBook, type JobKind } from "../state/jobs.ts";
import { list, nullable, number, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeKey } from "../state/tables.ts";

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

const TRAININGS: JobKind<TrainingJobRow> = {
  table: "training_jobs",
  form: JOB,
  key: ({ tenant, createdMs, id }) => tenantTimeKey(tenant, createdMs, id),
  createdMs: ({ createdMs }) => createdMs,
  endedMs: ({ finishedMs }) => finishedMs,
};

/** Makes the book of trainings: those that wait or run, and the newest of each tenant that have ended. */
export function trainingBook(shares?: ShareLedger): JobBook<TrainingJobRow> {
  return new JobBook(TRAININGS, shares);
}
