/**
 * Requests of runbooks on their way. A step is stored as begun before its request leaves, and with its outcome before the run goes on; what a crash or the end of the
 * notifier cuts off is therefore known to have been under way, and repeated only where its runbook says that this does no harm. The row of a request is its run.
 */
import {
  RUNBOOK_REQUESTS_PER_TENANT_MAX,
  RUNBOOK_RESULT_CHARACTERS_MAX,
  RUNBOOK_SENT_BODY_CHARACTERS_MAX,
} from "../../core/config/runbook-limits.ts";
import { messageOf } from "../../core/text/error-text.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import { advanced, begun, currentStep, done, type Execution, failed, uncertain } from "../../domain/runbooks/execution.ts";
import { requestOf, shownAnswer } from "../../domain/runbooks/rendered-step.ts";
import type { HttpStep } from "../../domain/runbooks/runbook.ts";
import type { DeliveryReport, LeavingDelivery, TenantRequest } from "../../domain/webhooks/outbound-messages.ts";
import { keyOfText, keyText } from "../deliveries/delivery-key.ts";
import type { DeliveryKind, DeliveryWork } from "../deliveries/delivery-kind.ts";
import type { Outbox } from "../deliveries/outbox.ts";
import { executionOperations, readExecution } from "./execution-store.ts";
import { executionKey, parseExecutionKey } from "./runbook-row.ts";
import type { RunbookState } from "./runbook-state.ts";

export interface StepDeliveriesDependencies {
  readonly state: RunbookState;
  nowMs(): number;
  /** Has the notifier started where it does not run. */
  wantNotifier(): void;
  /** A run has changed, and is stored. */
  changed(execution: Execution): void;
}

/** The step that a run is at, where it is a request. */
interface RequestStep {
  readonly index: number;
  readonly step: HttpStep;
}

export class StepDeliveries implements DeliveryKind {
  readonly name = "step";
  readonly isStoredFirst = true;
  readonly #dependencies: StepDeliveriesDependencies;
  readonly #outbox: Outbox;

  constructor(outbox: Outbox, dependencies: StepDeliveriesDependencies) {
    this.#outbox = outbox;
    this.#dependencies = dependencies;
    outbox.register(this);
  }

  get places() {
    return this.#dependencies.state.shares.ledger("runbook_requests");
  }

  handedMost(): number {
    return RUNBOOK_REQUESTS_PER_TENANT_MAX;
  }

  mayLeave(): boolean {
    return true;
  }

  /** A run has come to a request. */
  want(execution: Execution): void {
    this.#outbox.queue.add(keyOf(execution), { kind: this, receiver: receiverOf(execution), isUrgent: false });
    if (!this.#outbox.isConnected) this.#dependencies.wantNotifier();
    this.#outbox.want();
  }

  /** A run is over. */
  forget(execution: Execution): void {
    this.#outbox.queue.remove(keyOf(execution), receiverOf(execution));
  }

  /** Whether a request of a run is under way. */
  isUnderWay(execution: Execution): boolean {
    return this.#outbox.queue.handed(keyOf(execution)) !== undefined;
  }

  leaving(key: string): LeavingDelivery[] {
    const execution = this.#read(key);
    const at = execution && requestUnderWay(execution);
    if (execution === undefined || at === undefined) return [];
    const request = sentRequest(execution, at);
    if (typeof request === "string") return [];
    const { tenant } = execution;
    return [{ key, tenant, dueAtMs: 0, rank: 0, joins: null, joined: null, kind: "step", request }];
  }

  work(reports: readonly DeliveryReport[], beginning: readonly string[]): DeliveryWork {
    const changed = new Map<string, Execution>();
    const back = new Set<string>();
    for (const report of reports) {
      if (report.kind !== "attempted") continue;
      for (const { key } of report.deliveries) {
        back.add(key);
        this.#end(key, report.outcome, changed);
      }
    }
    for (const key of beginning) if (!this.#begin(key, changed)) back.add(key);
    return {
      isFlushed: changed.size > 0,
      operations: () => [...changed.values()].flatMap(executionOperations),
      apply: () => {
        for (const key of back) this.#outbox.queue.release(key);
        for (const execution of changed.values()) this.#dependencies.changed(execution);
      },
      undone: () => undefined,
    };
  }

  /** Notes that a request is about to leave; false where it does not. */
  #begin(key: string, changed: Map<string, Execution>): boolean {
    const execution = this.#read(key);
    const { nowMs } = this.#dependencies;
    const next = execution && advanced(execution, nowMs()).next;
    if (execution === undefined || next?.kind !== "do" || next.step.type !== "http") return false; // it is over, or elsewhere by now
    const { index, step } = next;
    const started = begun(execution, index, nowMs());
    const request = sentRequest(execution, { index, step });
    changed.set(key, typeof request === "string" ? failed(started, index, request, nowMs()) : started);
    return typeof request !== "string";
  }

  #end(key: string, outcome: AttemptOutcome, changed: Map<string, Execution>): void {
    const execution = this.#read(key);
    const index = execution === undefined ? -1 : currentStep(execution);
    if (execution === undefined || index < 0) return;
    const nowMs = this.#dependencies.nowMs();
    changed.set(
      key,
      guarded(
        () => answered(execution, index, outcome, nowMs),
        (why) => failed(execution, index, why, nowMs),
      ),
    );
  }

  #read(key: string): Execution | undefined {
    const { tenant, id } = parseExecutionKey(keyOfText(key));
    return readExecution(this.#dependencies.state.control, tenant, id);
  }
}

/** What a run comes to; where its own content throws, what `otherwise` makes of it: one tenant's run ends, and never the server. */
export function guarded<T>(run: () => T, otherwise: (why: string) => T): T {
  try {
    return run();
  } catch (error) {
    return otherwise(`it cannot be done: ${messageOf(error)}`.slice(0, RUNBOOK_RESULT_CHARACTERS_MAX));
  }
}

function keyOf({ tenant, id }: Pick<Execution, "tenant" | "id">): string {
  return keyText(executionKey(tenant, id));
}

function receiverOf({ tenant }: Pick<Execution, "tenant">): string {
  return `runbooks of ${tenant}`;
}

function requestUnderWay(execution: Execution): RequestStep | undefined {
  const index = currentStep(execution);
  const step = execution.runbook.steps[index];
  return step?.type === "http" && execution.steps[index]?.state === "running" ? { index, step } : undefined;
}

/** The request of a step, or why it cannot be sent. */
function sentRequest(execution: Execution, { index, step }: RequestStep): TenantRequest | string {
  const request = guarded<ReturnType<typeof requestOf> | string>(
    () => requestOf(execution, index, step),
    (why) => why,
  );
  if (typeof request === "string") return request;
  const isTooLong = (request.body?.length ?? 0) > RUNBOOK_SENT_BODY_CHARACTERS_MAX;
  if (isTooLong) return `its body would have more than ${RUNBOOK_SENT_BODY_CHARACTERS_MAX} characters`;
  return { ...request, timeoutMs: step.timeoutSeconds * 1_000 };
}

/** A run after the answer to the request of a step. */
function answered(execution: Execution, index: number, outcome: AttemptOutcome, nowMs: number): Execution {
  const step = execution.runbook.steps[index];
  const masked = (text: string) => (step?.type === "http" ? shownAnswer(text, execution, step) : text);
  const { statusCode = null, text = "" } = outcome.answer ?? {};
  if (statusCode !== null) {
    const said = masked(text)
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, RUNBOOK_RESULT_CHARACTERS_MAX / 2);
    const result = `answered ${statusCode}${said === "" ? "" : `: ${said}`}`;
    return (outcome.kind === "delivered" ? done : failed)(execution, index, result, nowMs, statusCode);
  }
  if (outcome.kind === "delivered") return done(execution, index, "", nowMs);
  const error = masked(outcome.error).slice(0, RUNBOOK_RESULT_CHARACTERS_MAX);
  return outcome.kind === "retry" && outcome.mayHaveArrived
    ? uncertain(execution, index, error, nowMs)
    : failed(execution, index, error, nowMs);
}
