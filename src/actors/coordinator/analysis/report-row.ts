// A report as it is stored: its newest revision, and of each revision before what is needed to score it.
import { hash128 } from "../../../core/base/hash128.ts";
import type { Analysis } from "../../../domain/rca/analysis.ts";
import { decodeStored, encodeStored } from "../state/stored-json.ts";

/** What one revision said. */
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

export function encodeReport(report: RcaReport): Uint8Array {
  return encodeStored(report);
}

export function decodeReport(bytes: Uint8Array): RcaReport {
  return decodeStored<RcaReport>(bytes);
}

/** A signature as whole numbers. */
export function packSignature(signature: Float32Array): number[] {
  return Array.from(signature, (value) => Math.round(SIGNATURE_SCALE * value));
}

export function unpackSignature(packed: readonly number[]): Float32Array {
  return Float32Array.from(packed, (value) => value / SIGNATURE_SCALE);
}
