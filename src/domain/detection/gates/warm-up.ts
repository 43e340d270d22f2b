// After a start only signals that need no warm model may alert (rule 1.1.9); the others are computed and kept as suppressed.
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { atLeast, type GateResult, holds } from "./gate-result.ts";

/** Who raised a finding. */
export type Signal =
  | "named_metric_z"
  | "operation_z"
  | "isolation_forest"
  | "adaptive"
  | "saturation"
  | "slo_burn"
  | "stale_service"
  | "cascade"
  | "manual_override"
  | "external_alert";

const INDEPENDENT: ReadonlySet<Signal> = new Set(["named_metric_z", "slo_burn", "stale_service", "cascade", "manual_override"]);

/** Passes from WATCHDOG_WARMUP_MINUTES after the start on, and always for the independent signals. Value and limit in minutes. */
export function warmUpGate(signal: Signal, startedAtMs: number, nowMs: number, warmUpMinutes: number): GateResult {
  return INDEPENDENT.has(signal) ? holds("warmup", true) : atLeast("warmup", (nowMs - startedAtMs) / MINUTE_MS, warmUpMinutes);
}
