// A finding of saturation as it is told, live and in a backtest: from its first telling to its end under one id, with its farthest z.
import { hash128 } from "../../core/hashing/hash128.ts";
import type { EpisodeFrame, StreamName } from "../../core/protocol/coordinator-frame.ts";
import { tierOfZ } from "../detection/anomaly-score.ts";
import { DETECTOR_SATURATION, type SaturationFinding } from "./saturation-finding.ts";

/** Bounded series are looked at every second cycle (rule 1.1.11: about two minutes). */
export const SATURATION_EVERY_CYCLES = 2;

const GROWTH_REPORTED = 1.1;

/** Finding on one series; times in ms since 1970. */
export interface ReportedFinding {
  /** 32 hex digits; that of its episode. */
  readonly id: string;
  readonly finding: SaturationFinding;
  /** Signed, the farthest that was told. */
  readonly peakZ: number;
  /** Time of the newest sample that the finding rests on. */
  readonly sampleMs: number;
  readonly startedAtMs: number;
}

/** Finding of an evaluation, and the sample that it was made with. */
export interface FoundFinding {
  readonly finding: SaturationFinding;
  readonly sampleMs: number;
}

/** Report once an evaluation has found something again, or for the first time; `key` is that of the series. */
export function nextReport(
  before: ReportedFinding | undefined,
  key: string,
  { finding, sampleMs }: FoundFinding,
  nowMs: number,
): ReportedFinding {
  const startedAtMs = before?.startedAtMs ?? nowMs;
  const { z } = finding.verdict;
  const peakZ = before === undefined || isFarther(z, before.peakZ) ? z : before.peakZ;
  const id = before?.id ?? hash128(JSON.stringify([DETECTOR_SATURATION, key, startedAtMs]));
  return { id, finding, peakZ, sampleMs, startedAtMs };
}

/** As an end comes closer its z grows a little with every value: told is what is a tenth more, or of another tier. */
function isFarther(z: number, reportedZ: number): boolean {
  return Math.abs(z) >= GROWTH_REPORTED * Math.abs(reportedZ) || (Math.abs(z) > Math.abs(reportedZ) && tierOfZ(z) !== tierOfZ(reportedZ));
}

/** Transition of a finding from `before`: only one that is new or went farther is news. */
export function transitionOf(before: ReportedFinding | undefined, { peakZ }: ReportedFinding): "open" | "update" | undefined {
  if (before === undefined) return "open";
  return peakZ === before.peakZ ? undefined : "update";
}

export function frameOfFire(
  name: StreamName,
  { id, finding, sampleMs, startedAtMs }: ReportedFinding,
  transition: EpisodeFrame["transition"],
): EpisodeFrame {
  const { tenant, environment, serviceId, metricName, attributes } = name;
  return {
    tenant,
    environment,
    serviceId,
    metricName,
    attributes,
    transition,
    episodeId: id,
    detector: DETECTOR_SATURATION,
    direction: finding.kind === "remaining" ? "low" : "high",
    startedAtMs,
    observedAtMs: sampleMs,
    z: finding.verdict.z,
    verdict: finding.verdict,
    explanation: finding.text,
    arrivalMs: 0,
  };
}
