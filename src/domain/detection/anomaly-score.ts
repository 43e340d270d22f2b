// The one map from z to the score of 0..1 and to tiers, for every detector.

/** Tiers of the contract (rule 1.1.6); bands touch: [0, 0.4), [0.4, 0.7), [0.7, 1]. */
export type Tier = "low" | "medium" | "high";

/** From here on an anomaly is stored and alerted. */
const SCORE_MEDIUM = 0.4;
/** From here on runbooks are evaluated. */
const SCORE_HIGH = 0.7;
const Z_HIGH = 3;

/** Score of a z of either sign: 2 -> 0.40, 3 -> 0.70, 6 -> 0.85, 9 -> 0.925; it grows strictly and stays below 1 for |z| up to 99. */
export function anomalyScore(z: number): number {
  const magnitude = Math.abs(z);
  if (magnitude <= Z_HIGH) return 0.7 * (magnitude / Z_HIGH) ** 1.38;
  return 1 - 0.3 * 2 ** (-(magnitude - Z_HIGH) / Z_HIGH);
}

/** The z of a score in 0..1, exclusive of 1: the inverse of `anomalyScore`. */
export function zOfScore(score: number): number {
  if (score <= SCORE_HIGH) return Z_HIGH * (score / SCORE_HIGH) ** (1 / 1.38);
  return Z_HIGH - Z_HIGH * Math.log2((1 - score) / (1 - SCORE_HIGH));
}

/** Tier of a score of 0..1. */
export function tierOfScore(score: number): Tier {
  if (score >= SCORE_HIGH) return "high";
  return score >= SCORE_MEDIUM ? "medium" : "low";
}

const TIERS: readonly Tier[] = ["low", "medium", "high"];

/** Rank of a tier for lists that begin with the worst; one that is not known comes last. */
export function tierRank(tier: Tier | undefined): number {
  return tier === undefined ? -1 : TIERS.indexOf(tier);
}

/** Tier of a z of either sign. */
export function tierOfZ(z: number): Tier {
  return tierOfScore(anomalyScore(z));
}
