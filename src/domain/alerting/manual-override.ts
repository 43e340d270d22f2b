// What people decide by hand about a service or one of its metrics: fire now, or leave it out. The most exact override in force holds; of
// equals the newest. Leaving out goes before firing only by being more exact.
import type { Tier } from "../detection/anomaly-score.ts";
import { type GateResult, holds } from "../detection/gates/gate-result.ts";

export interface ManualOverride {
  readonly tenant: string;
  /** Null stands for every one. */
  readonly environment: string | null;
  readonly serviceId: string;
  readonly metricName: string | null;
  readonly action: "fire" | "exclude";
  /** Tier of the alert that `fire` raises. */
  readonly tier: Tier;
  readonly startsAtMs: number;
  /** Null for until it is taken back. */
  readonly endsAtMs: number | null;
  readonly createdAtMs: number;
}

export interface OverrideTarget {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
}

/** The override that holds for a pair now; it begins at its start and is over at its end. */
export function overrideFor(overrides: readonly ManualOverride[], target: OverrideTarget, nowMs: number): ManualOverride | null {
  let best: ManualOverride | null = null;
  for (const override of overrides) {
    if (!applies(override, target, nowMs)) continue;
    if (best === null || exactness(override) > exactness(best)) best = override;
    else if (exactness(override) === exactness(best) && override.createdAtMs >= best.createdAtMs) best = override;
  }
  return best;
}

/** Fails where the pair is left out by hand. */
export function exclusionGate(override: ManualOverride | null): GateResult {
  return holds("manual_exclusion", override?.action !== "exclude");
}

function applies(override: ManualOverride, target: OverrideTarget, nowMs: number): boolean {
  const { tenant, environment, serviceId, metricName, startsAtMs, endsAtMs } = override;
  const inForce = nowMs >= startsAtMs && (endsAtMs === null || nowMs < endsAtMs);
  const named = tenant === target.tenant && serviceId === target.serviceId;
  return (
    inForce &&
    named &&
    (environment ?? target.environment) === target.environment &&
    (metricName ?? target.metricName) === target.metricName
  );
}

function exactness({ environment, metricName }: ManualOverride): number {
  return (metricName === null ? 0 : 2) + (environment === null ? 0 : 1);
}
