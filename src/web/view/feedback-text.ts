// What people's marks change, which settings do not show.
import { durationText } from "./time-text.ts";

/** A mark's effect goes back to nothing in this time, from this factor of the threshold (domain/alerting/feedback.ts). */
export const MARK = { ms: 14 * 86_400_000, factor: 1.1 } as const;

/** Effect of a mark on thresholds, now. */
export function feedbackText(opinion: string | null, at: string | null, serviceId: string, nowMs: number): string {
  const leftMs = MARK.ms - (nowMs - Date.parse(at ?? ""));
  if (!(leftMs > 0)) return "Its effect has worn off.";
  const percent = Math.round((MARK.factor ** (leftMs / MARK.ms) - 1) * 100);
  const way = opinion === "false_positive" ? "raises" : "lowers";
  return `It ${way} the thresholds of such findings at ${serviceId} by ${percent} % beside what is set, and wears off within ${durationText(leftMs)}. What is open goes on until it is resolved.`;
}
