import { MINUTE_MS } from "../../core/time/durations.ts";
import { atLeast, type GateResult } from "../detection/gates/gate-result.ts";

/**
 * Whether an anomaly of a pair triggers root-cause analysis (rule 1.1.5): WATCHDOG_RCA_COOLDOWN_MINUTES after the last one, or never yet
 * (null). Value and limit in minutes. Anomalies are stored either way.
 */
export function rcaCooldownGate(lastTriggeredMs: number | null, nowMs: number, cooldownMinutes: number): GateResult {
  const minutes = lastTriggeredMs === null ? Number.POSITIVE_INFINITY : (nowMs - lastTriggeredMs) / MINUTE_MS;
  return atLeast("rca_cooldown", minutes, cooldownMinutes);
}
