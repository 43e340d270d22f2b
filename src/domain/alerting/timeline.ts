// The timeline of an alert: what happened to it, who did what, and who was told, in words. Lines follow from what a change makes of an alert; others (comments,
// deliveries, causes) are added by whoever knows of them.
import { momentText } from "../../core/time/rfc3339.ts";
import { type SentenceFacts, sentenceText } from "../anomaly/sentence.ts";
import type { AlertChangeKind, TimelineKind } from "./alert-changes.ts";
import { SILENCED_GATE } from "./inhibition/hold-gates.ts";
import { type Alert, type AlertChange, knownHistory } from "./paging/alert.ts";
import { endText } from "./paging/end-text.ts";
import { holdText } from "./paging/hold-text.ts";

export interface TimelineLine {
  readonly atMs: number;
  readonly kind: TimelineKind;
  /** Who did it, or the channel that took it; null where the service did. */
  readonly by: string | null;
  readonly text: string;
  /** Of the peak, where the line says it: behind the text. */
  readonly sentence?: SentenceFacts;
}

const KIND_OF: Readonly<Record<AlertChangeKind, TimelineKind>> = {
  opened: "found",
  raised: "raised",
  reopened: "reopened",
  paged: "paged",
  acknowledged: "acknowledged",
  assigned: "assigned",
  resolved: "resolved",
  updated: "updated",
  unacknowledged: "unacknowledged",
  snoozed: "snoozed",
  snooze_ended: "snooze_ended",
  worse: "updated",
  member_ended: "member_ended",
};

/** Lines that a change of an alert adds; `before` is undefined for a new one. */
export function linesOf(before: Alert | undefined, after: Alert): TimelineLine[] {
  const known = knownHistory(before, after);
  const changes = after.history.filter((change) => !known.has(change)).map((change) => lineOf(change, after));
  return [...changes, ...memberLines(before, after), ...holdLines(before, after)];
}

/** The line of a change; of an alert that an earlier version has kept, it is all that is known. */
export function lineOf(change: AlertChange, alert: Alert): TimelineLine {
  const { atMs, kind, by } = change;
  const before = beforeSentence(change);
  const { explanation } = alert.peak;
  const line = { atMs, kind: KIND_OF[kind], by } as const;
  if (before === undefined) return { ...line, text: textOf(change, alert) };
  return typeof explanation === "string" ? { ...line, text: before + explanation } : { ...line, text: before, sentence: explanation };
}

/** Returns the words of a line, those of its sentence among them. */
export function lineText({ text, sentence }: Pick<TimelineLine, "text" | "sentence">): string {
  return sentence === undefined ? text : text + sentenceText(sentence);
}

/** What stands before the sentence of the peak, where a change has it. */
function beforeSentence({ kind, tier, note }: AlertChange): string | undefined {
  if (kind === "updated") return note === null ? "" : undefined;
  return kind === "opened" || kind === "raised" || kind === "reopened" ? `${tier}: ` : undefined;
}

function textOf({ kind, note }: AlertChange, { peak, snooze, ending }: Alert): string {
  switch (kind) {
    case "paged":
      return "people are to be told";
    case "assigned":
      return note === null ? "to nobody" : `to ${note}`;
    case "snoozed":
      return withNote(snooze === null ? "for a while" : `until ${momentText(snooze.untilMs)}`, snooze?.note ?? note);
    case "resolved":
      return withNote(endText(ending, peak) ?? "resolved", note);
    default:
      return note ?? "";
  }
}

function withNote(text: string, note: string | null): string {
  return note === null || note === "" ? text : `${text}: ${note}`;
}

/** Metrics that joined it; the first is what it was found by. */
function memberLines(before: Alert | undefined, { members, updatedAtMs: atMs }: Alert): TimelineLine[] {
  return members.slice(before?.members.length ?? 1).map(({ metricName, serviceId }) => {
    return { atMs, kind: "joined", by: null, text: `${metricName} of ${serviceId}` } as const;
  });
}

function holdLines(before: Alert | undefined, { heldBy, state, updatedAtMs: atMs }: Alert): TimelineLine[] {
  if (heldBy === null || state.resolvedAtMs !== null || before?.heldBy === heldBy) return [];
  const until = holdText(heldBy, null);
  const text = `nobody is told: ${heldBy}${until === null ? "" : `, ${until}`}`;
  return [{ atMs, kind: heldBy === SILENCED_GATE ? "silenced" : "held", by: null, text }];
}
