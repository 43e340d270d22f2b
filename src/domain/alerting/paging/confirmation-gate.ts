// People are informed of what a statistic has found only once it is confirmed: by a departure that holds, by an independent detector, or, of a series without a history, by being extreme. The
// anomaly and its alert do not wait.
import { KNOWN_TAIL_VALUES } from "../../detection/departure/own-tail.ts";
import { type GateResult, holds } from "../../detection/gates/gate-result.ts";
import type { DetectorFamily, EnsembleSignal } from "../ensemble.ts";
import type { ServiceConfirmations } from "./service-confirmations.ts";

export const CONFIRMATION_GATE = "confirmation";

/** A series without a tail of its own: there, a finding so far out in equivalent z, in thresholds, waits for nothing. */
const EXTREME_THRESHOLDS = 20 / 3;
/** The same over so few values that Student's tail lets no z rise higher. */
const FEW_VALUES = 60;
const FEW_EXTREME_THRESHOLDS = 8 / 3;
/** As long as signals corroborate (ensemble.ts). */
const SIGNAL_MS = 120_000;
/** Families that look at the same values: one of them does not confirm the other. */
const STATISTICAL: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["metric", "multivariate"]);

/** Whether findings of the family wait; all others page by themselves. */
export function needsConfirmation(family: DetectorFamily): boolean {
  return STATISTICAL.has(family);
}

/** Finding as the gate needs it. */
export interface Unconfirmed {
  readonly detector: string;
  readonly z: number;
  /** z that its detector declared it above, and the values that it compared with. */
  readonly threshold: number;
  readonly baselineValues: number;
  readonly hasLongBaseline?: boolean;
}

/** Whether a finding on a series that is too young to have a tail of its own is so far out that no noise gives it. */
export function isExtremeOfYoung({ detector, z, threshold, baselineValues, hasLongBaseline }: Unconfirmed): boolean {
  if (detector !== "z_score" || threshold <= 0 || baselineValues >= KNOWN_TAIL_VALUES || hasLongBaseline === true) return false;
  return Math.abs(z) >= threshold * (baselineValues < FEW_VALUES ? FEW_EXTREME_THRESHOLDS : EXTREME_THRESHOLDS);
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
