// What a gate compares, with its unit. Gates answer in numbers of their own kind: minutes, values, a distance by z, a share, or yes and no.
import { numberText, percentText } from "./number-text.ts";

/** One number of a gate; null where it has no end. */
export interface RuleFigure {
  readonly name: string;
  /** Whether a detector asked it, or the way to a page. */
  readonly stage: string;
  readonly value: number | null;
}

const UNITS: Readonly<Record<string, string>> = {
  warmup: "min",
  warm_up: "min",
  dedup_age: "min",
  flapping: "min",
  rca_cooldown: "min",
  minimum_span_minutes: "min",
  silence_minutes: "min",
  time_to_exhaustion_minutes: "min",
  rising: "min",
  group_wait: "s",
  cascade_window_ms: "ms",
  minimum_samples: "values",
  minimum_values: "values",
  minimum_points: "values",
  long_baseline: "values",
  minimum_errors: "errors",
  minimum_requests: "requests",
  minimum_traffic: "requests",
  arrivals: "arrivals",
  cascade_services: "services",
  silent_services: "services",
  ensemble: "detectors",
  extreme: "spreads",
  long_burn: "times the budget",
  short_burn: "times the budget",
};
/** Distances from what was expected. */
const DISTANCES: ReadonlySet<string> = new Set(
  "threshold persistence evidence own_tail far_out counts operation_bar after_gap counter_reset constant_departure".split(" "),
);
const SHARES: ReadonlySet<string> = new Set(["practical_significance", "silent_share"]);
const CONDITIONS: ReadonlySet<string> = new Set(
  "same_incident new_incident inhibited silenced snoozed acknowledged exclusion confirmation manual_override limit_known recent_value corroborated".split(
    " ",
  ),
);
const TIERS = ["low", "medium", "high"] as const;

/** The number in words: "3 min", "4.2 sigma", "12 %", "yes". */
export function ruleFigure({ name, stage, value }: RuleFigure): string {
  if (CONDITIONS.has(name)) return value === 1 ? "yes" : "no";
  if (value === null) return "∞";
  if (name === "tier") return TIERS[value] ?? numberText(value);
  // Of a service's metrics together "flapping" asks for more evidence, on the way to a page for a pause.
  if (DISTANCES.has(name) || (name === "flapping" && stage === "detection")) return `${numberText(value)} sigma`;
  if (SHARES.has(name)) return percentText(value);
  const unit = UNITS[name];
  return unit === undefined ? numberText(value) : `${numberText(value)} ${unit}`;
}
