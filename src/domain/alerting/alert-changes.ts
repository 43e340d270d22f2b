// What changes of an alert are called: in its history, which its row keeps, and in its timeline. Both are parts of formats.

/** By their names in rows and answers. */
export const ALERT_CHANGE_KINDS = [
  "opened",
  "raised",
  "reopened",
  "paged",
  "acknowledged",
  "assigned",
  "resolved",
  "updated",
  "unacknowledged",
  "snoozed",
  "snooze_ended",
  "worse",
  "member_ended",
] as const;
export type AlertChangeKind = (typeof ALERT_CHANGE_KINDS)[number];

/** In the order in which lines of one moment stand. */
export const TIMELINE_KINDS = [
  "found",
  "reopened",
  "joined",
  "raised",
  "silenced",
  "held",
  "paged",
  "updated",
  "told",
  "not_told",
  "acknowledged",
  "unacknowledged",
  "assigned",
  "snoozed",
  "snooze_ended",
  "comment",
  "cause",
  "member_ended",
  "resolved",
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
