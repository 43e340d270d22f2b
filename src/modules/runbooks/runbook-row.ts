// What is stored of runbooks: tables `runbooks`, `runbook_executions` and, while a run is not over, `runbook_open`.
import { KeyBuilder, KeyReader } from "../../domain/codec/key.ts";
import { type Decision, EXECUTION_STATES, type Execution, STEP_STATES, type StepRun } from "../../domain/runbooks/execution.ts";
import { HTTP_METHODS, type Runbook, type RunbookMatch, type RunbookStep } from "../../domain/runbooks/runbook.ts";
import { CAUSE_CATEGORIES } from "../../domain/webhooks/webhook.ts";
import { either, flag, list, nullable, number, object, oneOf, optional, record, StoredForm, text } from "../state/stored-json.ts";
import type { StoredKind } from "../state/stored-table.ts";
import { ID_BYTES, idBytes, idText } from "../state/tables.ts";

type StepOf<T extends RunbookStep["type"]> = Extract<RunbookStep, { type: T }>;

const HEAD = { name: text, approvalRequired: flag };
const STEP = either(
  either(
    object<StepOf<"http">>({
      ...HEAD,
      type: oneOf(["http"]),
      method: oneOf(HTTP_METHODS),
      url: text,
      headers: record(text),
      body: nullable(text),
      timeoutSeconds: number,
      idempotent: flag,
    }),
    object<StepOf<"notify">>({ ...HEAD, type: oneOf(["notify"]), channels: list(text), message: text }),
  ),
  either(
    object<StepOf<"wait">>({ ...HEAD, type: oneOf(["wait"]), seconds: number }),
    either(
      object<StepOf<"annotate">>({ ...HEAD, type: oneOf(["annotate"]), text }),
      object<StepOf<"silence">>({ ...HEAD, type: oneOf(["silence"]), seconds: number, comment: text }),
    ),
  ),
);

const RUNBOOK_MEMBERS = {
  id: text,
  tenant: text,
  name: text,
  revision: number,
  match: object<RunbookMatch>({
    serviceIdRegex: nullable(text),
    metricNameRegex: nullable(text),
    minAnomalyScore: number,
    rootCauseCategory: nullable(oneOf(CAUSE_CATEGORIES)),
    environments: nullable(list(text)),
    severities: nullable(list(oneOf(["low", "medium", "high"]))),
  }),
  dryRun: flag,
  approvalRequired: flag,
  auto: flag,
  steps: list(STEP),
  secrets: record(text),
  createdAtMs: number,
  updatedAtMs: number,
} as const;

/** Runbooks in the order of their ids. */
export const RUNBOOKS: StoredKind<Runbook> = {
  table: "runbooks",
  form: new StoredForm<Runbook>("runbooks", RUNBOOK_MEMBERS),
  key: ({ tenant, id }) => new KeyBuilder().text(tenant).text(id).finish(),
  idOf: ({ id }) => id,
};

export const EXECUTION = new StoredForm<Execution>("runbook_executions", {
  id: text,
  tenant: text,
  runbook: object<Runbook>(RUNBOOK_MEMBERS),
  anomalyId: text,
  facts: record(text),
  dryRun: flag,
  startedBy: nullable(text),
  starter: optional(nullable(text)),
  state: oneOf(EXECUTION_STATES),
  steps: list(
    object<StepRun>({
      state: oneOf(STEP_STATES),
      decision: nullable(object<Decision>({ by: text, atMs: number, comment: text })),
      attempts: number,
      startedAtMs: nullable(number),
      endedAtMs: nullable(number),
      untilMs: nullable(number),
      statusCode: nullable(number),
      result: nullable(text),
    }),
  ),
  createdAtMs: number,
  waitingSinceMs: number,
  endedAtMs: nullable(number),
  reason: nullable(text),
});

const TIME_DIGITS = 12;
const ID_DIGITS = 32;

/** Id of a run made at a time. `rest` has at least twenty hex digits. */
export function executionId(nowMs: number, rest: string): string {
  return `${nowMs.toString(16).padStart(TIME_DIGITS, "0")}${rest}`.slice(0, ID_DIGITS);
}

export function executionKey(tenant: string, id: string): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(id)).finish();
}

/** Bound of a tenant's runs that were made at that time or later. */
export function executionBound(tenant: string, timeMs: number): Uint8Array {
  return executionKey(tenant, executionId(timeMs, "0".repeat(ID_DIGITS)));
}

/** Bound above all runs of a tenant. */
export function executionsEnd(tenant: string): Uint8Array {
  return executionKey(tenant, "f".repeat(ID_DIGITS));
}

export function parseExecutionKey(key: Uint8Array): { readonly tenant: string; readonly id: string } {
  const reader = new KeyReader(key);
  return { tenant: reader.text(), id: idText(reader.fixed(ID_BYTES)) };
}
