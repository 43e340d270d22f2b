// Episodes of the rules that the coordinator itself judges each cycle (stale services, SLO burn, cascades), stored as an engine's findings are. What is open is
// known again after a restart by the anomalies that it made.
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import { RuleEpisodeSet, type RuleFinding, type RulePlace } from "../../../domain/detection/service/rule-episode-set.ts";
import type { AnomalyBook } from "../anomaly-book.ts";

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

  /** Reads what is open, at the first call. */
  load(): void {
    if (this.#isLoaded) return;
    const book = this.#dependencies.state.anomalies;
    for (const place of book.openAnomalies()) {
      if (place.detector !== this.#detector) continue;
      const anomaly = book.read(place);
      if (anomaly === undefined) continue;
      const { tenant, environment, serviceId, metricName, attributes, direction, startedAtMs, z, verdict, explanation } = anomaly;
      this.#episodes.restore({
        tenant,
        environment,
        serviceId,
        metricName,
        attributes,
        direction,
        startedAtMs,
        z,
        verdict,
        explanation,
      });
    }
    this.#isLoaded = true;
  }

  get openCount(): number {
    return this.#episodes.openCount;
  }

  /** When the open episode of a place began. */
  startOf(place: RulePlace): number | undefined {
    return this.#episodes.startOf(place);
  }

  /** Declares what one cycle changes. `stays` says of an episode that was not found again whether it goes on all the same, as nothing is known of it yet. */
  async settle(findings: readonly RuleFinding[], nowMs: number, stays?: (place: RulePlace) => boolean): Promise<void> {
    const changes = this.#episodes.settle(findings, nowMs, stays);
    await this.#dependencies.declare(changes.frames);
    changes.apply();
  }
}
