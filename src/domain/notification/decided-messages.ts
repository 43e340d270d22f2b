// What people are to be told about a change of an alert: each new line of its history that says so is a message.
// Links from messages to pages of the user interface, whose place in the address stands behind its # (src/web/view/location.ts).

import type { DetectorFamily } from "../alerting/ensemble.ts";
import { type Alert, type AlertChange, beginOfAlert, endOfAlert, knownHistory, updatesOf } from "../alerting/paging/alert.ts";
import { endText } from "../alerting/paging/end-text.ts";
import { withoutOvertaken } from "../alerting/paging/worse-update.ts";
import { sentenceText } from "../anomaly/sentence.ts";
import type { AlertMessage, MessageKind } from "./alert-message.ts";
import { sourceOf } from "./routing-rule.ts";

/** One alert before and after a transaction. */
export interface AlertStep {
  /** Undefined for a new one. */
  readonly before: Alert | undefined;
  readonly after: Alert;
  /** It takes the place of an alert that was too old to take in more. */
  readonly renews: boolean;
}

/** Contents of a message besides the alert itself. */
export interface MessageFacts {
  /** Label `team` of the service. */
  readonly team: string | null;
  /** PUBLIC_URL without a slash at its end; null where it is not set. */
  readonly publicUrl: string | null;
}

/** Messages that a transaction has decided on, in their order. */
export function decidedMessages(step: AlertStep, facts: MessageFacts): AlertMessage[] {
  const known = knownHistory(step.before, step.after);
  return step.after.history.flatMap((change, index) => {
    const kind = known.has(change) ? undefined : kindOf(step, change, index);
    return kind === undefined ? [] : messageOf(step.after, kind, change, facts);
  });
}

/** The message that reports a cause, once one is known. */
export function causeMessage(alert: Alert, cause: string, atMs: number, facts: MessageFacts): AlertMessage {
  const change = { kind: "raised", atMs, tier: alert.state.tier, by: null, note: null } as const;
  return { ...messageOf(alert, "cause", change, facts), cause };
}

function kindOf({ after, renews }: AlertStep, change: AlertChange, index: number): MessageKind | undefined {
  if (change.kind === "acknowledged" || change.kind === "resolved") return change.kind;
  if (change.kind === "worse" || change.kind === "member_ended") return change.note === null ? undefined : "updated";
  if (change.kind === "updated") return change.note !== null || after.history[index - 1]?.kind === "raised" ? "updated" : undefined;
  return change.kind === "paged" ? pageKind(after.history.slice(0, index), renews) : undefined;
}

/**
 * A page is for what came last before it; one that was held back, too. What nobody has heard of is neither worse nor fires again, and what people were told of is
 * told again because it still fires.
 */
function pageKind(before: readonly AlertChange[], renews: boolean): MessageKind {
  if (!before.some(({ kind }) => kind === "paged")) return renews ? "renewed" : "opened";
  const at = before.findLastIndex(({ kind }) => kind === "opened" || kind === "raised" || kind === "reopened");
  if (before.slice(at + 1).some(({ kind }) => kind === "paged" || kind === "updated")) return "renewed";
  const reason = before[at]?.kind;
  if (reason === "raised" || reason === "reopened") return reason;
  return renews ? "renewed" : "opened";
}

/**
 * An update says what is new behind what people know, which may be what stands for the alert by now: all that has joined since it fires, since it may take
 * the place of an update that has not left.
 */
function updateText({ peak, history }: Alert, atMs: number): string {
  const beganAt = history.findLastIndex(({ kind }) => kind === "opened" || kind === "reopened");
  const updates = updatesOf(history.slice(beganAt + 1)).filter((change) => change.atMs <= atMs);
  const said = sentenceText(peak.explanation);
  const first = updates.find(({ note }) => note.endsWith(said))?.note ?? said;
  // What stands for the alert by now was a further problem once.
  const isPeak = ({ kind, metricName }: AlertChange) => kind === "updated" && metricName === peak.metricName;
  const further = withoutOvertaken(updates).filter((update) => first !== said || !isPeak(update));
  return [...new Set([first, ...further.map(({ note }) => note)])].join("; ");
}

/** A message of an alert as it is now. */
function messageOf(
  alert: Alert,
  kind: MessageKind,
  { atMs, tier, by, note }: Pick<AlertChange, "atMs" | "tier" | "by" | "note">,
  { team, publicUrl }: MessageFacts,
): AlertMessage {
  const { id, key } = alert.state;
  const ending = kind === "resolved" ? endText(alert.ending, alert.peak) : null;
  return {
    kind,
    tenant: key.tenant,
    alertId: id,
    severity: tier,
    serviceId: key.serviceId,
    environment: key.environment,
    source: sourceOf(key.family as DetectorFamily),
    metricName: alert.peak.metricName,
    explanation: kind === "updated" && note !== null ? updateText(alert, atMs) : sentenceText(alert.peak.explanation),
    services: alert.services,
    startedAtMs: beginOfAlert(alert),
    atMs,
    resolvedAtMs: kind === "resolved" ? (endOfAlert(alert) ?? atMs) : null,
    ...(ending !== null && { ending }),
    acknowledgedBy: kind === "acknowledged" ? by : (alert.acknowledged?.by ?? null),
    team,
    cause: null,
    url: publicUrl === null ? null : alertPage(publicUrl, id),
    both: false,
  };
}

/** Page of an alert; `publicUrl` is PUBLIC_URL without a slash at its end. */
export function alertPage(publicUrl: string, alertId: string): string {
  return `${publicUrl}/#/alert/${encodeURIComponent(alertId)}`;
}
