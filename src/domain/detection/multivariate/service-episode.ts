// Episodes of a service under its joint detector: when one begins, rises and ends, and the frame that reports it.
import type { EpisodeFrame, StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { ServiceDetector, ServiceVerdict } from "./service-detector.ts";
import {
  DETECTOR_SERVICE,
  evidenceZ,
  explainService,
  METRIC_OF_SERVICE,
  type ServiceFinding,
  serviceVerdict,
  serviceZ,
} from "./service-verdict.ts";

/** A peak that is so much higher than the one told last is told. */
const PEAK_GROWTH = 1.5;
/** Strangeness counts upwards only. */
const DIRECTION = "high";

/** Verdict where an episode ends without a vector. */
export const SERVICE_AT_REST: ServiceVerdict = {
  score: 0,
  z: 0,
  evidence: 0,
  tail: 0,
  firing: { isFiring: false, opened: false, suppressedBy: null },
};

/** Transition by a verdict of the episode whose highest reported peak is `peakZ`; undefined where nothing is to be reported. What opens or updates has a new peak. */
export function serviceTransition(verdict: ServiceVerdict, wasFiring: boolean, peakZ: number): EpisodeFrame["transition"] | undefined {
  const { firing } = verdict;
  if (firing.opened) return "open";
  if (wasFiring && !firing.isFiring) return "close";
  if (!firing.isFiring) return undefined;
  // What passes the service's own tail is reported by the vector that passes it, however little it rises above what opened the episode.
  const isBeyondTail = verdict.evidence >= verdict.tail && evidenceZ(verdict.tail) > peakZ;
  return isBeyondTail || serviceZ(verdict) > PEAK_GROWTH * peakZ ? "update" : undefined;
}

/** Where the episode is. */
export interface ServiceEpisodeScope extends Pick<StreamName, "tenant" | "environment" | "serviceId"> {
  /** The service's (core/protocol/service-rows.ts). */
  readonly hash: string;
}

/** `hashText` gives 32 hex digits of a text. */
export function serviceFrame(
  { tenant, environment, serviceId, hash }: ServiceEpisodeScope,
  detector: ServiceDetector,
  finding: ServiceFinding,
  transition: EpisodeFrame["transition"],
  hashText: (text: string) => string,
): EpisodeFrame {
  const startedAtMs = detector.firing.openedMs;
  return {
    tenant,
    environment,
    serviceId,
    metricName: METRIC_OF_SERVICE,
    attributes: {},
    transition,
    episodeId: hashText(`${hash} ${DETECTOR_SERVICE} ${DIRECTION} ${startedAtMs}`),
    detector: DETECTOR_SERVICE,
    direction: DIRECTION,
    startedAtMs,
    observedAtMs: finding.timeMs,
    z: serviceZ(finding.verdict),
    verdict: serviceVerdict(detector, finding),
    explanation: explainService(detector, finding),
    arrivalMs: 0,
  };
}
