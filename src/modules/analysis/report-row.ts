// A report as it is stored: its newest revision, and of each revision before what is needed to score it.
import { hash128 } from "../../core/hashing/hash128.ts";
import type { Analysis, Candidate, FirstSymptom, InspectedCounts } from "../../domain/rca/analysis.ts";
import type { EvidenceItem } from "../../domain/rca/evidence-items.ts";
import type { Impact } from "../../domain/rca/impact.ts";
import type { IncidentTraits } from "../../domain/rca/incident-joins.ts";
import { flag, list, nullable, number, object, oneOf, optional, record, StoredForm, text } from "../state/stored-json.ts";

/** Findings of one revision. */
export interface RevisionNote {
  readonly revision: number;
  readonly evidenceUntilMs: number;
  /** The first three services. */
  readonly top: readonly string[];
  readonly confidence: number;
  readonly enough: boolean;
}

/** A report; `analysis` is that of the newest revision, without its signature. */
export interface RcaReport {
  readonly id: string;
  readonly tenant: string;
  readonly environment: string;
  /** The anomaly that began the incident. */
  readonly anomalyId: string;
  readonly serviceId: string;
  readonly metricName: string;
  /** All of them, as far as they are remembered, and how many there were. */
  readonly anomalies: readonly string[];
  readonly anomalyCount: number;
  readonly createdAtMs: number;
  readonly onsetMs: number;
  readonly evidenceUntilMs: number;
  readonly revision: number;
  readonly isFinal: boolean;
  readonly analysis: Omit<Analysis, "signature">;
  readonly revisions: readonly RevisionNote[];
  /** Bytes of the signature, by 127. */
  readonly signature: readonly number[];
}

const SIGNATURE_SCALE = 127;

/** The id of the report of an incident. */
export function reportIdOf(tenant: string, anomalyId: string): string {
  return hash128(JSON.stringify(["rca", tenant, anomalyId]));
}

const EVIDENCE_ITEM = object<EvidenceItem>({
  source: oneOf(["metric", "log", "span", "call", "change", "silence", "saturation", "load"]),
  text,
  strength: number,
});
const ANALYSIS = object<RcaReport["analysis"]>({
  enough: flag,
  candidates: list(
    object<Candidate>({ serviceId: text, metricName: text, instance: nullable(text), score: number, evidence: list(EVIDENCE_ITEM) }),
  ),
  category: oneOf(["infrastructure", "application", "external", "unknown"]),
  confidence: number,
  firstSymptom: nullable(object<FirstSymptom>({ serviceId: text, metricName: text, instance: nullable(text), atMs: number })),
  impact: list(object<Impact>({ serviceId: text, metricName: text, strength: number })),
  affected: optional(list(text)),
  numbers: record(number),
  lookedAt: object<InspectedCounts>({
    services: number,
    series: number,
    lines: number,
    operations: number,
    calls: number,
    changes: number,
  }),
});
/** Rows of `rca_reports`. */
export const RCA_REPORT = new StoredForm<RcaReport>("rca_reports", {
  id: text,
  tenant: text,
  environment: text,
  anomalyId: text,
  serviceId: text,
  metricName: text,
  anomalies: list(text),
  anomalyCount: number,
  createdAtMs: number,
  onsetMs: number,
  evidenceUntilMs: number,
  revision: number,
  isFinal: flag,
  analysis: ANALYSIS,
  revisions: list(object<RevisionNote>({ revision: number, evidenceUntilMs: number, top: list(text), confidence: number, enough: flag })),
  signature: list(number),
});

/**
 * The service that a report calls the cause, and those that it reaches by calls or a machine; null where it names none. What else has an anomaly of the incident is among its
 * impact, and was there at the same time: it is not explained by that. Reports of before have no list of those that are reached.
 */
export function explainedBy({ enough, candidates: [first], impact, affected }: RcaReport["analysis"]): IncidentTraits["cause"] {
  if (!enough || first === undefined) return null;
  const reached = affected ?? impact.map(({ serviceId }) => serviceId);
  return { serviceId: first.serviceId, explained: new Set([first.serviceId, ...reached]) };
}

/** A signature as whole numbers. */
export function packSignature(signature: Float32Array): number[] {
  return Array.from(signature, (value) => Math.round(SIGNATURE_SCALE * value));
}

export function unpackSignature(packed: readonly number[]): Float32Array {
  return Float32Array.from(packed, (value) => value / SIGNATURE_SCALE);
}
