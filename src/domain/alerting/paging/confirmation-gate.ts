// People are informed of what a statistic has found only once it is confirmed: by a departure that holds, by an independent detector, or by several metrics that are far out together. The anomaly and
// its alert do not wait. Services that fail together are no more than what is found of them: a cascade waits until a member of it is confirmed.
import { type GateResult, holds } from "../../detection/gates/gate-result.ts";
import { type DetectorFamily, type EnsembleSignal, sourceOf } from "../ensemble.ts";
import type { Alert } from "./alert.ts";
import type { ServiceConfirmations } from "./service-confirmations.ts";

export const CONFIRMATION_GATE = "confirmation";

/** As long as signals corroborate (ensemble.ts). */
const SIGNAL_MS = 120_000;
/** Metrics of a service that are far out at once, and confirm each other: as far apart at most as the onsets of a cascade are. */
const FAR_OUT_METRICS_MIN = 3;
const FAR_OUT_MS = 300_000;
/** Families that look at the same values: one of them does not confirm the other. */
const STATISTICAL: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["metric", "multivariate"]);
/** Families whose findings say no more than others have found. */
const OF_OTHERS: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["cascade"]);

/** One that may confirm others. */
export interface ConfirmingSignal extends EnsembleSignal {
  /** From when on it is more than an odd value, where it is far out and goes on; null for all others. */
  readonly farOutFromMs: number | null;
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

/** Whether several metrics are far out and go on so, of which one has done so for longer than an odd value is open. */
function areTogether(signals: readonly ConfirmingSignal[], nowMs: number): boolean {
  const far = signals.filter(({ farOutFromMs, atMs }) => farOutFromMs !== null && nowMs - atMs <= FAR_OUT_MS);
  if (new Set(far.map(sourceOf)).size < FAR_OUT_METRICS_MIN) return false;
  return far.some(({ farOutFromMs }) => nowMs >= (farOutFromMs ?? Number.POSITIVE_INFINITY));
}
