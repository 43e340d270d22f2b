// Episodes of the rules that the coordinator itself judges each cycle (stale services, SLO burn, cascades), stored as an engine's findings are. What is open is
// known again after a restart by the anomalies that it made.
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import {
  type EpisodeFate,
  type ReportedFinding,
  type ReportedScope,
  RuleEpisodeSet,
  type RuleFinding,
  type RuleScope,
} from "../../domain/detection/service/rule-episode-set.ts";
import type { AnomalyBook } from "./anomaly-book.ts";

export interface RuleEpisodesDependencies {
  readonly state: { readonly anomalies: AnomalyBook };
  /** Stores frames; rejects with StoreError, and then nothing has changed. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
}

/** The episodes of one detector. */
export class RuleEpisodes {
  readonly #detector: string;
  readonly #dependencies: RuleEpisodesDependencies;
  readonly #episodes: RuleEpisodeSet;
  #isLoaded = false;

  constructor(detector: string, dependencies: RuleEpisodesDependencies) {
    this.#detector = detector;
    this.#dependencies = dependencies;
    this.#episodes = new RuleEpisodeSet(detector);
  }

  /** Reads what is open, at the first call; each is given to `loaded`. */
  load(loaded?: (reported: ReportedFinding) => void): void {
    if (this.#isLoaded) return;
    const book = this.#dependencies.state.anomalies;
    // What was ended by hand while it goes on is found again and again until it is over.
    for (const scope of [...book.openAnomalies(), ...book.quiet.all()]) {
      if (scope.detector !== this.#detector) continue;
      const anomaly = book.read(scope);
      if (anomaly === undefined) continue;
      this.#episodes.restore({
        tenant: anomaly.tenant,
        environment: anomaly.environment,
        serviceId: anomaly.serviceId,
        metricName: anomaly.metricName,
        attributes: anomaly.attributes,
        direction: anomaly.direction,
        startedAtMs: anomaly.startedAtMs,
        observedAtMs: anomaly.observedAtMs,
        z: anomaly.z,
        verdict: anomaly.verdict,
        explanation: anomaly.explanation,
      });
      loaded?.(anomaly);
    }
    this.#isLoaded = true;
  }

  get openCount(): number {
    return this.#episodes.openCount;
  }

  /** When the open episode of a place began. */
  startOf(scope: RuleScope): number | undefined {
    return this.#episodes.startOf(scope);
  }

  isOpen(scope: RuleScope): boolean {
    return this.#episodes.isOpen(scope);
  }

  /** Declares what one cycle changes at this time. `fate` says what becomes of an episode that was not found again. */
  async settle(findings: readonly RuleFinding[], nowMs: number, fate?: (scope: ReportedScope) => EpisodeFate): Promise<void> {
    const changes = this.#episodes.settle(findings, nowMs, fate);
    await this.#dependencies.declare(changes.frames);
    changes.apply();
  }
}
