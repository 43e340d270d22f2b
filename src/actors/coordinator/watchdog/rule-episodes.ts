// Episodes of the rules that the coordinator itself judges each cycle (stale services, SLO burn, cascades): what a rule finds is opened, raised while it goes
// on, and closed once it is no longer found. What is open is known again after a restart by the anomalies that it made.
import { hash128 } from "../../../core/base/hash128.ts";
import type { Attributes, EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { RuleVerdict } from "../../../domain/detection/gates/rule-verdict.ts";
import type { AnomalyBook } from "../anomaly-book.ts";

/** Where a rule finds something. */
export type RulePlace = Pick<RuleFinding, "tenant" | "environment" | "serviceId" | "metricName">;

/** What a rule finds in one cycle, at most once for each place. */
export interface RuleFinding {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly attributes: Attributes;
  readonly direction: "high" | "low";
  readonly startedAtMs: number;
  readonly verdict: RuleVerdict;
  readonly explanation: string;
}

interface OpenEpisode {
  readonly id: string;
  readonly startedAtMs: number;
  readonly frame: Omit<EpisodeFrame, "transition" | "observedAtMs">;
}

export interface RuleEpisodesDependencies {
  readonly state: { readonly anomalies: AnomalyBook };
  /** Stores frames; rejects with StoreError, and then nothing has changed. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
}

/** The episodes of one detector. */
export class RuleEpisodes {
  readonly #detector: string;
  readonly #dependencies: RuleEpisodesDependencies;
  #open = new Map<string, OpenEpisode>();
  #isLoaded = false;

  constructor(detector: string, dependencies: RuleEpisodesDependencies) {
    this.#detector = detector;
    this.#dependencies = dependencies;
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
      const id = this.#idOf({ ...anomaly });
      const frame = { tenant, environment, serviceId, metricName, attributes, direction, startedAtMs, z, verdict, explanation };
      this.#open.set(keyOf(anomaly), {
        id,
        startedAtMs,
        frame: { ...frame, episodeId: id, detector: this.#detector, arrivalMs: 0 },
      });
    }
    this.#isLoaded = true;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** When the open episode of a place began. */
  startOf(place: RulePlace): number | undefined {
    return this.#open.get(keyOf(place))?.startedAtMs;
  }

  /** Declares what one cycle changes. `stays` says of an episode that was not found again whether it goes on all the same, as nothing is known of it yet. */
  async settle(findings: readonly RuleFinding[], nowMs: number, stays: (place: RulePlace) => boolean = () => false): Promise<void> {
    const after = new Map<string, OpenEpisode>();
    const frames: EpisodeFrame[] = [];
    for (const finding of findings) {
      const key = keyOf(finding);
      const before = this.#open.get(key);
      const episode = this.#episodeOf(finding, before);
      after.set(key, episode);
      const grows = before !== undefined && Math.abs(episode.frame.z) > Math.abs(before.frame.z);
      if (before === undefined || grows) {
        frames.push({ ...episode.frame, transition: before === undefined ? "open" : "update", observedAtMs: nowMs });
      }
    }
    for (const [key, episode] of this.#open) {
      if (after.has(key)) continue;
      if (stays(episode.frame)) after.set(key, episode);
      else frames.push({ ...episode.frame, transition: "close", observedAtMs: nowMs });
    }
    await this.#dependencies.declare(frames);
    this.#open = after;
  }

  #episodeOf(finding: RuleFinding, before: OpenEpisode | undefined): OpenEpisode {
    const startedAtMs = before?.startedAtMs ?? finding.startedAtMs;
    const id = before?.id ?? this.#idOf({ ...finding, startedAtMs });
    const { tenant, environment, serviceId, metricName, attributes, direction, verdict, explanation } = finding;
    const frame = { tenant, environment, serviceId, metricName, attributes, direction, startedAtMs, z: verdict.z, verdict, explanation };
    const isPeak = before === undefined || Math.abs(verdict.z) > Math.abs(before.frame.z);
    const told = isPeak ? { ...frame, episodeId: id, detector: this.#detector, arrivalMs: 0 } : before.frame;
    return { id, startedAtMs, frame: told };
  }

  #idOf({
    tenant,
    environment,
    serviceId,
    metricName,
    startedAtMs,
  }: Omit<RuleFinding, "verdict" | "attributes" | "explanation" | "direction">): string {
    return hash128(JSON.stringify([this.#detector, tenant, environment, serviceId, metricName, startedAtMs]));
  }
}

function keyOf({ tenant, environment, serviceId, metricName }: RulePlace): string {
  return JSON.stringify([tenant, environment, serviceId, metricName]);
}
