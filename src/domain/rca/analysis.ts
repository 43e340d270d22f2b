// The analysis of an incident: evidence in, report out. Pure; a few milliseconds for 200 services of 40 series.
//
// Root cause, first symptom and impact are kept apart: the cause is the service that its own resources, lines, times, changes or silence speak for; the
// first symptom is what departed first; the impact are those that call the cause and show symptoms. Latency and errors alone are symptoms: where nothing
// else speaks, or nothing more than on a usual day, the answer is that there is not enough evidence, with what was looked at.

import { STALE_METRIC } from "../detection/service/stale-finding.ts";
import { categoryOf, FELT_MIN, type RootCauseCategory } from "./category.ts";
import type { IncidentEvidence, SeriesEvidence } from "./evidence.ts";
import { type EvidenceItem, evidenceItems, evidenceNumbers, leadingSeries } from "./evidence-items.ts";
import { affectedOf, type Impact, impactOf } from "./impact.ts";
import { meaningOf, RESOURCE_KINDS, SYMPTOM_MIN } from "./metric-kind.ts";
import { type RankedService, type Ranking, rankServices } from "./ranking.ts";
import { factsOf } from "./series-facts.ts";
import { type IncidentSignature, signatureOf } from "./signature.ts";

/** Candidates of a report. */
const CANDIDATES_MAX = 10;
/** Share of the windows before that may reach what is there now: beyond, it is a usual day. */
const TAIL_SHARE_MAX = 0.1;
/** Spreads above what is usual that a cause of its own must show at least, in a resource or as its callers feel it. */
const RESOURCE_MIN = 1.5;
/** A first candidate that only metrics speak for has such a score at least: what the largest of a usual day has. */
const SCORE_MIN = 0.7;
/** Where fewer windows before are known their largest says little of a usual day, and somebody asks because a value was unusual: half as much again is asked. */
const WINDOWS_KNOWN = 40;
const SCORE_MIN_OF_FEW = 1.2;
/** Where a service sends nothing but symptoms, it is the cause when it is so far ahead of the second; such a cause is less sure. */
const FAR_AHEAD_MIN = 0.15;
const SYMPTOMS_ALONE = 0.7;
/**
 * Confidence is that it is this service, by how far the second is behind, and where few windows are known times that there is a cause at all, by the score, with even odds at
 * the least that is asked; both are logistic, the first chosen on every second case of labelled data, the other on generated systems (ADR 97).
 */
const MARGIN_SLOPE = 2.5;
const SCORE_SLOPE_OF_FEW = 2;

/** A candidate for the cause. */
export interface Candidate {
  readonly serviceId: string;
  readonly metricName: string;
  readonly instance: string | null;
  readonly score: number;
  readonly evidence: readonly EvidenceItem[];
}

/** Series that departed first. */
export interface FirstSymptom {
  readonly serviceId: string;
  readonly metricName: string;
  readonly instance: string | null;
  readonly atMs: number;
}

/** Counts of all that was looked at. */
export interface InspectedCounts {
  readonly services: number;
  readonly series: number;
  readonly lines: number;
  readonly operations: number;
  readonly calls: number;
  readonly changes: number;
}

/** The report of an analysis. */
export interface Analysis {
  readonly enough: boolean;
  readonly candidates: readonly Candidate[];
  readonly category: RootCauseCategory;
  readonly confidence: number;
  readonly firstSymptom: FirstSymptom | null;
  readonly impact: readonly Impact[];
  /** Services that the cause reaches; absent in reports of earlier versions. */
  readonly affected?: readonly string[];
  /** Named numbers of the first candidate. */
  readonly numbers: Readonly<Record<string, number>>;
  readonly lookedAt: InspectedCounts;
  readonly signature: IncidentSignature;
}

export function analyse(evidence: IncidentEvidence): Analysis {
  const ranking = rankServices(evidence);
  const [first, second] = ranking.services;
  const margin = (first?.score ?? 0) - (second?.score ?? 0);
  const basis = first === undefined ? "none" : basisOf(ranking, first, margin, evidence.target);
  const enough = first !== undefined && basis !== "none";
  return {
    enough,
    candidates: ranking.services.slice(0, CANDIDATES_MAX).map((service) => candidateOf(ranking, service)),
    category: enough ? categoryOf(ranking, evidence, first) : "unknown",
    confidence: enough ? (basis === "symptoms" ? SYMPTOMS_ALONE : 1) * confidenceOf(ranking, first, margin) : 0,
    firstSymptom: firstSymptom(evidence.series),
    impact: first === undefined ? [] : impactOf(ranking, first, evidence.members),
    affected: first === undefined ? [] : affectedOf(ranking, first),
    numbers: first === undefined ? {} : evidenceNumbers(ranking, first),
    lookedAt: lookedAt(evidence),
    signature: signatureOf(ranking, evidence, first),
  };
}

function confidenceOf(ranking: Ranking, { score }: RankedService, margin: number): number {
  return logistic(MARGIN_SLOPE * margin) * (knowsFew(ranking) ? logistic(SCORE_SLOPE_OF_FEW * (score - SCORE_MIN_OF_FEW)) : 1);
}

function knowsFew({ metrics }: Ranking): boolean {
  return metrics.windows < WINDOWS_KNOWN;
}

function logistic(of: number): number {
  return 1 / (1 + Math.exp(-of));
}

/** What a cause is said on. */
type Basis = "evidence" | "symptoms" | "none";

/** Whether something departs that usually does not, and the first candidate has more to show than symptoms, or sends nothing else and is far ahead. */
function basisOf(ranking: Ranking, first: RankedService, margin: number, target: IncidentEvidence["target"]): Basis {
  const { metrics, lines, spans, usualLine, usualSpan, surge, peers } = ranking;
  const isUnusual =
    metrics.tailShare <= TAIL_SHARE_MAX ||
    (lines[0]?.strength ?? 0) >= usualLine ||
    (spans[0]?.strength ?? 0) >= usualSpan ||
    first.silent ||
    surge !== undefined;
  const hasCause =
    (first.metrics?.resource ?? 0) >= RESOURCE_MIN ||
    (first.metrics?.feltByCallers ?? 0) >= FELT_MIN ||
    (first.line?.strength ?? 0) >= usualLine ||
    (first.span?.strength ?? 0) >= usualSpan ||
    first.silent ||
    first.saturated ||
    first.change !== undefined ||
    (peers.has(first.serviceId) && (first.metrics?.symptom ?? 0) >= SYMPTOM_MIN) ||
    surge?.serviceId === first.serviceId;
  const scoreMin = knowsFew(ranking) ? SCORE_MIN_OF_FEW : SCORE_MIN;
  if (!isUnusual || (first.score < scoreMin && !speaksByItself(ranking, first))) return "none";
  if (hasCause) return "evidence";
  return sendsSymptomsAlone(ranking, first) && margin >= FAR_AHEAD_MIN && !isOwnResource(target, first) ? "symptoms" : "none";
}

/** Whether what is asked about is a resource of another service: that somebody is slow fills no disk of others. */
function isOwnResource(target: IncidentEvidence["target"], { serviceId }: RankedService): boolean {
  return target !== null && target.serviceId !== serviceId && RESOURCE_KINDS.some((kind) => kind === meaningOf(target.metricName).kind);
}

/** Whether a line, a span or silence speaks for a candidate, and not metrics alone. */
function speaksByItself({ usualLine, usualSpan }: Ranking, { line, span, silent }: RankedService): boolean {
  return silent || (line?.strength ?? 0) >= usualLine || (span?.strength ?? 0) >= usualSpan;
}

/** Whether no resource, line or time of its own of a service is known, so that none can be asked for. */
function sendsSymptomsAlone({ metrics: { table } }: Ranking, { serviceId, line, span }: RankedService): boolean {
  const service = table.numberOf(serviceId);
  if (service === undefined || line !== undefined || span !== undefined) return false;
  return RESOURCE_KINDS.every((kind) => table.leading(service, kind) === undefined);
}

function candidateOf(ranking: Ranking, service: RankedService): Candidate {
  const { serviceId, score } = service;
  const series = leadingSeries(ranking, service);
  const metricName =
    series?.metricName ?? (service.line !== undefined ? "log.template" : service.silent ? STALE_METRIC : "span.duration_ms.p95");
  return { serviceId, metricName, instance: series?.instance ?? null, score, evidence: evidenceItems(ranking, service) };
}

function firstSymptom(series: readonly SeriesEvidence[]): FirstSymptom | null {
  let first: SeriesEvidence | undefined;
  for (const one of factsOf(series).departed) {
    const { kind, harm } = meaningOf(one.metricName);
    const isSymptom = kind === "latency" || kind === "errors" || kind === "dependency";
    if (!isSymptom || Math.sign(one.departure.shift) !== harm) continue;
    if (first === undefined || isBefore(one, first)) first = one;
  }
  return first === undefined
    ? null
    : { serviceId: first.serviceId, metricName: first.metricName, instance: first.instance, atMs: first.onsetMs };
}

/** Earlier, or as early and farther away. */
function isBefore(a: SeriesEvidence, b: SeriesEvidence): boolean {
  return a.onsetMs < b.onsetMs || (a.onsetMs === b.onsetMs && a.departure.novelty > b.departure.novelty);
}

function lookedAt({ series, lines, operations, calls, changes }: IncidentEvidence): InspectedCounts {
  const services = new Set(factsOf(series).services);
  for (const list of [lines, operations]) for (const { serviceId } of list) services.add(serviceId);
  return {
    services: services.size,
    series: series.length,
    lines: lines.length,
    operations: operations.length,
    calls: calls.length,
    changes: changes.length,
  };
}
