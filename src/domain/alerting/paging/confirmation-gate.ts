// People are informed of what a statistic has found only once it is confirmed: by a departure that holds, or by an independent detector. The anomaly and
// its alert do not wait.
import { type GateResult, holds } from "../../detection/gates/gate-result.ts";
import type { DetectorFamily, EnsembleSignal } from "../ensemble.ts";
import type { ServiceConfirmations } from "./service-confirmations.ts";

export const CONFIRMATION_GATE = "confirmation";

/** As long as signals corroborate (ensemble.ts). */
const SIGNAL_MS = 120_000;
/** Families that look at the same values: one of them does not confirm the other. */
const STATISTICAL: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["metric", "multivariate"]);

/** Whether findings of the family wait; all others page by themselves. */
export function needsConfirmation(family: DetectorFamily): boolean {
  return STATISTICAL.has(family);
}

/** Whether what is known of a service at the moment confirms a finding. */
export function confirmationGate(
  place: string,
  confirmations: ServiceConfirmations,
  signals: readonly EnsembleSignal[],
  nowMs: number,
): GateResult {
  const isSeconded = signals.some(({ family: other, atMs }) => !STATISTICAL.has(other) && nowMs - atMs <= SIGNAL_MS);
  return holds(CONFIRMATION_GATE, isSeconded || confirmations.isConfirmed(place, nowMs));
}
