// Steps that change the server alone: notices, notes and silences. What one does is stored in the transaction that stores that it was done.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { SILENCES_PER_TENANT_MAX } from "../../core/config/limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { type AlertMessage, OF_NO_ALERT } from "../../domain/notification/alert-message.ts";
import type { Execution } from "../../domain/runbooks/execution.ts";
import { textOf } from "../../domain/runbooks/rendered-step.ts";
import type { RunbookStep } from "../../domain/runbooks/runbook.ts";
import { ANNOTATION, annotationKey } from "../anomalies/annotation-row.ts";
import type { ChannelDraft } from "../notification/channel-draft.ts";
import { type StoredSilence, silenceOperation } from "../silences/silence-book.ts";
import { noticeId } from "./execution-store.ts";
import type { RunbookState } from "./runbook-state.ts";

type LocalStep = Exclude<RunbookStep, { type: "http" | "wait" }>;

export interface LocalOutcome {
  readonly ok: boolean;
  readonly result: string;
}

export interface LocalStepsDependencies {
  readonly state: RunbookState;
  /** Made once it is needed. */
  notices(): ChannelDraft;
  readonly isAnyChannelConfigured: boolean;
  readonly nowMs: number;
}

/** Those of one transaction. */
export class LocalSteps {
  readonly #dependencies: LocalStepsDependencies;
  readonly #operations: StoreOperation[] = [];
  readonly #silences: StoredSilence[] = [];
  #notices: ChannelDraft | undefined;

  constructor(dependencies: LocalStepsDependencies) {
    this.#dependencies = dependencies;
  }

  operations(): StoreOperation[] {
    const silences = this.#silences.map((silence) => silenceOperation(silence, silence));
    return [...this.#operations, ...silences, ...(this.#notices?.operations([]) ?? [])];
  }

  apply(): void {
    for (const silence of this.#silences) this.#dependencies.state.configured.silences.put(silence);
    this.#notices?.apply();
  }

  do(execution: Execution, index: number, step: LocalStep): LocalOutcome {
    if (step.type === "notify") return this.#notify(execution, index, step);
    if (step.type === "annotate") return this.#annotate(execution, index, step);
    return this.#silence(execution, index, step);
  }

  #notify(execution: Execution, index: number, { channels, message }: Extract<LocalStep, { type: "notify" }>): LocalOutcome {
    const { isAnyChannelConfigured, nowMs } = this.#dependencies;
    if (!isAnyChannelConfigured) return { ok: false, result: "nobody is notified: no channel is configured" };
    const { facts, tenant, runbook } = execution;
    const severity = facts.severity === "high" || facts.severity === "medium" ? facts.severity : "low";
    const notice: AlertMessage = {
      ...OF_NO_ALERT,
      kind: "notice",
      tenant,
      alertId: noticeId(execution.id, index),
      severity,
      serviceId: facts.service_id ?? "",
      environment: facts.environment ?? "",
      source: "runbook",
      metricName: runbook.name,
      explanation: textOf(message, facts),
      startedAtMs: execution.createdAtMs,
      atMs: nowMs,
    };
    this.#notices ??= this.#dependencies.notices();
    const notified = this.#notices.notice(notice, channels);
    return notified.length > 0
      ? { ok: true, result: `handed to ${notified.join(", ")}` }
      : { ok: false, result: `${channels.join(", ")} name no destination that is configured` };
  }

  #annotate(execution: Execution, index: number, step: Extract<LocalStep, { type: "annotate" }>): LocalOutcome {
    const { tenant, anomalyId, id: executionId, runbook, facts } = execution;
    if (anomalyId === "") return { ok: true, result: "it was started without an anomaly: nothing is noted" };
    const note = { text: textOf(step.text, facts), atMs: this.#dependencies.nowMs, executionId, runbookName: runbook.name };
    const key = annotationKey(tenant, anomalyId, executionId, index);
    this.#operations.push({ table: "annotations", key, value: ANNOTATION.encode(note) });
    return { ok: true, result: note.text };
  }

  #silence(execution: Execution, index: number, { seconds, comment }: Extract<LocalStep, { type: "silence" }>): LocalOutcome {
    const { state, nowMs } = this.#dependencies;
    const { tenant, facts, id: executionId } = execution;
    const { silences } = state.configured;
    const { service_id: serviceId = "", environment = "" } = facts;
    const own = silences.listOf(tenant).length + this.#silences.filter((one) => one.tenant === tenant).length;
    if (own >= SILENCES_PER_TENANT_MAX || silences.shares.available(tenant) <= this.#silences.length) {
      return { ok: false, result: "there is no room for another silence" };
    }
    const id = hash128(JSON.stringify(["runbook silence", executionId, index]));
    const matchers = [
      { name: "service_id", operator: "=", value: serviceId },
      { name: "environment", operator: "=", value: environment },
    ] as const;
    const when = { kind: "once", startsAtMs: nowMs, endsAtMs: nowMs + seconds * 1_000 } as const;
    const createdBy = `runbook ${execution.runbook.id}`;
    this.#silences.push({ id, tenant, matchers, when, comment: textOf(comment, facts), createdBy, createdMs: nowMs });
    return { ok: true, result: `silence ${id} of ${serviceId} for ${seconds} s` };
  }
}
