// Tiers by time to exhaustion, with hysteresis: a tier is entered at its limit and left a quarter later.
import type { Tier } from "../detection/anomaly-score.ts";

/** Minutes to exhaustion up to which a tier is entered (rule 1.1.11). */
export const TIER_MINUTES = { high: 60, medium: 360, low: 1440 } as const;
/** A tier that holds is left beyond its limit times this: high at 75 minutes. */
export const LEAVE_FACTOR = 1.25;
const ORDER: readonly Tier[] = ["high", "medium", "low"];

/** Tier of a projection, given the tier that holds; null beyond all. Time runs in minutes, Infinity for none. */
export function saturationTier(minutes: number, current: Tier | null): Tier | null {
  for (const tier of ORDER) {
    const staysWithin = current !== null && ORDER.indexOf(current) <= ORDER.indexOf(tier);
    if (minutes <= TIER_MINUTES[tier] * (staysWithin ? LEAVE_FACTOR : 1)) return tier;
  }
  return null;
}
