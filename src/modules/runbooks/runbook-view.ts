// Runbooks and their runs as clients see them: what is secret is `***`.
import { createHmac } from "node:crypto";
import { isObject } from "../../core/collections/own-member.ts";
import { RUNBOOK_APPROVAL_MS_MAX } from "../../core/config/runbook-limits.ts";
import { HIDDEN } from "../../core/text/secret.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { currentStep, type Execution, needsApproval, type StepRun } from "../../domain/runbooks/execution.ts";
import { shownAction, shownRequest } from "../../domain/runbooks/rendered-step.ts";
import type { Runbook, RunbookStep } from "../../domain/runbooks/runbook.ts";
import type { FaultPause } from "../../domain/webhooks/fault-pauses.ts";

const DIGEST_DIGITS = 32;

const at = (ms: number | null) => (ms === null ? null : formatRfc3339(ms));
const hidden = (named: Readonly<Record<string, string>>) => Object.fromEntries(Object.keys(named).map((name) => [name, HIDDEN]));

/** What a digest is made with. */
export interface DigestState {
  /** The server's own secret: without it secrets could be guessed from a digest. */
  readonly pageSecret: Uint8Array;
}

/** Digest of what a runbook does, its secrets included: the same for the same content, whatever its revision. */
export function contentDigest({ pageSecret }: DigestState, runbook: Runbook): string {
  const { name, match, dryRun, approvalRequired, auto, steps, secrets } = runbook;
  const content = JSON.stringify({ name, match, dryRun, approvalRequired, auto, steps, secrets }, (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
  return createHmac("sha256", pageSecret).update(`runbook ${content}`).digest("hex").slice(0, DIGEST_DIGITS);
}

/** A runbook, with why it does not run now. */
export function runbookView(state: DigestState, runbook: Runbook, pause: FaultPause | null = null) {
  const { id, name, revision, match, dryRun, approvalRequired, auto, steps, secrets, createdAtMs, updatedAtMs } = runbook;
  return {
    id,
    name,
    revision,
    digest: contentDigest(state, runbook),
    match: {
      service_id_regex: match.serviceIdRegex,
      metric_name_regex: match.metricNameRegex,
      min_anomaly_score: match.minAnomalyScore,
      root_cause_category: match.rootCauseCategory,
      environments: match.environments,
      severity: match.severities,
    },
    dry_run: dryRun,
    approval_required: approvalRequired,
    auto,
    steps: steps.map(stepView),
    secrets: hidden(secrets),
    paused: pause && { until: formatRfc3339(pause.untilMs), failures: pause.failures, error: pause.error },
    created_at: formatRfc3339(createdAtMs),
    updated_at: formatRfc3339(updatedAtMs),
  };
}

function stepView(step: RunbookStep) {
  const { approvalRequired: approval_required, name, type, ...rest } = step;
  const head = { name, type, approval_required };
  if (step.type !== "http") return { ...head, ...rest };
  const { method, url, headers, body, timeoutSeconds: timeout_seconds, idempotent } = step;
  return { ...head, method, url, headers: hidden(headers), body, timeout_seconds, idempotent };
}

export function executionView(known: DigestState, execution: Execution) {
  const { runbook, state, facts, anomalyId, waitingSinceMs } = execution;
  const pending = state === "pending_approval" ? (runbook.steps[currentStep(execution)] ?? null) : null;
  return {
    execution_id: execution.id,
    runbook_id: runbook.id,
    runbook_name: runbook.name,
    revision: runbook.revision,
    digest: contentDigest(known, runbook),
    anomaly_id: anomalyId === "" ? null : anomalyId,
    service_id: facts.service_id ?? null,
    state,
    dry_run: execution.dryRun,
    started_by: execution.startedBy,
    starter: execution.starter ?? execution.startedBy,
    pending_step: pending?.name ?? null,
    expires_at: pending === null ? null : formatRfc3339(waitingSinceMs + RUNBOOK_APPROVAL_MS_MAX),
    created_at: formatRfc3339(execution.createdAtMs),
    ended_at: at(execution.endedAtMs),
    reason: execution.reason,
    steps: execution.steps.map((run, index) => stepRunView(execution, run, index)),
  };
}

function stepRunView(execution: Execution, run: StepRun, index: number) {
  const step = execution.runbook.steps[index] as RunbookStep;
  const { decision, state, attempts, statusCode, result, startedAtMs, endedAtMs } = run;
  return {
    name: step.name,
    type: step.type,
    state,
    approval_required: needsApproval(execution.runbook, index),
    decided_by: decision?.by ?? null,
    decided_at: at(decision?.atMs ?? null),
    comment: decision?.comment ?? null,
    action: shownAction(step, execution.facts),
    request: step.type === "http" ? shownRequest(execution, step) : null,
    attempts,
    status_code: statusCode,
    result,
    started_at: at(startedAtMs),
    ended_at: at(endedAtMs),
  };
}
