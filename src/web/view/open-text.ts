// How long an alert or an anomaly was open: by one clock, from when it was found to its end. When its data say that it began is another time: values may come late.
import { durationText } from "./time-text.ts";

/** Beginnings that lie further before the finding than what a detector waits for are said apart. */
const LATE_MS = 120_000;

interface Opened {
  /** When it was found. */
  readonly foundAt: string;
  readonly resolvedAt: string | null;
}

/** Its duration in words: open for 2 min; was open for 2 min. */
export function openText({ foundAt, resolvedAt }: Opened, nowMs: number): string {
  const endMs = resolvedAt === null ? nowMs : Date.parse(resolvedAt);
  return `${resolvedAt === null ? "open" : "was open"} for ${durationText(Math.max(0, endMs - Date.parse(foundAt)))}`;
}

/** Whether what it is of came so late that people should see both times. */
export function isLate(startedAt: string, foundAt: string): boolean {
  return Date.parse(foundAt) - Date.parse(startedAt) > LATE_MS;
}
