// People are informed of what a statistic has found only once it is confirmed: by a departure that holds, or by an independent detector. The anomaly and
// its alert do not wait. Services that fail together are no more than what is found of them: a cascade waits until a member of it is confirmed.
import { type GateResult, holds } from "../../detection/gates/gate-result.ts";
import type { DetectorFamily, EnsembleSignal } from "../ensemble.ts";
import type { Alert } from "./alert.ts";
import type { ServiceConfirmations } from "./service-confirmations.ts";

export const CONFIRMATION_GATE = "confirmation";

/** As long as signals corroborate (ensemble.ts). */
const SIGNAL_MS = 120_000;
/** Families that look at the same values: one of them does not confirm the other. */
const STATISTICAL: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["metric", "multivariate"]);
/** Families whose findings say no more than others have found. */
const OF_OTHERS: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["cascade"]);

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
  place: string,
  confirmations: ServiceConfirmations,
  signals: readonly EnsembleSignal[],
  nowMs: number,
): GateResult {
  const isSeconded = signals.some(({ family: other, atMs }) => !needsConfirmation(other) && nowMs - atMs <= SIGNAL_MS);
  return holds(CONFIRMATION_GATE, isSeconded || confirmations.isConfirmed(place, nowMs));
}
