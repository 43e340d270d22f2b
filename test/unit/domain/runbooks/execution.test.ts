// A run of a runbook moves as its steps say, ends in a state that is true, and does no request twice whose outcome is not known.
import { describe, expect, test } from "vitest";
import { RUNBOOK_APPROVAL_MS_MAX } from "../../../../src/core/config/runbook-limits.ts";
import {
  advanced,
  begun,
  cancelled,
  currentStep,
  decided,
  done,
  type Execution,
  failed,
  newExecution,
  recovered,
  uncertain,
} from "../../../../src/domain/runbooks/execution.ts";
import type { Runbook, RunbookStep } from "../../../../src/domain/runbooks/runbook.ts";

const HTTP: RunbookStep = {
  name: "go",
  approvalRequired: false,
  type: "http",
  method: "POST",
  url: "https://example.com/",
  headers: {},
  body: null,
  timeoutSeconds: 10,
  idempotent: false,
};
const NOTE: RunbookStep = { name: "note", approvalRequired: false, type: "annotate", text: "seen" };
const WAIT: RunbookStep = { name: "wait", approvalRequired: false, type: "wait", seconds: 5 };

function runOf(steps: readonly RunbookStep[], more: Partial<Runbook> = {}, dryRun = false): Execution {
  const match = {
    serviceIdRegex: null,
    metricNameRegex: null,
    minAnomalyScore: 0.7,
    rootCauseCategory: null,
    environments: null,
    severities: null,
  };
  const head = { id: "r", tenant: "default", name: "R", revision: 1, match, secrets: {}, createdAtMs: 0, updatedAtMs: 0 };
  const runbook: Runbook = { ...head, dryRun: false, approvalRequired: false, auto: false, steps, ...more };
  return newExecution({ id: "a".repeat(32), tenant: "default", runbook, anomalyId: "", facts: {}, startedBy: "me", dryRun, nowMs: 0 });
}

const states = ({ steps }: Execution) => steps.map(({ state }) => state);
const DECISION = { by: "you", atMs: 1, comment: "no" };

describe("a run", () => {
  test("does its steps one after another and succeeds", () => {
    const first = advanced(runOf([NOTE, WAIT, HTTP]), 0);
    expect(first.next).toMatchObject({ kind: "do", index: 0 });
    const waiting = advanced(done(begun(first.execution, 0, 0), 0, "seen", 0), 0);
    expect(waiting.next).toEqual({ kind: "waits", untilMs: 5_000 });
    expect(advanced(waiting.execution, 4_999).next).toEqual({ kind: "waits", untilMs: 5_000 });
    const sending = advanced(waiting.execution, 5_000);
    expect(sending.next).toMatchObject({ kind: "do", index: 2 });
    const sent = begun(sending.execution, 2, 5_000);
    expect(advanced(sent, 5_001).next).toEqual({ kind: "waits", untilMs: null });
    const over = advanced(done(sent, 2, "answered 200", 5_002, 200), 5_002).execution;
    expect(over).toMatchObject({ state: "succeeded", endedAtMs: 5_002, reason: null });
    expect(states(over)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  test("ends at a step that failed, and skips those behind it", () => {
    const over = failed(begun(runOf([HTTP, NOTE]), 0, 0), 0, "answered 500", 1, 500);
    expect(over).toMatchObject({ state: "failed", reason: "step go: answered 500" });
    expect(states(over)).toEqual(["failed", "skipped"]);
  });

  test("that is dry shows all and does nothing", () => {
    for (const run of [runOf([HTTP, NOTE], {}, true), runOf([HTTP, NOTE], { dryRun: true })]) {
      expect(run).toMatchObject({ state: "succeeded", dryRun: true });
      expect(states(run)).toEqual(["rendered", "rendered"]);
      expect(advanced(run, 1).next).toEqual({ kind: "waits", untilMs: null });
    }
  });
});

describe("an approval", () => {
  const waiting = (more: Partial<Runbook> = {}) =>
    advanced(
      runOf(
        [
          { ...HTTP, approvalRequired: true },
          { ...NOTE, approvalRequired: true },
        ],
        more,
      ),
      0,
    );

  test("is waited for, holds for one step, and the next one waits again", () => {
    const { execution, next } = waiting();
    expect(execution.state).toBe("pending_approval");
    expect(next).toEqual({ kind: "waits", untilMs: RUNBOOK_APPROVAL_MS_MAX });
    const approved = advanced(decided(execution, true, DECISION), 1);
    expect(approved.next).toMatchObject({ kind: "do", index: 0 });
    const second = advanced(done(begun(approved.execution, 0, 1), 0, "answered 200", 2, 200), 2).execution;
    expect(second.state).toBe("pending_approval");
    expect(currentStep(second)).toBe(1);
  });

  test("of the whole runbook is the first step's", () => {
    expect(advanced(runOf([NOTE], { approvalRequired: true }), 0).execution.state).toBe("pending_approval");
  });

  test("that does not come in a day expires, and one that is refused ends the run", () => {
    const { execution } = waiting();
    expect(advanced(execution, RUNBOOK_APPROVAL_MS_MAX - 1).execution.state).toBe("pending_approval");
    const expired = advanced(execution, RUNBOOK_APPROVAL_MS_MAX).execution;
    expect(expired.state).toBe("expired");
    expect(states(expired)).toEqual(["skipped", "skipped"]);
    const rejected = decided(execution, false, DECISION);
    expect(rejected).toMatchObject({ state: "rejected", reason: "step go was rejected by you: no" });
    expect(states(rejected)).toEqual(["rejected", "skipped"]);
  });
});

describe("an outcome that nobody knows", () => {
  test("interrupts the run, unless the step is idempotent: then it is done again, three times at most", () => {
    expect(recovered(begun(runOf([HTTP, NOTE]), 0, 0), 1)).toMatchObject({ state: "interrupted" });
    let run = runOf([{ ...HTTP, idempotent: true }]);
    for (const attempt of [1, 2]) {
      run = recovered(begun(run, 0, 0), 1);
      expect([attempt, run.state, states(run)]).toEqual([attempt, "running", ["waiting"]]);
    }
    expect(recovered(begun(run, 0, 0), 1)).toMatchObject({ state: "failed" });
  });

  test("is no matter where nothing was under way", () => {
    for (const run of [
      runOf([HTTP]),
      advanced(runOf([WAIT]), 0).execution,
      advanced(runOf([{ ...HTTP, approvalRequired: true }]), 0).execution,
    ]) {
      expect(recovered(run, 1)).toBe(run);
    }
  });

  test("of a run that was cancelled meanwhile is noted at its step, and the run stays as it ended", () => {
    const over = cancelled(begun(runOf([HTTP, NOTE]), 0, 0), DECISION);
    expect(over).toMatchObject({ state: "cancelled", reason: "cancelled by you: no" });
    expect(states(over)).toEqual(["interrupted", "skipped"]);
    for (const [late, state] of [
      [done(over, 0, "answered 200", 2, 200), "succeeded"],
      [failed(over, 0, "answered 500", 2, 500), "failed"],
      [uncertain(over, 0, "no answer", 2), "interrupted"],
    ] as const) {
      expect([late.state, states(late)[0]]).toEqual(["cancelled", state]);
    }
  });
});
