// How bad people are told that faults are: each fault that came to an alert counts by the highest severity while it lasts.
import type { PageDecision } from "../../../src/domain/alerting/paging/page-decision.ts";
import { type Tier, tierRank } from "../../../src/domain/detection/anomaly-score.ts";

/** The highest severity of what came to an alert from a time on and before another; undefined where nothing did. */
export function highestTier(decisions: readonly PageDecision[], fromMs: number, untilMs: number): Tier | undefined {
  let highest: Tier | undefined;
  for (const { atMs, alertId, outcome, tier } of decisions) {
    if (atMs < fromMs || atMs >= untilMs || alertId === null || outcome === "resolved") continue;
    if (highest === undefined || tierRank(tier) > tierRank(highest)) highest = tier;
  }
  return highest;
}

/** Faults of four times the usual, and more, which are to be high. */
export class FourfoldSeverities {
  readonly #faults: Record<Tier, number> = { low: 0, medium: 0, high: 0 };

  add(decisions: readonly PageDecision[], fromMs: number, untilMs: number): void {
    const isTold = decisions.some(({ atMs, outcome }) => outcome === "paged" && atMs >= fromMs && atMs < untilMs);
    const tier = isTold ? highestTier(decisions, fromMs, untilMs) : undefined;
    if (tier !== undefined) this.#faults[tier]++;
  }

  /** How many of them are high. */
  get line(): string {
    const { low, medium, high } = this.#faults;
    const found = low + medium + high;
    const share = ((100 * high) / Math.max(1, found)).toFixed(1);
    return `severity: ${high} of ${found} faults of four times the usual and more that page are high (${share} %), ${medium} medium, ${low} low`;
  }
}
