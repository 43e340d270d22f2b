// What a rule that looks at services finds from cycle to cycle, as episodes: what it finds is opened, raised while it goes on, and closed once it is no longer
// found. Pure: whoever holds the set says what was taken in.
import { hash128 } from "../../../core/base/hash128.ts";
import type { Attributes, EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { RuleVerdict } from "../gates/rule-verdict.ts";

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

/** What an open episode was told with. */
export type ToldFinding = Omit<RuleFinding, "verdict"> & { readonly z: number; readonly verdict: unknown };

interface OpenEpisode {
  readonly id: string;
  readonly startedAtMs: number;
  readonly frame: Omit<EpisodeFrame, "transition" | "observedAtMs">;
}

/** What one cycle changes; `apply` takes it over. */
export interface RuleChanges {
  readonly frames: readonly EpisodeFrame[];
  apply(): void;
}

/** The episodes of one detector. */
export class RuleEpisodeSet {
  readonly #detector: string;
  #open = new Map<string, OpenEpisode>();

  constructor(detector: string) {
    this.#detector = detector;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** When the open episode of a place began. */
  startOf(place: RulePlace): number | undefined {
    return this.#open.get(keyOf(place))?.startedAtMs;
  }

  /** Takes an episode that is open already. */
  restore(told: ToldFinding): void {
    const { startedAtMs } = told;
    const id = this.#idOf(told, startedAtMs);
    this.#open.set(keyOf(told), { id, startedAtMs, frame: { ...told, episodeId: id, detector: this.#detector, arrivalMs: 0 } });
  }

  /** What one cycle changes. `stays` says of an episode that was not found again whether it goes on all the same, as nothing is known of it yet. */
  settle(findings: readonly RuleFinding[], nowMs: number, stays: (place: RulePlace) => boolean = () => false): RuleChanges {
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
    return {
      frames,
      apply: () => {
        this.#open = after;
      },
    };
  }

  #episodeOf(finding: RuleFinding, before: OpenEpisode | undefined): OpenEpisode {
    const startedAtMs = before?.startedAtMs ?? finding.startedAtMs;
    const id = before?.id ?? this.#idOf(finding, startedAtMs);
    const { tenant, environment, serviceId, metricName, attributes, direction, verdict, explanation } = finding;
    const frame = { tenant, environment, serviceId, metricName, attributes, direction, startedAtMs, z: verdict.z, verdict, explanation };
    const isPeak = before === undefined || Math.abs(verdict.z) > Math.abs(before.frame.z);
    const told = isPeak ? { ...frame, episodeId: id, detector: this.#detector, arrivalMs: 0 } : before.frame;
    return { id, startedAtMs, frame: told };
  }

  #idOf({ tenant, environment, serviceId, metricName }: RulePlace, startedAtMs: number): string {
    return hash128(JSON.stringify([this.#detector, tenant, environment, serviceId, metricName, startedAtMs]));
  }
}

function keyOf({ tenant, environment, serviceId, metricName }: RulePlace): string {
  return JSON.stringify([tenant, environment, serviceId, metricName]);
}
