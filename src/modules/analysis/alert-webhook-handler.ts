// POST /api/v1/alerts/webhook: alerts of an Alertmanager are handled as anomalies that the service has found itself (rule 1.1.15). They are committed a few at a
// time, so that neither queries nor the commits of others wait for all of them. One that was taken before changes nothing: what fails midway is sent again.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { WEBHOOK_ALERTS_PER_COMMIT_MAX } from "../../core/config/analysis-limits.ts";
import { type EpisodeFrame, isClosing } from "../../core/protocol/coordinator-frame.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { alertFingerprint, ofOpenEpisodes, type WebhookAlert, webhookEpisode } from "../../domain/anomaly/webhook-alert.ts";
import { REPLICA_LABELS, withReplicaLabels } from "../../domain/series/replica-labels.ts";
import type { OpenEpisode } from "../anomalies/open-episodes.ts";
import type { VerdictDraft } from "../anomalies/verdict-draft.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import { mapInSlices } from "../state/slices.ts";
import type { AnalysisContext } from "./analysis-context.ts";

export async function takeAlerts(context: AnalysisContext, request: QueryRequest<"alertWebhook">): Promise<Outcome<unknown>> {
  const { alerts } = request.body;
  const sent = alerts.map((alert) => withCommon(alert, request.body.commonLabels));
  const firing = firingFingerprints(context, request.principal.tenant, sent);
  const taken: TakenAlert[] = [];
  let isNoted = false;
  for (let from = 0; from < alerts.length; from += WEBHOOK_ALERTS_PER_COMMIT_MAX) {
    const some = await takeSentAlerts(context, request, {
      alerts: sent.slice(from, from + WEBHOOK_ALERTS_PER_COMMIT_MAX),
      firing,
      note: isNoted ? null : { alerts: alerts.length },
    });
    if (!some.ok) return some;
    taken.push(...some.value.named);
    isNoted ||= some.value.isStored;
    // Otherwise the next would begin ahead of those who wait for the one before.
    if (from + WEBHOOK_ALERTS_PER_COMMIT_MAX < alerts.length) await context.yieldToLoop();
  }
  return done(answerOf(taken));
}

function withCommon(alert: WebhookAlert, commonLabels: Readonly<Record<string, string>>): WebhookAlert {
  return { ...alert, labels: { ...commonLabels, ...alert.labels } };
}

/** Fingerprints of what fires among alerts of which others have ended: of the two servers of a pair one may say that it goes on. */
function firingFingerprints(context: AlertTaking, tenant: string, alerts: readonly WebhookAlert[]): ReadonlySet<string | undefined> {
  if (alerts.every(({ status }) => status === "firing")) return new Set();
  const firing = alerts.filter(({ status }) => status === "firing");
  const forms = firing.flatMap((alert) => [alert, withoutReplicas(alert, context.options.replicaLabels)]);
  return new Set(forms.map(({ labels }) => alertFingerprint(tenant, labels)));
}

/** Alerts that are taken in one transaction. */
export interface SentAlerts {
  readonly alerts: readonly WebhookAlert[];
  /** Fingerprints of what fires in the same request: an end of these ends nothing. */
  readonly firing?: ReadonlySet<string | undefined>;
  /** What the audit log shows of them; null where it has a row of them, or needs none. */
  readonly note: unknown;
  /** What is stored with them, and what is done once it is. */
  readonly beside?: { readonly operations: readonly StoreOperation[]; apply(): void };
}

/** What the taking of alerts uses. */
export type AlertTaking = Pick<AnalysisContext, "change" | "draftAlerts" | "draftVerdicts" | "nowMs" | "takeAlerts" | "takeVerdicts"> & {
  readonly options: { readonly replicaLabels?: string };
};

/** Takes some alerts in one transaction, as an Alertmanager's. */
export function takeSentAlerts(context: AlertTaking, request: ChangeRequest, sent: SentAlerts): Promise<Outcome<TakenAlerts>> {
  const { tenant, subject } = request.principal;
  const { alerts, note, beside, firing } = sent;
  return context.change<TakenAlerts>(request, async (pause) => {
    const draft = context.draftAlerts();
    const verdicts = context.draftVerdicts(draft);
    const nowMs = context.nowMs();
    const episode = (alert: WebhookAlert) => webhookEpisode(tenant, subject, alert, nowMs);
    const take = (alert: WebhookAlert) => {
      const frame = ofPair(episode(alert), () => episode(withoutReplicas(alert, context.options.replicaLabels)), verdicts);
      const frames = ofOpenEpisodes(frame, alert, openEpisodes(verdicts, frame));
      const goesOn = isClosing(frame.transition) && firing?.has(frame.fingerprint) === true;
      if (!goesOn) for (const each of frames) verdicts.add(each);
      return { frame: frames[0] ?? frame, status: alert.status };
    };
    const taken = await mapInSlices(alerts, take, pause);
    const operations = [...verdicts.operations(), ...draft.operations(), ...(beside?.operations ?? [])];
    // Alerts that were resolved before they were ever taken say nothing.
    const named = taken.flatMap(({ frame, status }) => {
      const anomaly = verdicts.anomalyOf(frame);
      return anomaly === undefined ? [] : [{ anomaly, status }];
    });
    if (operations.length === 0) return { ok: "unchanged", outcome: done({ named, isStored: false }) };
    return {
      ok: true,
      note: note === null ? null : { action: "alert.take", object: named[0]?.anomaly.id ?? "", before: null, after: note },
      operations,
      apply: () => {
        context.takeVerdicts(verdicts);
        context.takeAlerts(draft);
        beside?.apply();
      },
      outcome: done({ named, isStored: true }),
    };
  });
}

/** The frame of an alert that either server of a pair may send: without the labels that tell them apart, but for what is open under them already. */
function ofPair(whole: EpisodeFrame, common: () => EpisodeFrame, verdicts: VerdictDraft): EpisodeFrame {
  const isOpen = whole.fingerprint !== undefined && verdicts.openUnder(whole.fingerprint).length > 0;
  return isOpen ? whole : common();
}

function withoutReplicas(alert: WebhookAlert, replicaLabels = ""): WebhookAlert {
  const replicas = withReplicaLabels(replicaLabels);
  if (replicas === REPLICA_LABELS) return alert;
  const labels = Object.entries(alert.labels).filter(([name]) => !replicas.has(name) || REPLICA_LABELS.has(name));
  return { ...alert, labels: Object.fromEntries(labels) };
}

/** Open episodes under the fingerprint of a frame; one whose anomaly somebody has resolved takes no repeat of another start. */
function openEpisodes(verdicts: VerdictDraft, frame: EpisodeFrame): OpenEpisode[] {
  const open = frame.fingerprint === undefined ? [] : verdicts.openUnder(frame.fingerprint);
  if (isClosing(frame.transition)) return open;
  return open.filter(({ episodeId, startedAtMs }) => verdicts.anomalyOf({ ...frame, episodeId, startedAtMs })?.resolvedAtMs === null);
}

interface TakenAlerts {
  readonly named: readonly TakenAlert[];
  readonly isStored: boolean;
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
