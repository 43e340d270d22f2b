// What was held back, asked again at the end of each cycle: alerts that fire and that nobody was informed of, since a silence, an inhibition or a pause holds them;
// then open findings that came to no alert, or whose alert ended without them (domain/alerting/paging/asked-again.ts).
import { ALERTS_ASKED_PER_STEP } from "../../core/config/limits.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { askedAgain } from "../../domain/alerting/paging/asked-again.ts";
import type { AlertDraft } from "../alerts/alert-draft.ts";
import type { AnomalyKey, OpenAnomaly } from "../anomalies/anomaly-book.ts";
import type { VerdictDraft } from "../anomalies/verdict-draft.ts";
import type { WatchdogStage } from "../state/watchdog-stage.ts";
import type { StagesContext } from "./stages-context.ts";

/** The stage of the Watchdog that asks. Rejects with StoreError where the store takes no writes; what was asked is then asked with the next cycle. */
export function suppressedFindingsStage(context: StagesContext): WatchdogStage {
  const { state, paging, monotonicMs, nowMs } = context;
  return {
    name: "alerts",
    every: 1,
    run: async () => {
      const startMs = monotonicMs();
      const alerts = state.alerts.asked(nowMs(), paging.repeatMs);
      await askInSteps(context, alerts);
      const findings = [...state.anomalies.openAnomalies()].filter((open) => isAsked(context, open, nowMs()));
      await inSteps(context, findings, (some, _, verdicts) =>
        verdicts.askAgain(some.map(({ tenant, id, detectedAtMs }): AnomalyKey => ({ tenant, id, detectedAtMs }))),
      );
      return { counts: { evaluated: alerts.length + findings.length, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
    },
  };
}

/** Asks alerts again. */
export function askInSteps(context: StagesContext, alerts: readonly Alert[]): Promise<void> {
  return inSteps(context, alerts, (some, draft) => draft.askAgain(some));
}

function isAsked({ state, paging }: StagesContext, open: OpenAnomaly, nowMs: number): boolean {
  return askedAgain(open, paging, state.alerts.memory, nowMs) !== undefined;
}

/** Goes through what is asked in transactions of bounded size, between those of others. */
export async function inSteps<T>(
  { state, commits, edit }: StagesContext,
  asked: readonly T[],
  ask: (some: readonly T[], alerts: AlertDraft, verdicts: VerdictDraft) => void,
): Promise<void> {
  for (let at = 0; at < asked.length; at += ALERTS_ASKED_PER_STEP) {
    await edit(async () => {
      const alerts = commits.draftAlerts();
      const verdicts = commits.draftVerdicts(alerts);
      ask(asked.slice(at, at + ALERTS_ASKED_PER_STEP), alerts, verdicts);
      const operations = [...verdicts.operations(), ...alerts.operations()];
      if (operations.length === 0) return;
      await state.control.commit(operations);
      commits.takeVerdicts(verdicts);
      commits.takeAlerts(alerts);
    });
  }
}
