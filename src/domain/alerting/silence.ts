// Silences: an alert whose labels match is kept and not told, once from one time to another or in a maintenance window that comes again.
import { type GateResult, holds } from "../detection/gates/gate-result.ts";
import { type LabelMatcher, type Labels, matchesAll } from "./label-matcher.ts";
import { occurrenceAt, type RecurringWindow } from "./maintenance-window.ts";

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

/** The first silence, in the order given, that holds for an alert of a tenant now. */
export function silenceFor(silences: readonly Silence[], tenant: string, labels: Labels, nowMs: number): Silence | null {
  const holdsNow = (silence: Silence): boolean =>
    silence.tenant === tenant && silence.matchers.length > 0 && inForce(silence, nowMs) && matchesAll(silence.matchers, labels);
  return silences.find(holdsNow) ?? null;
}

/** Fails where a silence holds. */
export function silenceGate(silence: Silence | null): GateResult {
  return holds("silenced", silence === null);
}

/** `pending`: it has not begun, or comes again; `expired`: it never holds again. */
export function silenceState({ when }: Pick<Silence, "when">, nowMs: number): "pending" | "active" | "expired" {
  if (inForce({ when }, nowMs)) return "active";
  const last = when.kind === "once" ? when.endsAtMs : when.window.untilMs;
  return last !== null && nowMs >= last ? "expired" : "pending";
}

/** Whether it is in force now, whatever it matches. */
function inForce({ when }: Pick<Silence, "when">, nowMs: number): boolean {
  if (when.kind === "once") return nowMs >= when.startsAtMs && nowMs < when.endsAtMs;
  return occurrenceAt(when.window, nowMs) !== null;
}
