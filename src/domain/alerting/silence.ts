// Silences: an alert whose labels match is kept and not told, once from one time to another or in a maintenance window that comes again.
import type { LabelMatcher } from "./label-matcher.ts";
import { occurrenceAt, type RecurringWindow, WindowWatch } from "./maintenance-window.ts";

/** `once` holds from its start on and no longer at its end. */
export interface Silence {
  readonly id: string;
  readonly tenant: string;
  /** All must hold; a silence without any holds for nothing. */
  readonly matchers: readonly LabelMatcher[];
  readonly when:
    | { readonly kind: "once"; readonly startsAtMs: number; readonly endsAtMs: number }
    | { readonly kind: "recurring"; readonly window: RecurringWindow };
  readonly comment: string;
}

/** `pending`: it has not begun, or comes again; `expired`: it never holds again. */
export function silenceState({ when }: Pick<Silence, "when">, nowMs: number): "pending" | "active" | "expired" {
  if (inForce({ when }, nowMs)) return "active";
  const last = when.kind === "once" ? when.endsAtMs : when.window.untilMs;
  return last !== null && nowMs >= last ? "expired" : "pending";
}

/** Whether it is in force, whatever it matches; asked of one silence again and again. */
export function forceOf({ when }: Pick<Silence, "when">): (nowMs: number) => boolean {
  if (when.kind === "once") return (nowMs) => inForce({ when }, nowMs);
  const watch = new WindowWatch(when.window);
  return (nowMs) => watch.isOpen(nowMs);
}

function inForce({ when }: Pick<Silence, "when">, nowMs: number): boolean {
  if (when.kind === "once") return nowMs >= when.startsAtMs && nowMs < when.endsAtMs;
  return occurrenceAt(when.window, nowMs) !== null;
}
