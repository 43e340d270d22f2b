// An anomaly as the pipeline to a page is asked about it.

import { type Anomaly, isLasting } from "../../anomaly/anomaly.ts";
import { saysAnother, sentenceOf } from "../../anomaly/sentence.ts";
import { type Tier, tierRank } from "../../detection/anomaly-score.ts";
import { FAR_OUT, HOLD_ENDS, LONG_BASELINE_GATE, OWN_REACH, OWN_TAIL_GATE } from "../../detection/departure/own-tail.ts";
import { type Effect, risesAtMs, severityOf } from "../severity.ts";
import type { Alert } from "./alert.ts";
import { familyOfDetector } from "./detector-family.ts";
import type { Finding } from "./finding.ts";
import { isFarWorse } from "./worse-update.ts";

interface VerdictNumbers {
  readonly observed?: unknown;
  readonly expected?: unknown;
  readonly upper?: unknown;
  readonly threshold?: unknown;
  readonly baseline?: { readonly n?: unknown; readonly sd?: unknown; readonly age_seconds?: unknown } | null;
  readonly gates?: unknown;
  readonly contributions?: unknown;
}

interface PassedNumbers {
  readonly name?: unknown;
  readonly value?: unknown;
  readonly limit?: unknown;
}

/** What is nothing beside what the series does by itself, or to the other side of what was to be expected. */
const REACHES_MAX = 100;

/** Metrics that a finding on a service's metrics together is about: as many as its sentence names, each with a part of it that counts. */
const NAMED_METRICS = 3;
const NAMED_SHARE = 0.1;

/** State that the last decision on it has left. */
export interface DecidedBefore {
  /** That it belongs to already. */
  readonly alertId: string | null;
  readonly tier: Tier;
}

export function findingOf(anomaly: Anomaly, kind: Finding["kind"], before: DecidedBefore | null, atMs: number): Finding {
  const { tenant, environment, serviceId, metricName, attributes, detector, z } = anomaly;
  const verdict = anomaly.verdict as VerdictNumbers | null;
  const gates = Array.isArray(verdict?.gates)
    ? (verdict.gates as ReadonlyArray<{ readonly name?: unknown; readonly passed?: unknown }>)
    : [];
  const isNamed = (gate: string) => gates.some(({ name, passed }) => name === gate && passed === true);
  const services = detector === "cascade" && Array.isArray(attributes.members) ? attributes.members.map(String) : [];
  return {
    kind,
    tenant,
    environment,
    serviceId,
    metricName,
    attributes,
    anomalyId: anomaly.id,
    detector,
    operation: gates.some(({ name }) => name === "operation_bar"),
    isRare: isNamed(OWN_TAIL_GATE) || [...HOLD_ENDS].some(isNamed),
    isFarOut: isNamed(FAR_OUT),
    hasLongBaseline: isNamed(LONG_BASELINE_GATE),
    z,
    threshold: typeof verdict?.threshold === "number" ? verdict.threshold : 0,
    baselineValues: typeof verdict?.baseline?.n === "number" ? verdict.baseline.n : 0,
    effect: effectOf(anomaly),
    services,
    explanation: sentenceOf(anomaly),
    ...(familyOfDetector(detector) === "multivariate" && { named: namedMetrics(verdict?.contributions) }),
    alertId: before?.alertId ?? null,
    tierBefore: before?.tier ?? null,
    startedAtMs: anomaly.startedAtMs,
    firedAtMs: kind === "raised" ? anomaly.detectedAtMs : atMs,
    atMs,
  };
}

/** Severity of an anomaly at this time, by itself: without what other detectors say of its service. */
function severityOfAnomaly(anomaly: Anomaly, atMs: number): Tier {
  return severityOf(weighed(anomaly), atMs);
}

/** Whether an anomaly is high and far worse than people know of it by its alert. */
export function isFarWorseThanNotified(anomaly: Anomaly, known: Alert, atMs: number): boolean {
  return isFarWorse(weighed(anomaly), known) && severityOfAnomaly(anomaly, atMs) === "high";
}

/** When an anomaly that was decided on, and goes on as it is, becomes more severe than that; null where it does not. */
export function anomalyRisesAtMs(anomaly: Anomaly, decided: Tier): number | null {
  return risesAtMs(weighed(anomaly), decided);
}

/** An anomaly by its last decision and as it is now, and whether that decision has reached people. */
interface DecidedChange {
  readonly before: Anomaly;
  readonly after: Anomaly;
  readonly reached: boolean;
}

/**
 * Whether a higher peak, another text, a stream more, or the end of a hold may change what was decided: of one that reached people only a higher severity does, which goes by how far
 * the value is (of a series that was still, z says no more than that it moved).
 */
export function mayChangeDecision({ before, after, reached }: DecidedChange, nowMs: number): boolean {
  if (reached) return tierRank(severityOfAnomaly(after, nowMs)) > tierRank(severityOfAnomaly(before, nowMs));
  const isChanged = before.z !== after.z || saysAnother(before, after);
  return isChanged || (isLasting(after) && !isLasting(before)) || before.streams !== after.streams;
}

function weighed(anomaly: Anomaly) {
  return { metricName: anomaly.metricName, z: anomaly.z, effect: effectOf(anomaly) };
}

function namedMetrics(contributions: unknown): string[] {
  if (!Array.isArray(contributions)) return [];
  const parts = contributions as ReadonlyArray<{ readonly feature?: unknown; readonly delta_score?: unknown }>;
  const weight = ({ delta_score }: (typeof parts)[number]) => (typeof delta_score === "number" ? delta_score : 0);
  const total = parts.reduce((sum, part) => sum + weight(part), 0);
  return parts
    .slice(0, NAMED_METRICS)
    .filter((part) => weight(part) > 0 && weight(part) >= NAMED_SHARE * total)
    .map(({ feature }) => String(feature));
}

/** What a statistic has found; undefined where none has, or its verdict has no numbers. */
function effectOf({ detector, verdict, streams, startedAtMs }: Anomaly): Effect | undefined {
  const family = familyOfDetector(detector);
  if (family !== "metric" && family !== "multivariate") return undefined;
  const { observed, expected, upper, baseline, gates } = (verdict ?? {}) as VerdictNumbers;
  const isJoint = family === "multivariate";
  const sd = isJoint ? upper : baseline?.sd;
  if (typeof observed !== "number" || typeof expected !== "number" || typeof sd !== "number") return undefined;
  const reaches = isJoint ? 0 : reachesOf(gates);
  return { observed, expected, sd, isJoint, reaches, streams, startedAtMs, intervalMs: isJoint ? 0 : intervalOf(baseline) };
}

/** How many times as far as the value the series goes by chance, as its own tail has it; 0 where that is not known. */
function reachesOf(gates: unknown): number {
  const known = Array.isArray(gates) ? (gates as readonly PassedNumbers[]).find(({ name }) => name === OWN_REACH) : undefined;
  if (typeof known?.value !== "number" || typeof known.limit !== "number") return 0;
  return known.value * REACHES_MAX > known.limit ? known.limit / known.value : REACHES_MAX;
}

/** Usual time between values of a baseline, in ms. */
function intervalOf(baseline: VerdictNumbers["baseline"]): number {
  const { n, age_seconds: age } = baseline ?? {};
  return typeof n === "number" && typeof age === "number" && n > 0 ? (1_000 * age) / n : 0;
}
