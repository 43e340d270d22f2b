// POST /api/v1/alerts/webhook: alerts of an Alertmanager are handled as anomalies that the service has found itself (rule 1.1.15). They are committed at once, in
// one transaction; one that was taken before changes nothing.
import { done, type Outcome } from "../../../api/refusal.ts";
import type { Anomaly } from "../../../domain/anomaly/anomaly.ts";
import { type WebhookAlert, webhookEpisode } from "../../../domain/anomaly/webhook-alert.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { AnalysisContext } from "./analysis-context.ts";

/** Takes alerts. */
export function takeAlerts(context: AnalysisContext, request: QueryRequest<"alertWebhook">): Promise<Outcome<unknown>> {
  const { tenant } = request.principal;
  const { alerts, commonLabels } = request.body;
  return context.change(request, () => {
    const draft = context.draftAlerts();
    const verdicts = context.draftVerdicts(draft);
    const nowMs = context.nowMs();
    const taken = alerts.map((alert) => {
      const frame = webhookEpisode(tenant, { ...alert, labels: { ...commonLabels, ...alert.labels } }, nowMs);
      verdicts.add(frame);
      return { frame, status: alert.status };
    });
    const operations = [...verdicts.operations(), ...draft.operations()];
    // Alerts that were resolved before they were ever taken say nothing.
    const named = taken.flatMap(({ frame, status }) => {
      const anomaly = verdicts.anomalyOf(frame);
      return anomaly === undefined ? [] : [{ anomaly, status }];
    });
    const answer = done(answerOf(named));
    if (operations.length === 0) return { ok: "unchanged", outcome: answer };
    return {
      ok: true,
      note: { action: "alert.take", object: named[0]?.anomaly.id ?? "", before: null, after: { alerts: alerts.length } },
      operations,
      apply: () => {
        context.takeVerdicts(verdicts);
        context.takeAlerts(draft);
        return [];
      },
      outcome: answer,
    };
  });
}

interface TakenAlert {
  readonly anomaly: Anomaly;
  readonly status: WebhookAlert["status"];
}

function answerOf(taken: readonly TakenAlert[]) {
  const anomalies = taken.map(({ anomaly, status }) => ({
    anomaly_id: anomaly.id,
    status,
    rca_triggered: anomaly.paging?.rcaTriggered === true,
  }));
  return {
    status: "ok",
    rca_triggered: anomalies.some(({ rca_triggered }) => rca_triggered),
    anomaly_id: anomalies[0]?.anomaly_id ?? "",
    anomalies,
  };
}
