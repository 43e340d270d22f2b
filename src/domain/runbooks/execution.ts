/**
 * One run of a runbook, as a state and what moves it. A run keeps the runbook as it was when it began. Each step is stored before it is done and when it is done;
 * what only the server changes (notices, notes, silences) is stored with the step in one transaction, so only an http step can have an outcome that nobody knows.
 */
import { RUNBOOK_APPROVAL_MS_MAX } from "../../core/config/runbook-limits.ts";
import { attemptEnded, NEW_DELIVERY } from "../delivery/delivery.ts";
import { retryRequest } from "../delivery/retry-policies.ts";
import type { Runbook, RunbookStep } from "./runbook.ts";
import type { Facts } from "./template.ts";

export const EXECUTION_STATES = [
  "pending_approval",
  "running",
  "succeeded",
  "failed",
  "rejected",
  "expired",
  "cancelled",
  "interrupted",
] as const;
export type ExecutionState = (typeof EXECUTION_STATES)[number];

/** `rendered`: of a dry run; `skipped`: the run ended before it; `interrupted`: its outcome is not known. */
export const STEP_STATES = [
  "waiting",
  "pending_approval",
  "running",
  "succeeded",
  "failed",
  "rejected",
  "interrupted",
  "skipped",
  "rendered",
] as const;
export type StepState = (typeof STEP_STATES)[number];

/** Who decided on a step, and what was said. */
export interface Decision {
  readonly by: string;
  readonly atMs: number;
  readonly comment: string;
}

export interface StepRun {
  readonly state: StepState;
  readonly decision: Decision | null;
  readonly attempts: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** End of a wait. */
  readonly untilMs: number | null;
  readonly statusCode: number | null;
  /** Result in words; null before. */
  readonly result: string | null;
}

export interface Execution {
  /** 32 hex digits, the first twelve the time when it was made: runs of a tenant stand in the order of their ids. */
  readonly id: string;
  readonly tenant: string;
  /** As it was. */
  readonly runbook: Runbook;
  /** Empty where it was started without one. */
  readonly anomalyId: string;
  readonly facts: Facts;
  readonly dryRun: boolean;
  /** Subject of who started it; null where it started by itself. */
  readonly startedBy: string | null;
  /** The person who counts as having started it: the owner of a key; of one that started by itself who declared its anomaly. Null where nobody did. */
  readonly starter?: string | null | undefined;
  readonly state: ExecutionState;
  readonly steps: readonly StepRun[];
  readonly createdAtMs: number;
  /** When it began to wait for the approval that it waits for. */
  readonly waitingSinceMs: number;
  readonly endedAtMs: number | null;
  /** Why it ended as it did; null where it succeeded, and before. */
  readonly reason: string | null;
}

/** Next action of the run; `waits`: nothing now, at the time given or when somebody does something. */
export type NextAction =
  | { readonly kind: "do"; readonly index: number; readonly step: RunbookStep }
  | { readonly kind: "waits"; readonly untilMs: number | null };

const NEW: StepRun = {
  state: "waiting",
  decision: null,
  attempts: 0,
  startedAtMs: null,
  endedAtMs: null,
  untilMs: null,
  statusCode: null,
  result: null,
};

export interface ExecutionStart extends Pick<Execution, "id" | "tenant" | "runbook" | "anomalyId" | "facts" | "startedBy" | "starter"> {
  readonly dryRun: boolean;
  readonly nowMs: number;
}

/** A run as it is made. A dry run is over at once: it shows what would be done. */
export function newExecution({ nowMs, ...start }: ExecutionStart): Execution {
  const dryRun = start.dryRun || start.runbook.dryRun;
  const steps = start.runbook.steps.map((): StepRun => (dryRun ? { ...NEW, state: "rendered" } : NEW));
  const state = dryRun ? "succeeded" : "running";
  return { ...start, dryRun, state, steps, createdAtMs: nowMs, waitingSinceMs: nowMs, endedAtMs: dryRun ? nowMs : null, reason: null };
}

/** Whether it is not over. */
export function isOpen({ state }: Pick<Execution, "state">): boolean {
  return state === "running" || state === "pending_approval";
}

/** Place of the step that it is at; -1 where all are done. */
export function currentStep({ steps }: Pick<Execution, "steps">): number {
  return steps.findIndex(({ state }) => state !== "succeeded");
}

/** Whether a step needs an approval: its own, or the first one's for the whole run. */
export function needsApproval({ approvalRequired, steps }: Runbook, index: number): boolean {
  return steps[index]?.approvalRequired === true || (index === 0 && approvalRequired);
}

/** The run as far as it goes without anything being done, and what it needs then. */
export function advanced(execution: Execution, nowMs: number): { readonly execution: Execution; readonly next: NextAction } {
  const waits = (one: Execution, untilMs: number | null = null) => ({ execution: one, next: { kind: "waits", untilMs } as const });
  if (execution.state === "pending_approval") {
    const untilMs = execution.waitingSinceMs + RUNBOOK_APPROVAL_MS_MAX;
    return nowMs < untilMs ? waits(execution, untilMs) : waits(ended(execution, "expired", "nobody approved it within 24 hours", nowMs));
  }
  if (execution.state !== "running") return waits(execution);
  const index = currentStep(execution);
  if (index < 0) return waits(ended(execution, "succeeded", null, nowMs));
  const step = execution.runbook.steps[index] as RunbookStep;
  const run = execution.steps[index] as StepRun;
  if (run.decision === null && needsApproval(execution.runbook, index)) {
    const waiting = withStep({ ...execution, state: "pending_approval", waitingSinceMs: nowMs }, index, { state: "pending_approval" });
    return waits(waiting, nowMs + RUNBOOK_APPROVAL_MS_MAX);
  }
  if (step.type !== "wait") return run.state === "running" ? waits(execution) : { execution, next: { kind: "do", index, step } };
  const untilMs = run.untilMs ?? nowMs + step.seconds * 1_000;
  const started = { state: "running", startedAtMs: run.startedAtMs ?? nowMs, untilMs } as const;
  if (nowMs < untilMs) return waits(withStep(execution, index, started), untilMs);
  return advanced(done(withStep(execution, index, started), index, `waited ${step.seconds} s`, nowMs), nowMs);
}

/** A step as it begins. */
export function begun(execution: Execution, index: number, nowMs: number): Execution {
  const { attempts } = execution.steps[index] as StepRun;
  return withStep(execution, index, { state: "running", startedAtMs: nowMs, attempts: attempts + 1 });
}

/** A step that was done. */
export function done(execution: Execution, index: number, result: string, nowMs: number, statusCode: number | null = null): Execution {
  return withStep(execution, index, { state: "succeeded", endedAtMs: nowMs, result, statusCode });
}

/** A step that failed; the run with it. Of a run that is over only the step changes. */
export function failed(execution: Execution, index: number, result: string, nowMs: number, statusCode: number | null = null): Execution {
  const noted = withStep(execution, index, { state: "failed", endedAtMs: nowMs, result, statusCode });
  return isOpen(execution) ? ended(noted, "failed", `${nameOf(execution, index)}: ${result}`, nowMs) : noted;
}

/** A step whose outcome nobody knows: done again where it is idempotent, a few times; else the run ends here. */
export function uncertain(execution: Execution, index: number, result: string, nowMs: number): Execution {
  const step = execution.runbook.steps[index];
  if (!isOpen(execution)) return withStep(execution, index, { state: "interrupted", result });
  const { attempts } = execution.steps[index] as StepRun;
  const isIdempotent = step?.type === "http" && step.idempotent;
  const outcome = { kind: "retry", error: result, afterMs: null, mayHaveArrived: true } as const;
  const { state } = attemptEnded({ ...NEW_DELIVERY, attempts }, { outcome, nowMs, random: 0 }, retryRequest(isIdempotent));
  if (state === "pending") return withStep(execution, index, { state: "waiting", result });
  if (isIdempotent) return failed(execution, index, `${result} (${attempts} attempts)`, nowMs);
  const noted = withStep(execution, index, { state: "interrupted", endedAtMs: nowMs, result });
  const why = `${nameOf(execution, index)}: it may have been done, nobody knows, and it is not done again (${result})`;
  return ended(noted, "interrupted", why, nowMs);
}

/** The run as a start finds it: a request that was under way has an outcome that nobody knows. */
export function recovered(execution: Execution, nowMs: number): Execution {
  const index = currentStep(execution);
  const isCut = index >= 0 && execution.steps[index]?.state === "running" && execution.runbook.steps[index]?.type === "http";
  if (execution.state !== "running" || !isCut) return execution;
  return uncertain(execution, index, "the server ended while its request was under way", nowMs);
}

/** The step that it waits for was approved, or rejected. */
export function decided(execution: Execution, isApproved: boolean, decision: Decision): Execution {
  const index = currentStep(execution);
  if (isApproved) return withStep({ ...execution, state: "running" }, index, { state: "waiting", decision });
  const rejected = withStep(execution, index, { state: "rejected", decision, endedAtMs: decision.atMs });
  const comment = decision.comment === "" ? "" : `: ${decision.comment}`;
  return ended(rejected, "rejected", `${nameOf(execution, index)} was rejected by ${decision.by}${comment}`, decision.atMs);
}

/** Somebody ends it. A request that is under way may still be answered, which is noted. */
export function cancelled(execution: Execution, { by, atMs, comment }: Decision): Execution {
  const index = currentStep(execution);
  const isUnderWay = execution.steps[index]?.state === "running" && execution.runbook.steps[index]?.type === "http";
  const noted = isUnderWay
    ? withStep(execution, index, { state: "interrupted", result: "the run was cancelled while its request was under way" })
    : execution;
  return ended(noted, "cancelled", `cancelled by ${by}${comment === "" ? "" : `: ${comment}`}`, atMs);
}

function ended(execution: Execution, state: ExecutionState, reason: string | null, nowMs: number): Execution {
  const steps = execution.steps.map((step): StepRun => {
    const isOver = step.state !== "waiting" && step.state !== "pending_approval" && !(step.state === "running" && step.untilMs !== null);
    return isOver ? step : { ...step, state: "skipped" };
  });
  return { ...execution, steps, state, reason, endedAtMs: nowMs };
}

function withStep(execution: Execution, position: number, change: Partial<StepRun>): Execution {
  const steps = execution.steps.map((step, index) => (index === position ? { ...step, ...change } : step));
  return { ...execution, steps };
}

function nameOf({ runbook }: Execution, index: number): string {
  return `step ${runbook.steps[index]?.name ?? index}`;
}
