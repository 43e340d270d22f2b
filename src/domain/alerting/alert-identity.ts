// One incident is one alert (rule 1.1.10): repeat fires of one key (tenant, environment, service, family) are absorbed while the alert is no
// older than ALERT_DEDUP_MAX_AGE_MINUTES, measured from its creation; then a fire makes a new identity, a new timestamp and a new page.
import { hash128 } from "../../core/hashing/hash128.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import type { Tier } from "../detection/anomaly-score.ts";
import { atMost, type GateResult } from "../detection/gates/gate-result.ts";
import { CALM, type FlapState, paged, reopen } from "./flap-control.ts";

const TIERS: readonly Tier[] = ["low", "medium", "high"];

/** Identity of an incident: the service, or the root candidate of a cascade. */
export interface AlertKey {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly family: string;
  /** Of an Alertmanager's alert: what it is known by among those of its service. It stands in the alert's labels, and not in what is stored of its key. */
  readonly fingerprint?: string;
}

export interface AlertState {
  /** 32 hex digits of key and creation. */
  readonly id: string;
  readonly key: AlertKey;
  readonly createdAtMs: number;
  readonly lastFireMs: number;
  /** Fires taken in, the first included. */
  readonly fires: number;
  /** Highest so far. */
  readonly tier: Tier;
  readonly resolvedAtMs: number | null;
  readonly flap: FlapState;
}

export interface FireEffect {
  /** Renewed is a new identity in place of one that grew too old; raised is absorbed, with a higher tier. */
  readonly kind: "opened" | "absorbed" | "raised" | "reopened" | "renewed";
  readonly alert: AlertState;
  /** Whether people are told anew: an opening, a new identity, a reopening that is no flapping. A higher tier is an update of what they know, if they know anything. */
  readonly page: boolean;
  readonly gates: readonly GateResult[];
}

/** Applies one fire to the newest alert of its key, undefined where there is none. What is mild by its score does not come this far (rule 1.1.6). */
export function applyFire(known: AlertState | undefined, key: AlertKey, tier: Tier, nowMs: number, maxAgeMinutes: number): FireEffect {
  if (known === undefined) return newAlert("opened", key, tier, nowMs, CALM, []);
  const age = atMost("dedup_age", (nowMs - known.createdAtMs) / MINUTE_MS, maxAgeMinutes);
  if (!age.passed) return newAlert("renewed", key, tier, nowMs, known.flap, [age]);
  const highest = TIERS.indexOf(tier) > TIERS.indexOf(known.tier) ? tier : known.tier;
  const alert = { ...known, lastFireMs: nowMs, fires: known.fires + 1, tier: highest };
  if (known.resolvedAtMs !== null) {
    const { state, gate } = reopen(known.flap, nowMs);
    return {
      kind: "reopened",
      alert: { ...alert, resolvedAtMs: null, flap: state },
      page: gate.passed,
      gates: [age, gate],
    };
  }
  if (highest === known.tier) return { kind: "absorbed", alert, page: false, gates: [age] };
  return { kind: "raised", alert, page: false, gates: [age] };
}

/** The alert with its end; one that has ended stays as it was. */
export function resolveAlert(alert: AlertState, nowMs: number): AlertState {
  return alert.resolvedAtMs === null ? { ...alert, resolvedAtMs: nowMs } : alert;
}

function newAlert(
  kind: "opened" | "renewed",
  { fingerprint, ...key }: AlertKey,
  tier: Tier,
  nowMs: number,
  flap: FlapState,
  gates: readonly GateResult[],
): FireEffect {
  const alert: AlertState = {
    id: hash128(
      JSON.stringify([key.tenant, key.environment, key.serviceId, key.family, nowMs, ...(fingerprint === undefined ? [] : [fingerprint])]),
    ),
    key,
    createdAtMs: nowMs,
    lastFireMs: nowMs,
    fires: 1,
    tier,
    resolvedAtMs: null,
    flap: paged(flap, nowMs),
  };
  return { kind, alert, page: true, gates };
}
