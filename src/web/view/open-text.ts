// How long an alert or an anomaly was open: by one clock, that of its values, which may come late. Then people see when it was found too.
import { durationText } from "./time-text.ts";

/** Beginnings that lie further before the finding than what a detector waits for are said apart. */
const LATE_MS = 120_000;

interface Opened {
  /** Time of the value with which it began, and of that which showed its end. */
  readonly startedAt: string;
  readonly resolvedAt: string | null;
}

/** Its duration in words: open for 2 min; was open for 2 min. */
export function openText({ startedAt, resolvedAt }: Opened, nowMs: number): string {
  const endMs = resolvedAt === null ? nowMs : Date.parse(resolvedAt);
  return `${resolvedAt === null ? "open" : "was open"} for ${durationText(Math.max(0, endMs - Date.parse(startedAt)))}`;
}

/** Whether what it is of came so late that people should see both times. */
export function isLate(startedAt: string, foundAt: string): boolean {
  return Date.parse(foundAt) - Date.parse(startedAt) > LATE_MS;
}
