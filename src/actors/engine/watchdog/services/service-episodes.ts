// From what the detector of a service says to the frames that tell the coordinator of an alert's begin, rise and end.
import type { EpisodeFrame } from "../../../../core/protocol/coordinator-frame.ts";
import type { ServiceDetector, ServiceVerdict } from "../../../../domain/detection/multivariate/service-detector.ts";
import {
  DETECTOR_SERVICE,
  explainService,
  METRIC_OF_SERVICE,
  type ServiceFinding,
  serviceVerdict,
  serviceZ,
} from "../../../../domain/detection/multivariate/service-verdict.ts";
import type { MonitoredService } from "./monitored-service.ts";

/** A peak that is so much higher than the one told last is told. */
const PEAK_GROWTH = 1.5;
/** Strangeness counts upwards only. */
const DIRECTION = "high";
const NOTHING: ServiceVerdict = { score: 0, z: 0, evidence: 0, gate: { isFiring: false, opened: false, suppressedBy: null } };

export interface ServiceEpisodesDependencies {
  /** 32 hex digits of a text. */
  readonly hashText: (text: string) => string;
  readonly send: (frame: EpisodeFrame) => void;
}

export class ServiceEpisodes {
  readonly #dependencies: ServiceEpisodesDependencies;

  constructor(dependencies: ServiceEpisodesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes what the detector said of a vector; true where an alert began or ended. */
  take(service: MonitoredService, detector: ServiceDetector, verdict: ServiceVerdict, wasFiring: boolean): boolean {
    const { gate } = verdict;
    if (gate.opened) {
      service.peakZ = serviceZ(verdict);
      this.#send(service, detector, verdict, "open");
    } else if (wasFiring && !gate.isFiring) this.#send(service, detector, verdict, "close");
    else if (gate.isFiring && serviceZ(verdict) > PEAK_GROWTH * service.peakZ) {
      service.peakZ = serviceZ(verdict);
      this.#send(service, detector, verdict, "update");
    }
    return gate.opened || wasFiring !== gate.isFiring;
  }

  /** Ends the alert of a service that is not judged any more, if one is open; true where it was. */
  end(service: MonitoredService): boolean {
    const detector = service.detector();
    if (detector?.isFiring !== true) return false;
    detector.gate.end();
    this.#send(service, detector, NOTHING, "close");
    return true;
  }

  #send(service: MonitoredService, detector: ServiceDetector, verdict: ServiceVerdict, transition: EpisodeFrame["transition"]): void {
    const { hashText, send } = this.#dependencies;
    const [tenant, serviceId] = JSON.parse(service.key) as [string, string];
    const startedAtMs = detector.gate.openedMs;
    const { rows, trainedMs, sampleMs } = service;
    const finding: ServiceFinding = { names: service.plan.names, verdict, timeMs: sampleMs, rows, trainedMs };
    send({
      tenant,
      environment: service.environment,
      serviceId,
      metricName: METRIC_OF_SERVICE,
      attributes: {},
      transition,
      episodeId: hashText(`${service.hash} ${DETECTOR_SERVICE} ${DIRECTION} ${startedAtMs}`),
      detector: DETECTOR_SERVICE,
      direction: DIRECTION,
      startedAtMs,
      observedAtMs: sampleMs,
      z: serviceZ(verdict),
      verdict: serviceVerdict(detector, finding),
      explanation: explainService(detector, finding),
      arrivalMs: 0,
    });
  }
}
