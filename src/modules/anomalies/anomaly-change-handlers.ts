// PATCH /api/v1/anomalies/{id} and POST /api/v1/anomalies: what people say of anomalies, and those that they declare.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { OPINIONS_PER_SERVICE_MAX } from "../../core/config/limits.ts";
import { withOpinion } from "../../domain/alerting/feedback.ts";
import { type Alert, isFiring } from "../../domain/alerting/paging/alert.ts";
import { familyOfDetector } from "../../domain/alerting/paging/detector-family.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { endWord } from "../../domain/anomaly/ending.ts";
import { manualEpisode } from "../../domain/anomaly/manual-finding.ts";
import { nameFlaw } from "../../domain/series/name-rule.ts";
import type { ServiceOpinions } from "../alerts/feedback-book.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { AnomaliesContext } from "./anomalies-context.ts";
import { anomalyDetail, unknownAnomaly } from "./anomaly-handlers.ts";
import { EndedAnomalies } from "./ended-anomalies.ts";

const MANUAL_METRIC = "service.manual";

/** Resolves an anomaly, or takes what somebody says of it. */
export function changeAnomaly(context: AnomaliesContext, request: QueryRequest<"changeAnomaly">): Promise<Outcome<unknown>> {
  const { state } = context;
  const { tenant, subject } = request.principal;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    const before = state.anomalies.find(tenant, id);
    if (before === undefined) return unknownAnomaly(id);
    const after = changed(before, request.body, subject, context.nowMs());
    if (after === before) return { ok: "unchanged", outcome: done(anomalyDetail(context, before)) };
    const opinions = after.feedback === before.feedback ? undefined : opinionsWith(context, after);
    if (opinions === "full")
      return refused("unprocessable", `${state.alerts.feedback.shares.taken} services have opinions already; they wear off in two weeks`);
    const ended = new EndedAnomalies(context, tenant, { reason: "person", person: subject });
    const falseAlarm = request.body.feedback === "false_positive" ? alertOfPeak(context, before) : undefined;
    if (falseAlarm === undefined) ended.put(before, after);
    else ended.endWithAlert({ before, after }, falseAlarm, "a false alarm");
    return {
      ok: true,
      note: { action: "anomaly.change", object: id, before: byHand(before), after: byHand(after) },
      operations: [...ended.operations(), ...(opinions === undefined ? [] : [state.alerts.feedback.operation(opinions)])],
      apply: () => {
        if (opinions !== undefined) state.alerts.feedback.put(opinions);
        ended.apply();
      },
      outcome: done(anomalyDetail(context, after)),
    };
  });
}

/** The firing alert that an anomaly stands for: it ends with it where that is a false alarm. */
function alertOfPeak({ state }: AnomaliesContext, { id, tenant, paging }: Anomaly): Alert | undefined {
  const alert = paging?.alertId == null ? undefined : state.alerts.find(tenant, paging.alertId);
  return alert !== undefined && isFiring(alert) && alert.peak.anomalyId === id ? alert : undefined;
}

/** Declares an anomaly by hand. */
export function declareAnomaly(context: AnomaliesContext, request: QueryRequest<"declareAnomaly">): Promise<Outcome<unknown>> {
  const { tenant, subject } = request.principal;
  const { service_id: serviceId, metric_name: metricName = MANUAL_METRIC, environment = "", severity, explanation } = request.body;
  return context.change(request, () => {
    const frame = manualEpisode({ tenant, environment, serviceId, metricName, severity, explanation, by: subject }, context.nowMs());
    const draft = context.draftAlerts();
    const verdicts = context.draftVerdicts(draft);
    const { anomaly, kind } = verdicts.add(frame);
    if (anomaly === undefined) return refused("conflict", "the same anomaly was declared at this very moment; read it under its service");
    const after = anomalyDetail(context, anomaly, draft.decisionOn(anomaly.id));
    return {
      ok: true,
      note: {
        action: "anomaly.declare",
        object: anomaly.id,
        before: null,
        after: { service_id: serviceId, metric_name: metricName, severity, explanation },
      },
      operations: [...verdicts.operations(), ...draft.operations()],
      apply: () => {
        context.takeVerdicts(verdicts);
        context.takeAlerts(draft);
      },
      outcome: kind === "opened" ? { ok: true, value: after, status: 201 } : done(after),
    };
  });
}

function changed(before: Anomaly, body: QueryRequest<"changeAnomaly">["body"], by: string, atMs: number): Anomaly {
  const { resolved, feedback, note = null } = body;
  // A false alarm is over with the word.
  const ends = (resolved === true || feedback === "false_positive") && before.resolvedAtMs === null;
  const says = feedback !== undefined && (before.feedback?.opinion !== feedback || (note !== null && before.feedback.note !== note));
  if (!ends && !says) return before;
  return {
    ...before,
    ...(ends && { resolvedAtMs: atMs, resolvedBy: endWord({ reason: "person", person: by }) }),
    ...(says && { feedback: { opinion: feedback, note, by, atMs } }),
  };
}

/** The service's opinions with this one; "full" where no further service may have any. */
function opinionsWith(
  { state }: AnomaliesContext,
  { tenant, serviceId, id, detector, feedback }: Anomaly,
): ServiceOpinions | "full" | undefined {
  // An earlier version took services by other names; no finding has one any more that an opinion could count for.
  if (feedback === null || nameFlaw(serviceId) !== undefined) return undefined;
  const known = state.alerts.feedback.on(tenant, serviceId);
  if (known.length === 0 && !state.alerts.feedback.shares.admits(tenant)) return "full";
  const { opinion, atMs } = feedback;
  const added = { anomalyId: id, family: familyOfDetector(detector), opinion, atMs };
  return { tenant, serviceId, opinions: withOpinion(known, added, OPINIONS_PER_SERVICE_MAX) };
}

/** Members of an anomaly that people change. */
function byHand({ resolvedAtMs, resolvedBy, feedback }: Anomaly) {
  return { resolved: resolvedAtMs !== null, resolved_by: resolvedBy, feedback: feedback?.opinion ?? null, note: feedback?.note ?? null };
}
