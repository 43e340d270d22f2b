// A metric that people know of, as high, and that has become far worse since: told as an update of its alert that names it, once for each factor of four.
import { ALERT_UPDATES_MAX } from "../../../core/config/alert-limits.ts";
import { ALERT_MEMBERS_MAX } from "../../../core/config/limits.ts";
import { doublingsOf, type Weighed } from "../severity.ts";
import { type Alert, isFiring } from "./alert.ts";
import type { Finding } from "./finding.ts";
import { isEndNote } from "./open-peak.ts";

/** Doublings beyond what was said last from which on it is news: four times as much of the usual, or half of the whole way of what has an end. */
const FAR_WORSE_DOUBLINGS = 2;
const FAR_WORSE = " is far worse: ";
const ALSO = "also ";

/** Whether people who know of the alert have heard of the metric when it was far less. */
export function isFarWorse(finding: Pick<Weighed, "metricName" | "effect">, known: Alert): boolean {
  if (!isFiring(known) || known.pages === 0 || known.heldBy !== null || known.services.length > 0) return false;
  const said = known.notifiedEffects?.find(({ metricName }) => metricName === finding.metricName);
  const doublings = doublingsOf(finding);
  if (said === undefined || doublings === undefined || doublings < said.doublings + FAR_WORSE_DOUBLINGS) return false;
  return known.history.filter(({ kind, note }) => kind === "updated" && note !== null).length < ALERT_UPDATES_MAX;
}

/** What they are told of it. */
export function worseUpdate({ metricName, explanation }: Finding): string {
  return `${metricName}${FAR_WORSE}${explanation}`;
}

/** Notes of updates without those that a later one of the same metric has overtaken, or its end. */
export function withoutOvertaken(notes: readonly string[]): string[] {
  const newest = new Map(notes.map((note) => [subjectOf(note), note]));
  return notes.filter((note, at) => newest.get(subjectOf(note)) === note && !isEnded(note, notes.slice(at + 1)));
}

/** Whether a later note tells the end of what a note has told. */
function isEnded(note: string, later: readonly string[]): boolean {
  const metricName = note.startsWith(ALSO) ? note.slice(ALSO.length, note.indexOf(": ")) : null;
  return metricName !== null && later.some((other) => isEndNote(other, metricName));
}

/** Whether a note tells that the metric departs as well. */
export function isFurther(note: string, metricName: string): boolean {
  return note.startsWith(`${ALSO}${metricName}: `);
}

function subjectOf(note: string): string {
  const end = note.indexOf(FAR_WORSE);
  return end < 0 ? note : note.slice(0, end + FAR_WORSE.length);
}

/** The alert with the finding's effect as one that people hear of. */
export function withNotifiedEffect(alert: Alert, finding: Finding): Alert {
  const doublings = doublingsOf(finding);
  if (doublings === undefined || alert.services.length > 0) return alert;
  const { metricName } = finding;
  const known = alert.notifiedEffects ?? [];
  const before = known.find((effect) => effect.metricName === metricName);
  if (before === undefined && known.length >= ALERT_MEMBERS_MAX) return alert;
  if (before !== undefined && before.doublings >= doublings) return alert;
  return { ...alert, notifiedEffects: [...known.filter((effect) => effect !== before), { metricName, doublings }] };
}
