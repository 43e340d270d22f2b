// The verdict record of a service's joint detector, and its sentence.
import { percentText } from "../../../core/text/plain-number.ts";
import { anomalyScore } from "../anomaly-score.ts";
import { OWN_TAIL_GATE } from "../departure/own-tail.ts";
import { atLeast, holds } from "../gates/gate-result.ts";
import { SATURDAY, SUNDAY } from "../seasonal/hour-profile.ts";
import { equivalentZ, logNormalTail, shownProbability, Z_MAX } from "../tail-probability.ts";
import { figure, zText } from "../verdict.ts";
import { EVIDENCE_BAR, type MetricShare, type ServiceDetector, type ServiceVerdict } from "./service-detector.ts";

export const DETECTOR_SERVICE = "isolation_forest";
export const METRIC_OF_SERVICE = "service.multivariate";
const LAYERS = ["statistical", "isolation_forest"] as const;
/** Evidence is taken for Student's t with so many degrees of freedom: what a broken relation leaves over has heavy tails. */
const EVIDENCE_FREEDOM = 3;
/** The bar of the evidence as an equivalent z: what the verdict's z is held against. */
const Z_BAR = equivalentZ(EVIDENCE_BAR, EVIDENCE_FREEDOM);
/** Metrics that the sentence names; that a verdict names, and of which their values are given. */
const EXPLAINED = 3;
const CONTRIBUTIONS_MAX = 16;
const CORRELATED_MAX = 16;

/** Facts known besides the detector. */
export interface ServiceFinding {
  readonly names: readonly string[];
  readonly verdict: ServiceVerdict;
  readonly timeMs: number;
  /** Vectors that the model was trained on, and when. */
  readonly rows: number;
  readonly trainedMs: number;
}

/** Equivalent z of the rarer of both: the vector in training, the evidence in its own history. */
export function serviceZ({ z, evidence }: Pick<ServiceVerdict, "z" | "evidence">): number {
  return Math.min(Z_MAX, Math.max(z, evidenceZ(evidence)));
}

/** Equivalent z of evidence, in standard deviations of its own history; 0 where there is none. */
export function evidenceZ(evidence: number): number {
  return evidence > 0 ? equivalentZ(evidence, EVIDENCE_FREEDOM) : 0;
}

/** Verdict (domain/detection/verdict.ts) of the detector's last vector, with the features of the metric that contributes most. */
export function serviceVerdict(detector: ServiceDetector, finding: ServiceFinding) {
  const { names, verdict, timeMs, rows, trainedMs } = finding;
  const z = serviceZ(verdict);
  const bar = EVIDENCE_BAR * detector.firing.bar;
  const shares = detector.contributions(names);
  const { suppressedBy } = verdict.firing;
  return {
    detector: DETECTOR_SERVICE,
    observed: verdict.evidence,
    expected: 0,
    lower: 0,
    upper: EVIDENCE_BAR,
    z,
    p: shownProbability(logNormalTail(z), rows),
    threshold: Z_BAR,
    baseline: { n: rows, mean: 0, sd: 1, median: 0, bucket: null, age_seconds: Math.max(0, (timeMs - trainedMs) / 1000) },
    contributions: shares.slice(0, CONTRIBUTIONS_MAX).map(({ feature, share }) => ({ feature, delta_score: share * anomalyScore(z) })),
    gates: [
      atLeast("evidence", verdict.evidence, EVIDENCE_BAR),
      { name: "flapping", passed: suppressedBy !== "flapping", value: verdict.evidence, limit: bar },
      holds("same_incident", suppressedBy !== "same_incident"),
      atLeast(OWN_TAIL_GATE, verdict.evidence, verdict.tail),
    ],
    suppressed_by: suppressedBy,
    layers: LAYERS,
    features: featuresOf(detector, shares, timeMs),
  };
}

/** One plain sentence, such as: 6 metrics were not as they usually are together (equivalent z 7.2): latency_ms was 412 (120 would fit the others, 71 % of it), ... */
export function explainService(detector: ServiceDetector, { names, verdict }: Pick<ServiceFinding, "names" | "verdict">): string {
  const parts = detector
    .contributions(names)
    .slice(0, EXPLAINED)
    .map(
      ({ feature, value, usual, share }) =>
        `${feature} was ${figure(value)} (${figure(usual)} would fit the others, ${percentText(share)} of it)`,
    );
  return `${names.length} metrics were not as they usually are together (${zText(verdict.evidence)}): ${parts.join(", ")}`;
}

/** Features of the metric with the largest share, as the contract names them: derivatives are differences of neighbouring vectors, hours and days UTC. */
function featuresOf(detector: ServiceDetector, [first, ...others]: readonly MetricShare[], timeMs: number) {
  const { column = 0, value = 0 } = first ?? {};
  const [before, earlier] = [detector.row(1)[column] as number, detector.row(2)[column] as number];
  const at = new Date(timeMs);
  const day = at.getUTCDay();
  return {
    metric_name: first?.feature ?? "",
    raw_value: value,
    derivative_value: value - before,
    second_derivative: value - 2 * before + earlier,
    hour_of_day: at.getUTCHours(),
    day_of_week: day,
    is_weekend: day === SUNDAY || day === SATURDAY,
    correlated_metrics: Object.fromEntries(others.slice(0, CORRELATED_MAX).map((other) => [other.feature, other.value])),
  };
}
