// Why something was detected, and why somebody was notified of it or not, in words that need no manual.
import { departureText, numberText, zText } from "./number-text.ts";
import type { Verdict } from "./shapes.ts";

const GATE_TEXTS: Readonly<Record<string, string>> = {
  threshold: "far enough from its usual values",
  minimum_samples: "enough samples to compare with",
  not_persistent: "it lasted for one sample only",
  persistence: "it lasted",
  lasting: "it has stayed so for three minutes",
  extreme: "several values in a row, many times the usual",
  far_out: "far out, as others of its service may confirm",
  practical_significance: "large enough to matter",
  significance: "large enough to matter",
  counts: "more than chance brings of so few",
  confirmation: "confirmed by a second look, or by another signal",
  warm_up: "the server had run for long enough",
  warmup: "the server had run for long enough",
  own_tail: "further than it strays by itself",
  exclusion: "not excluded by hand",
  evidence: "enough evidence of its metrics together",
  same_incident: "not the same incident as before",
  ensemble: "detectors that agree",
  group_wait: "others of its cause need no waiting for",
  within_bucket_width: "more than half a bucket of its histogram",
  snoozed: "nobody has snoozed it",
  silenced: "no silence covers it",
  silence: "no silence covers it",
  inhibited: "no other alert keeps it quiet",
  inhibition: "no other alert keeps it quiet",
  dedup: "nobody was notified of it already",
  flapping: "it does not come and go",
  severity: "serious enough to alert",
  tier: "serious enough to alert",
  minimum_traffic: "enough traffic to judge by",
  direction: "in a direction that may alert",
  feedback: "people have not called it a false alarm",
  rca_cooldown: "no analysis has just been made of it",
  acknowledged: "nobody has it in hand already",
  not_a_habit: "not as it has come before",
};

/** Question of a gate, in words. */
export function gateText(name: string): string {
  return GATE_TEXTS[name] ?? name.replaceAll("_", " ");
}

const SUPPRESSION_TEXTS: Readonly<Record<string, string>> = {
  threshold: "it was not far enough from its usual values",
  not_persistent: "it lasted for one sample only",
  persistence: "it has not lasted long enough",
  practical_significance: "it is too small to matter",
  significance: "it is too small to matter",
  counts: "chance brings as many of so few",
  few_counts: "chance brings as many of so few",
  confirmation: "not confirmed yet",
  warm_up: "the server has just started",
  warmup: "the server has just started",
  group_wait: "it waits for others of the same cause",
  own_tail: "it strays so far by itself",
  snoozed: "somebody has snoozed it",
  silenced: "a silence covers it",
  silence: "a silence covers it",
  inhibited: "another alert keeps it quiet",
  inhibition: "another alert keeps it quiet",
  dedup: "people were already notified of it",
  flapping: "it comes and goes",
  severity: "it is not serious enough",
  tier: "it is not serious enough",
  minimum_traffic: "there is too little traffic to judge by",
  direction: "departures in this direction do not alert",
  relief: "it is the end of what ran full",
  feedback: "people have called such findings false alarms",
  acknowledged: "somebody has it in hand",
  not_a_habit: "it has come before at this time, as long and as deep",
};

/** Why a gate held something back, in words. */
export function suppressionText(gate: string): string {
  return SUPPRESSION_TEXTS[gate] ?? gate.replaceAll("_", " ");
}

const DETECTORS: Readonly<Record<string, string>> = {
  z_score: "every sample against the window before it",
  adaptive: "the series against its usual day and week",
  isolation_forest: "the service's metrics together",
  multivariate: "the service's metrics together",
  stale: "a service that has fallen silent",
  cascade: "services that fail after each other",
  slo_burn: "an error budget that burns too fast",
  saturation: "something that runs full",
  manual: "a person",
  external: "an alert that came in",
};

/** Detector of the anomaly, in words. */
export function detectorText(detector: string): string {
  return DETECTORS[detector] ?? detector.replaceAll("_", " ");
}

const HOLD_TEXTS: Readonly<Record<string, string>> = {
  confirmation: "not confirmed yet",
  warm_up: "server just started",
  warmup: "server just started",
  dedup: "already notified",
};

/** Outcome on its way to a page, in a few words; null where nothing is known. */
export function outcomeText(outcome: string | null, suppressedBy: string | null): string | null {
  if (outcome === null) return null;
  if (outcome === "paged") return "paged";
  if (outcome === "absorbed") return "part of an alert";
  if (outcome === "suppressed")
    return suppressedBy === null ? "on hold" : `on hold: ${HOLD_TEXTS[suppressedBy] ?? suppressedBy.replaceAll("_", " ")}`;
  if (outcome === "logged") return "logged only";
  return outcome;
}

/** Whether the verdict's numbers are values of its series: rules on whole services count something else. */
export function hasSeries(metricName: string): boolean {
  return !["service.multivariate", "service.stale", "service.cascade", "slo.burn"].includes(metricName);
}

type VerdictNumbers = Pick<Verdict, "observed" | "expected" | "lower" | "upper" | "z" | "threshold" | "baseline">;

/** The numbers behind a verdict, each with what it is. */
export function verdictFacts(verdict: VerdictNumbers, unit: string): ReadonlyArray<readonly [label: string, value: string]> {
  const { observed, expected, lower, upper, z, threshold, baseline } = verdict;
  const value = (number: number) => `${numberText(number)}${unit === "" ? "" : ` ${unit}`}`;
  const departure = departureText(observed, expected);
  return [
    ["Observed", `${value(observed)}${departure === null ? "" : ` (${departure})`}`],
    ["Expected", `${value(expected)}, ordinary from ${numberText(lower)} to ${numberText(upper)}`],
    ["Deviation", `${zText(z)} sigma, threshold ${numberText(threshold)}`],
    [
      "Compared with",
      `${numberText(baseline.n)} values: median ${numberText(baseline.median)}, mean ${numberText(baseline.mean)}, spread ${numberText(baseline.sd)}`,
    ],
  ];
}

interface AnomalyText {
  readonly service_id: string;
  readonly metric_name: string;
  readonly environment: string;
  readonly severity: string;
  readonly explanation: string;
  readonly detected_at: string;
  readonly resolved_at: string | null;
  readonly outcome: string | null;
  readonly suppressed_by: string | null;
}

/** An anomaly as lines for a chat. */
export function anomalyText(anomaly: AnomalyText, address: string): string {
  const where = anomaly.environment === "" ? anomaly.service_id : `${anomaly.service_id} (${anomaly.environment})`;
  const end = anomaly.resolved_at === null ? "still open" : `resolved ${anomaly.resolved_at}`;
  return [
    `${anomaly.severity.toUpperCase()} ${where}: ${anomaly.metric_name}`,
    anomaly.explanation,
    `detected ${anomaly.detected_at}, ${end}${anomaly.outcome === null ? "" : `, ${outcomeText(anomaly.outcome, anomaly.suppressed_by)}`}`,
    address,
  ].join("\n");
}

/** Behaviour that many services showed at once. */
export function burstText({ metric_name, direction }: { readonly metric_name: string; readonly direction: "high" | "low" }): string {
  if (metric_name === "service.stale") return "fell silent together";
  return `${metric_name} ${direction === "high" ? "rose" : "fell"} at once`;
}
