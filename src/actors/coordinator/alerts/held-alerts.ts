// Alerts that fire and that nobody was informed of, since a silence, an inhibition or a flapping pause held them back: asked again at the end of each cycle.
import type { StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { ALERTS_ASKED_PER_STEP } from "../../../core/config/limits.ts";
import type { CoordinatorMessage } from "../../../core/protocol/query.ts";
import type { PagingSources } from "../../../domain/alerting/paging/paging-sources.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { WatchdogStage } from "../state/watchdog-stage.ts";
import { countAlerts } from "./alert-counts.ts";
import { AlertDraft } from "./alert-draft.ts";
import type { AlertBooks } from "./alerts-context.ts";

export interface HeldAlertsDependencies {
  readonly state: StateWith<AlertBooks>;
  readonly paging: PagingSources;
  readonly counters: CoordinatorCounters;
  readonly alertsMax: number;
  nowMs(): number;
  monotonicMs(): number;
  emit(message: CoordinatorMessage): void;
  /** Does work that writes, between the transactions of others. */
  edit<T>(work: () => Promise<T>): Promise<T>;
}

/** The stage of the Watchdog that asks. Rejects with StoreError where the store takes no writes; they are then asked with the next cycle. */
export function heldAlertsStage(dependencies: HeldAlertsDependencies): WatchdogStage {
  const { state, edit, monotonicMs } = dependencies;
  return {
    name: "alerts",
    every: 1,
    run: async () => {
      const startMs = monotonicMs();
      const ids = state.alerts.held.map((alert) => alert.state.id);
      for (let at = 0; at < ids.length; at += ALERTS_ASKED_PER_STEP) {
        await edit(() => askAgain(ids.slice(at, at + ALERTS_ASKED_PER_STEP), dependencies));
      }
      return { counts: { evaluated: ids.length, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
    },
  };
}

async function askAgain(ids: readonly string[], dependencies: HeldAlertsDependencies): Promise<void> {
  const { state, paging, counters, alertsMax, nowMs, emit } = dependencies;
  const draft = new AlertDraft(state.alerts, paging, nowMs(), alertsMax);
  draft.askAgain(ids.flatMap((id) => state.alerts.memory.alert(id) ?? []));
  const operations: StoreOperation[] = draft.operations();
  if (operations.length === 0) return;
  await state.control.commit(operations);
  countAlerts(counters, state, draft.apply());
  emit({ type: "events", events: draft.events() });
}
