// People are told of what a statistic has found only once it is confirmed: by a departure that holds, by an independent detector, or by being extreme. The
// anomaly and its alert do not wait.
import { type GateResult, holds } from "../../detection/gates/gate-result.ts";
import { DETECTOR_SERVICE } from "../../detection/multivariate/service-verdict.ts";
import type { DetectorFamily, EnsembleSignal } from "../ensemble.ts";
import type { ServiceConfirmations } from "./service-confirmations.ts";

export const CONFIRMATION_GATE = "confirmation";

/** Equivalent z, in thresholds, of a finding that no noise gives: it waits for nothing. */
const EXTREME_THRESHOLDS = 20 / 3;
/** The same over a baseline of fewer values than YOUNG_VALUES: Student's tail lets no such z rise high, and the pair has no history to ask. */
const YOUNG_EXTREME_THRESHOLDS = 8 / 3;
const YOUNG_VALUES = 60;
/** Of detectors whose evidence has a bar of its own; of a joint model, whose bar is low: what is strange for all metrics together is often nothing in any. */
const OWN_BAR_THRESHOLDS = 2;
const JOINT_THRESHOLDS = 3;
/** As long as signals corroborate (ensemble.ts). */
const SIGNAL_MS = 120_000;
/** Families that look at the same values: one of them does not confirm the other. */
const STATISTICAL: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["metric", "multivariate"]);

/** Whether findings of the family wait; all others are told of by themselves. */
export function needsConfirmation(family: DetectorFamily): boolean {
  return STATISTICAL.has(family);
}

/** What is asked of a finding. */
export interface Unconfirmed {
  readonly detector: string;
  readonly z: number;
  /** z that its detector declared it above, and the values that it compared with. */
  readonly threshold: number;
  readonly baselineValues: number;
}

/** Whether the finding is so far out that it needs no other word. */
export function isExtreme({ detector, z, threshold, baselineValues }: Unconfirmed): boolean {
  if (threshold <= 0) return false;
  if (detector === DETECTOR_SERVICE) return Math.abs(z) >= JOINT_THRESHOLDS * threshold;
  if (detector !== "z_score") return Math.abs(z) >= OWN_BAR_THRESHOLDS * threshold;
  return Math.abs(z) >= threshold * (baselineValues < YOUNG_VALUES ? YOUNG_EXTREME_THRESHOLDS : EXTREME_THRESHOLDS);
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
