// From what the detector of a service says to the frames that tell the coordinator of an alert's begin, rise and end.
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { ServiceDetector, ServiceVerdict } from "../multivariate/service-detector.ts";
import { SERVICE_AT_REST, serviceFrame, serviceTransition } from "../multivariate/service-episode.ts";
import { type ServiceFinding, serviceZ } from "../multivariate/service-verdict.ts";
import type { MonitoredService } from "./monitored-service.ts";

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
    const transition = serviceTransition(verdict, wasFiring, service.peakZ);
    if (transition === "open" || transition === "update") service.peakZ = serviceZ(verdict);
    if (transition !== undefined) this.#send(service, detector, verdict, transition);
    const { firing } = verdict;
    return firing.opened || wasFiring !== firing.isFiring;
  }

  /** Ends the alert of a service that is not judged any more, if one is open; true where it was. */
  end(service: MonitoredService): boolean {
    const detector = service.detector();
    if (detector?.isFiring !== true) return false;
    detector.firing.end();
    this.#send(service, detector, SERVICE_AT_REST, "end");
    return true;
  }

  #send(service: MonitoredService, detector: ServiceDetector, verdict: ServiceVerdict, transition: EpisodeFrame["transition"]): void {
    const { hashText, send } = this.#dependencies;
    const [tenant, serviceId] = JSON.parse(service.key) as [string, string];
    const { environment, hash, rows, trainedMs, sampleMs } = service;
    const finding: ServiceFinding = { names: service.plan.shape.names, verdict, timeMs: sampleMs, rows, trainedMs };
    send(serviceFrame({ tenant, environment, serviceId, hash }, detector, finding, transition, hashText));
  }
}
