// A metric that people know of, as high, and that has become far worse since: told as an update of its alert that names it, once for each factor of four.
import { ALERT_MEMBERS_MAX } from "../../../core/config/limits.ts";
import { sentenceText } from "../../anomaly/sentence.ts";
import { doublingsOf, type Weighed } from "../severity.ts";
import { type Alert, type AlertChange, hasUpdatesLeft, isFiring } from "./alert.ts";
import type { Finding } from "./finding.ts";

/** Doublings beyond what was said last from which on it is news: four times as much of the usual, or half of the whole way of what has an end. */
const FAR_WORSE_DOUBLINGS = 2;

/** Whether people who know of the alert have heard of the metric when it was far less, which is asked where it is high by now. */
export function isFarWorse(finding: Pick<Weighed, "metricName" | "effect">, known: Alert): boolean {
  if (!isFiring(known) || known.pages === 0 || known.heldBy !== null || known.services.length > 0) return false;
  return effectSaid(finding, known) !== undefined && isBeyondSaid(finding, known) && hasUpdatesLeft(known, true);
}

/** Whether people who know of the alert have not heard of the metric, or when it was far less. */
export function isBeyondSaid(finding: Pick<Weighed, "metricName" | "effect">, known: Alert): boolean {
  const doublings = doublingsOf(finding);
  return doublings !== undefined && doublings >= (effectSaid(finding, known)?.doublings ?? Number.NEGATIVE_INFINITY) + FAR_WORSE_DOUBLINGS;
}

function effectSaid({ metricName: of }: Pick<Weighed, "metricName">, { notifiedEffects }: Alert) {
  return notifiedEffects?.find(({ metricName }) => metricName === of);
}

/** What they are told of it. */
export function worseUpdate({ metricName, explanation }: Finding): string {
  return `${metricName} is far worse: ${sentenceText(explanation)}`;
}

/** Updates without those that a later one of the same metric has overtaken, or its end. */
export function withoutOvertaken<T extends AlertChange>(updates: readonly T[]): T[] {
  return updates.filter((update, at) => !updates.slice(at + 1).some((later) => isOvertaken(update, later)));
}

function isOvertaken({ kind, metricName }: AlertChange, later: AlertChange): boolean {
  if (metricName === undefined || later.metricName !== metricName) return false;
  return later.kind === "member_ended" || (kind === "worse" && later.kind === "worse");
}

/** The alert with the finding's effect as one that people hear of. */
export function withNotifiedEffect(alert: Alert, finding: Finding): Alert {
  const doublings = doublingsOf(finding);
  if (doublings === undefined) return alert;
  const { metricName } = finding;
  const known = alert.notifiedEffects ?? [];
  const before = known.find((effect) => effect.metricName === metricName);
  if (before === undefined && known.length >= ALERT_MEMBERS_MAX) return alert;
  if (before !== undefined && before.doublings >= doublings) return alert;
  return { ...alert, notifiedEffects: [...known.filter((effect) => effect !== before), { metricName, doublings }] };
}
