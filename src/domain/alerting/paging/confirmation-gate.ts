// People are informed of what a statistic has found only once it is confirmed: by a departure that holds, by an independent detector, or by several metrics that are far out together. The anomaly and
// its alert do not wait. Services that fail together are no more than what is found of them: a cascade waits until a member of it is confirmed.
import { type GateResult, holds } from "../../detection/gates/gate-result.ts";
import { type DetectorFamily, type EnsembleSignal, sourceOf } from "../ensemble.ts";
import type { Alert } from "./alert.ts";
import type { Finding } from "./finding.ts";
import type { ServiceConfirmations } from "./service-confirmations.ts";

export const CONFIRMATION_GATE = "confirmation";

/** As long as signals corroborate (ensemble.ts). */
const SIGNAL_MS = 120_000;
/** Metrics of a service that are far out at once, and confirm each other: as far apart at most as the onsets of a cascade are. */
const FAR_OUT_METRICS_MIN = 3;
/** Two of them do where both go on and are twice as far out as any has to be. */
const TWICE_FAR_OUT_Z = 10;
const TWICE_FAR_OUT_MIN = 2;
const FAR_OUT_MS = 300_000;
/** Intervals that a lone odd value is open for. */
const ODD_VALUES_OPEN = 6;
/** Families that look at the same values: one of them does not confirm the other. */
const STATISTICAL: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["metric", "multivariate"]);
/** Families whose findings say no more than others have found. */
const OF_OTHERS: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["cascade"]);

/** One that may confirm others. */
export interface ConfirmingSignal extends EnsembleSignal {
  /** From when on it is more than an odd value, where it is far out and goes on; null for all others. */
  readonly farOutFromMs: number | null;
  /** Its z without its sign. */
  readonly size: number;
}

/** Whether findings of the family wait; all others page by themselves. */
export function needsConfirmation(family: DetectorFamily): boolean {
  return STATISTICAL.has(family) || OF_OTHERS.has(family);
}

/** Whether an alert was confirmed, though something else may hold it. */
export function isConfirmedAlert(alert: Pick<Alert, "heldBy">): boolean {
  return alert.heldBy !== CONFIRMATION_GATE;
}

/** Whether what is known of a service at the moment confirms a finding. */
export function confirmationGate(
  key: string,
  confirmations: ServiceConfirmations,
  signals: readonly ConfirmingSignal[],
  nowMs: number,
): GateResult {
  const isSeconded = signals.some(({ family: other, atMs }) => !needsConfirmation(other) && nowMs - atMs <= SIGNAL_MS);
  return holds(CONFIRMATION_GATE, isSeconded || areTogether(signals, nowMs) || confirmations.isConfirmed(key, nowMs));
}

/**
 * From when on a finding that is far out is more than an odd value, as it was `known` before. An episode of one odd value is open until five others are over: what is
 * open for longer goes on, and so does what a later value is farther out with.
 */
export function farOutFrom(
  { isFarOut, effect, z, atMs }: Pick<Finding, "isFarOut" | "effect" | "z" | "atMs">,
  known: ConfirmingSignal | undefined,
): number | null {
  if (isFarOut !== true || effect === undefined) return null;
  const { startedAtMs, intervalMs } = effect;
  const fromMs = startedAtMs + ODD_VALUES_OPEN * intervalMs;
  if (known === undefined || known.farOutFromMs === null) return fromMs;
  const isFarther = Math.abs(z) > known.size && atMs >= startedAtMs + intervalMs;
  return Math.min(fromMs, known.farOutFromMs, isFarther ? atMs : fromMs);
}

/** Whether several metrics are far out, of which one is known to be more than an odd value; or two that both are, and are twice as far out. */
function areTogether(signals: readonly ConfirmingSignal[], nowMs: number): boolean {
  const far = signals.filter(({ farOutFromMs, atMs }) => farOutFromMs !== null && nowMs - atMs <= FAR_OUT_MS);
  const lasting = far.filter(({ farOutFromMs }) => nowMs >= (farOutFromMs ?? Number.POSITIVE_INFINITY));
  if (lasting.length > 0 && metricsOf(far) >= FAR_OUT_METRICS_MIN) return true;
  return metricsOf(lasting.filter(({ size }) => size >= TWICE_FAR_OUT_Z)) >= TWICE_FAR_OUT_MIN;
}

function metricsOf(signals: readonly ConfirmingSignal[]): number {
  return new Set(signals.map(sourceOf)).size;
}
