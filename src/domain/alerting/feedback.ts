// What people say of a service's anomalies moves the threshold of the family that found them (decisions, section 2): a false positive raises it, a true one
// lowers it, within bounds, and both wear off.
import type { DetectorFamily } from "./ensemble.ts";

export type Opinion = "true_positive" | "false_positive";

/** Feedback on one anomaly; a later word on the same one takes its place. */
export interface AnomalyOpinion {
  readonly anomalyId: string;
  readonly family: DetectorFamily;
  readonly opinion: Opinion;
  readonly atMs: number;
}

/** A word's effect goes back to nothing in this time. */
export const FEEDBACK_MS = 14 * 24 * 3600 * 1000;
const STEP = 1.1;
const FACTOR_MIN = 0.9;
const FACTOR_MAX = 1.5;

/** Factor of the threshold: 1.1 for each false positive and 1 / 1.1 for each true one, by what is left of it; within 0.9 and 1.5. */
export function feedbackFactor(opinions: readonly AnomalyOpinion[], family: DetectorFamily, nowMs: number): number {
  let steps = 0;
  for (const opinion of opinions) {
    if (opinion.family !== family) continue;
    const left = Math.min(1, Math.max(0, 1 - (nowMs - opinion.atMs) / FEEDBACK_MS));
    steps += opinion.opinion === "false_positive" ? left : -left;
  }
  return steps === 0 ? 1 : Math.min(FACTOR_MAX, Math.max(FACTOR_MIN, STEP ** steps));
}

/** The opinions with one more: without the one on the same anomaly and those that have worn off, and at most the newest `most`. */
export function withOpinion(opinions: readonly AnomalyOpinion[], added: AnomalyOpinion, most: number): AnomalyOpinion[] {
  const others = opinions.filter(({ anomalyId, atMs }) => anomalyId !== added.anomalyId && added.atMs - atMs < FEEDBACK_MS);
  return [...others, added].slice(-most);
}
